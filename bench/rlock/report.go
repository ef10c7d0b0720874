package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// report is all that was measured.
type report struct {
	settings
	server    string
	began     time.Time
	libraries []library
	pairs     []pair     // a library's pair is at the library's index
	handOvers []handOver // in the order of crowds, then of libraries
}

// waiting returns the libraries that can wait.
func (r *report) waiting() []library {
	return slices.DeleteFunc(slices.Clone(r.libraries), func(l library) bool { return l.floor })
}

// markdown returns the page.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# rlock beside other Go lock libraries

How long do rlock and other Go lock libraries take, and what do they cost? Client and server share
the machine and talk over loopback, so a network's time comes on top of each round trip.
Idle-priority tasks keep the CPUs awake. This page is generated:

    make bench-rlock

Measured on %s, %s, %d CPUs (%s), on %s.

%s
`, r.began.Format("2 January 2006"), runtime.Version(), runtime.NumCPU(), cpuModel(), r.server, r.versions())
	r.writePairs(&b)
	waiting := len(r.waiting())
	for i := 0; i < len(r.handOvers); i += waiting {
		r.writeHandOvers(&b, r.handOvers[i:i+waiting])
	}
	fmt.Fprintf(&b, reading, stall)
	return b.String()
}

const reading = `
## How to read this

- rlock does more than redislock and redsync. Like rueidislock, it renews its locks in the
  background, tells the holder of a loss, and waits without polling. Its locks are reentrant. When
  the reply to an unlock is lost and the unlock is sent again, a latch has the answer. redislock and
  redsync do none of this. So the server runs more commands for a pair of rlock, in as many round
  trips. Latches are deleted in a pipeline now and then, not in a round trip for each pair.
- A client alone on the server has two modes on a machine of two CPUs: a pair takes about 50 µs or
  about 130 µs, depending on the CPUs that run its thread and the server's. A mode lasts for a whole
  run. Each library, and the two scripts alone, meet both modes by chance. So compare several runs.
- The row of the two scripts alone is the least that rlock can take: Redisson's layout with its
  latch and message takes seven commands where redislock's takes four.
- A waiter that polls costs CPU and commands all the time. The more waiters poll, the sooner one of
  them asks: 64 waiters that poll every 150 ms ask every 2 ms. 64 that poll every 10 ms ask every
  0.16 ms, and the server runs ten times the commands. rlock's waiters cost nothing until a message
  wakes them. With 2 and 8 waiters rlock's hand-over takes about a tenth of the fastest polling
  library's, or less. When each of 64 waiters is a process of its own, an unlock wakes one waiter of
  every process, as Redisson's does. Here all of them share two CPUs with the server.
- "Hung after n" means: after n hand-overs no waiter got the lock within %v of the unlock, and the
  measurement of that cell stopped.
- jefferyjob/go-redislock is missing, because its module was not available where this was measured.
`

// versions lists the measured modules and their settings.
func (r *report) versions() string {
	modules := map[string]string{"bsm/redislock": "github.com/bsm/redislock",
		"redsync": "github.com/go-redsync/redsync/v4", "rueidislock": "github.com/redis/rueidis"}
	built := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			built[m.Path] = m.Version
		}
	}
	var b strings.Builder
	b.WriteString("| library | module | waiters |\n|---|---|---|\n")
	for _, l := range r.waiting() {
		module := "this one, go-redis " + built["github.com/redis/go-redis/v9"]
		if path := modules[strings.Split(l.name, ",")[0]]; path != "" {
			module = path + " " + built[path]
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l.name, module, l.waits)
	}
	return b.String()
}

func (r *report) writePairs(b *strings.Builder) {
	fmt.Fprintf(b, `## Lock and unlock, uncontended

%d rounds of %d pairs. The libraries take turns. p50 and p99 are of all pairs. A request handler has
a context that can end; the columns named so are from pairs with such a context. CPU, round trips,
commands and allocations are means of a pair and include background work. Commands are all commands
that the server ran, also inside scripts. The last column is the median rate of %d goroutines with a
lock each.

| library | p50 | p99 | p50, context can end | p99, context can end | client CPU | server CPU | round trips | commands | allocations | pairs/s, %d at once |
|---|---|---|---|---|---|---|---|---|---|---|
`, r.rounds, r.settings.pairs, goroutines, goroutines)
	best, floor := 0, 0
	for i, l := range r.libraries {
		if l.alike {
			continue
		}
		p := r.pairs[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %.2f | %.1f | %.0f | %.0f |\n", l.name,
			micro(p.plain.p50), micro(p.plain.p99), micro(p.ending.p50),
			micro(p.ending.p99), micro(p.used.client), micro(p.used.server), p.used.reads, p.used.commands,
			p.allocations, p.rate)
		switch {
		case l.floor:
			floor = i
		case i > 0 && (best == 0 || p.ending.p50 < r.pairs[best].ending.p50):
			best = i
		}
	}
	for _, i := range []int{best, floor} {
		if i > 0 {
			fmt.Fprintf(b, "\nrlock takes %.2f times as long as %s "+
				"(%.2f times where the context cannot end).\n",
				ratio(r.pairs[0].ending.p50, r.pairs[i].ending.p50), r.libraries[i].name,
				ratio(r.pairs[0].plain.p50, r.pairs[i].plain.p50))
		}
	}
}

// writeHandOvers writes the table of one crowd.
func (r *report) writeHandOvers(b *strings.Builder, hs []handOver) {
	if hs[0].waiters == 2 {
		title, text := "one process", "All waiters share one client."
		if hs[0].apart {
			title = "a process each"
			text = "Each waiter has a client of its own, as if it were a process of its own."
		}
		fmt.Fprintf(b, `
## Hand-over, %s

%s The time is from the call of unlock to the
return of the next holder's lock, in %d hand-overs. The holder keeps the lock for 10 to 30 ms. CPU, round
trips and commands are means of a hand-over and the holding before it. The last two columns are the
latency divided by rlock's.
`, title, text, hs[0].grants)
	}
	fmt.Fprintf(b, `
%d waiters:

| library | p50 | p99 | client CPU | server CPU | round trips | commands | p50 ÷ rlock's | p99 ÷ rlock's |
|---|---|---|---|---|---|---|---|---|
`, hs[0].waiters)
	for i, h := range hs {
		if h.stalled {
			fmt.Fprintf(b, "| %s: hung after %d | %s | %s | | | | | %.1f | %.1f |\n", r.waiting()[i].name,
				h.done, micro(h.p50), micro(h.p99), ratio(h.p50, hs[0].p50), ratio(h.p99, hs[0].p99))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %.1f | %.1f | %.1f | %.1f |\n", r.waiting()[i].name,
			micro(h.p50), micro(h.p99), micro(h.used.client),
			micro(h.used.server), h.used.reads, h.used.commands, ratio(h.p50, hs[0].p50),
			ratio(h.p99, hs[0].p99))
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// micro formats d in µs, or in ms where that is easier to read.
func micro(d time.Duration) string {
	if d >= 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
}

// cpuModel returns the CPU's name.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok &&
			strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
