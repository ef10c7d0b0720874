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
	pairs     []pair     // in the order of pairing
	handOvers []handOver // in the order of crowds, then of libraries
}

// waiting returns the libraries that can wait.
func (r *report) waiting() []library {
	return slices.DeleteFunc(slices.Clone(r.libraries), func(l library) bool { return l.floor })
}

// pairing returns the libraries whose pairs differ.
func (r *report) pairing() []library {
	return slices.DeleteFunc(slices.Clone(r.libraries), func(l library) bool { return l.alike })
}

// markdown returns the page.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# rlock beside other Go lock libraries

This page has the times and costs of rlock and of other Go lock libraries. Client and server share
the machine and use the loopback interface. A network adds its own time to each round trip.
Idle-priority tasks keep the CPUs awake. This page is generated:

    make bench-rlock

Measured on %s, %s, %d CPUs (%s), on %s.

%s
`, r.began.Format("2 January 2006"), runtime.Version(), runtime.NumCPU(), cpuModel(), r.server,
		r.versions())
	b.WriteString(r.pairTables())
	waiting := len(r.waiting())
	for i := 0; i < len(r.handOvers); i += waiting {
		r.writeHandOvers(&b, r.handOvers[i:i+waiting])
	}
	fmt.Fprintf(&b, reading, stall)
	return b.String()
}

const reading = `
## How to read this

- rlock does more than redislock and redsync. Its locks are reentrant. Like rueidislock, rlock
  renews locks in the background, reports a loss to the holder, and waits without polling. A latch
  keeps the reply to an unlock, for an unlock that is sent again. redislock and redsync have no such
  functions. So the server runs more commands for a pair of rlock. The number of round trips is the
  same, because rlock deletes its latches in batches.
- A pair of rlock takes longer than one of redislock: 2.4 to 3.4 µs in runs of these two, at
  30 µs, and more when the other libraries' pairs run in between. The latch and the message that
  wakes waiters are most of that. In such runs an rlock without them took 0.1 to 0.8 µs longer.
- A pair's time depends on which CPUs run the client's thread and the server's, and on the rest of
  the machine. It differs more from run to run than between libraries. The libraries of one run
  share the process, so compare times of one run only.
- The row "rlock's two scripts alone" is the least time that rlock can take. Redisson's layout
  needs a latch and a message, so its scripts run more commands than redislock's.
- A waiter that polls uses CPU and commands all the time. With more waiters, the next poll comes
  sooner: 64 waiters with a pause of 150 ms poll every 2 ms. With a pause of 10 ms they poll every
  0.16 ms, and the server runs several times as many commands.
- A waiter of rlock sends no command until a message wakes it. With 2 and 8 waiters, rlock's
  hand-over takes about a tenth of the fastest polling library's time, or less.
- When each of 64 waiters is a process, an unlock wakes one waiter of every process, as in
  Redisson. Each process sends one acquire script, and only one process gets the lock. These scripts
  are nearly all of rlock's commands. Here all processes share two CPUs with the server. Redisson's
  layout asks for that: an unlock is a message on one channel with the same content for all, so it
  cannot name a process. A waiter that let another go first would sleep until the end of the old
  lease if that one had just given up or died. A pause at random would only delay the same scripts.
  Within a process one waiter asks. A fair lock has a channel for each waiter: its unlock wakes one.
- While four requests of a client are under way on a server that is near, further ones wait and share
  a pipeline. The tables above are from before that. With 16 goroutines, five runs of 20,000 pairs
  with it and five without, in turns on a busy machine, gave 0.7 to 1.0 round trips for a pair
  instead of 2.0. The client's CPU time changed by -31, -28, -18, -9 and +6 %%, the server's by -34,
  -32, -18, -17 and -8 %%. Two of these runs also gave rates: 12 and 20 %% more pairs a second, and
  with 64 goroutines 70 and 41 %% more. Up to four goroutines send as before. The pipelines use
  go-redis's pool for pipelines, with up to four connections more.
- go-redis opens a connection when its pool grows. rlock opens a further connection for a waiter
  when the client has no subscription.
- "Hung after n": after n hand-overs no waiter got the lock within %v of the unlock. The measurement
  of that cell stopped there.
- jefferyjob/go-redislock is missing, because its module was not available for the measurement.
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

// pairTables returns the tables of the times and of the costs of a pair.
func (r *report) pairTables() string {
	var b strings.Builder
	fmt.Fprintf(&b, `## Lock and unlock, uncontended

%d pairs of each library, after a warm-up. The libraries take turns pair by pair, in one process on
one server, each turn in a random order. So other load on the machine affects all of them alike. The
columns "can end" are of pairs with a context that can end, such as a request handler's. "More than
rlock" is the difference of the p50s. In parentheses are the least and the greatest difference in a
tenth of the turns.

| library | p50 | p90 | more than rlock | can end: p50 | p90 | more than rlock |
|---|---|---|---|---|---|---|
`, r.settings.turns)
	libraries := r.pairing()
	for i, l := range libraries {
		p := r.pairs[i]
		more, moreEnding := p.more.String(), p.moreEnding.String()
		if i == 0 {
			more, moreEnding = "", ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", l.name, tenths(p.plain.p50),
			tenths(p.plain.p90), more, tenths(p.ending.p50), tenths(p.ending.p90), moreEnding)
	}
	fmt.Fprintf(&b, `
The costs are from %d rounds of %d pairs of one library, with a context that can end. CPU, round
trips ("trips"), commands and allocations are means of a pair. They include background work, and the
commands that scripts run. "Conns" is the number of connections that the server accepted in 1000
pairs. The last column is the median rate of %d goroutines with a lock each.

| library | CPU: client | server | trips | commands | conns | allocs | pairs/s |
|---|---|---|---|---|---|---|---|
`, r.rounds, r.settings.pairs, goroutines)
	for i, l := range libraries {
		p := r.pairs[i]
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %.1f | %.1f | %.0f | %.0f |\n", l.name,
			micro(p.used.client), micro(p.used.server), p.used.reads, p.used.commands(),
			1000*p.used.connections, p.allocations, p.rate)
	}
	fmt.Fprint(&b, "\nThe commands of a pair:\n\n| library | commands |\n|---|---|\n")
	for i, l := range libraries {
		fmt.Fprintf(&b, "| %s | %v |\n", l.name, r.pairs[i].used.calls)
	}
	return b.String()
}

// writeHandOvers writes the table of one crowd.
func (r *report) writeHandOvers(b *strings.Builder, hs []handOver) {
	if hs[0].waiters == 2 {
		title, text := "one process", "All waiters share one client."
		if hs[0].apart {
			title = "a process each"
			text = "Each waiter has a client of its own, as in a process of its own."
		}
		fmt.Fprintf(b, `
## Hand-over, %s

%s

The time is from the call of unlock to the return of the next holder's lock, in %d hand-overs. The
holder keeps the lock for 10 to 30 ms. CPU, round trips ("trips"), commands and connections that the
server accepted ("conns") are means of a hand-over and the hold before it. The last two columns
are the latency divided by rlock's.
`, title, text, hs[0].grants)
	}
	fmt.Fprintf(b, `
%d waiters:

| library | p50 | p99 | client CPU | server CPU | trips | commands | conns | p50 ÷ rlock | p99 ÷ rlock |
|---|---|---|---|---|---|---|---|---|---|
`, hs[0].waiters)
	for i, h := range hs {
		if h.stalled {
			fmt.Fprintf(b, "| %s: hung after %d | %s | %s | | | | | | %.1f | %.1f |\n", r.waiting()[i].name,
				h.done, micro(h.p50), micro(h.p99), ratio(h.p50, hs[0].p50), ratio(h.p99, hs[0].p99))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %.1f | %.1f | %.2f | %.1f | %.1f |\n", r.waiting()[i].name,
			micro(h.p50), micro(h.p99), micro(h.used.client),
			micro(h.used.server), h.used.reads, h.used.commands(), h.used.connections,
			ratio(h.p50, hs[0].p50), ratio(h.p99, hs[0].p99))
	}
	if hs[0].waiters < 64 {
		return
	}
	fmt.Fprintf(b, "\nThe commands of a hand-over to one of %d waiters:\n\n"+
		"| library | commands |\n|---|---|\n", hs[0].waiters)
	for i, h := range hs {
		fmt.Fprintf(b, "| %s | %v |\n", r.waiting()[i].name, h.used.calls)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// tenths formats d in tenths of a µs.
func tenths(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

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
