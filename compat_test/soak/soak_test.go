package soak

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/peer"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/redistest"
)

// variable is the environment variable with the length of the soak.
const variable = "LOCKREDIS_SOAK"

func TestServerUnderLoadAndAttackStaysCorrectAndSmall(t *testing.T) {
	text := os.Getenv(variable)
	if text == "" {
		t.Skip(variable + "=30m runs this")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	path := redistest.BuildLockredis(t, "-race")
	idle := len(start(t, path).goroutines(t))
	p := start(t, path)
	java := redisson(t, p.addr)

	l := newLoad(t, p.addr)
	rest, err := p.take(l.last, l.client(1), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	samples, contests, hearing := l.run(p, java, length)
	if java != nil {
		java.Kill()
	}
	t.Logf("at rest before: %s", rest)
	l.tell()
	l.judge(contests)
	l.judgeLeases()
	hearing()
	p.clean(t)
	if !t.Failed() {
		judgeSamples(t, samples)
	}
	p.empties(t, l, rest)
	// One goroutine may belong to the last client, which is ending.
	if list := p.goroutines(t); len(list) > idle+1 {
		t.Errorf("%d goroutines in the end, %d in an idle server:\n%s", len(list), idle,
			strings.Join(list, "\n"))
	}
	p.clean(t)
}

// redisson starts a JVM. It returns nil when Java or Maven is not installed.
func redisson(t *testing.T, addr string) *peer.Peer {
	t.Helper()
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("without Redisson: %v", err)
			return nil
		}
	}
	t.Setenv(topology.Variable, topology.Java)
	releases := peer.Releases()
	return peer.Start(t, releases[len(releases)-1], []string{"mode=single", "addresses=" + addr},
		peer.Timeout(time.Minute), peer.Watchdog(lease))
}

func newLoad(t *testing.T, addr string) *load {
	l := &load{t: t, addr: addr}
	l.ctx, l.stop = context.WithCancel(t.Context())
	l.last = t.Context()
	return l
}

// run runs the load for the given time and returns samples of the process. It counts the
// events of leases until hearing is called.
func (l *load) run(p *process, java *peer.Peer, length time.Duration) (samples []sample,
	contests []*contest, hearing func()) {
	var quiet context.CancelFunc
	l.last, quiet = context.WithCancel(l.last)
	var listeners sync.WaitGroup
	l.hearLeases(&listeners)
	l.topics(&listeners)
	contests = l.locks(java)
	for n := range 4 {
		l.model(n)
	}
	l.queues()
	l.workers.Go(l.attacks)

	begin, rdb := time.Now(), l.client(1)
	every := max(length/360, time.Second)
	for said := time.Duration(0); time.Since(begin) < length && wait(l.ctx, every); {
		s, err := p.take(l.last, rdb, begin)
		if err != nil {
			l.fail("the sampler", err)
			break
		}
		samples = append(samples, s)
		if s.at-said >= length/30 {
			l.t.Log(s)
			said = s.at
		}
	}
	l.stop()
	ended := make(chan struct{})
	go func() { l.workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(3 * time.Minute):
		l.t.Fatalf("not all clients ended\n%s", p.goroutines(l.t))
	}
	return samples, contests, func() { quiet(); listeners.Wait() }
}

// tell prints the number of steps of each kind.
func (l *load) tell() {
	var names []string
	l.done.Range(func(name, _ any) bool { names = append(names, name.(string)); return true })
	slices.Sort(names)
	for _, name := range names {
		l.t.Logf("%-30s %d", name, l.counted(name))
	}
}

// judgeLeases waits until the last lease has ended, then compares the numbers of leases
// and events.
func (l *load) judgeLeases() {
	await(l.t, 20*time.Second, func() string {
		if l.counted("leases") == l.counted("leases that ended") {
			return ""
		}
		return "not as many leases ended as were begun"
	})
}

// warm is how long the server may grow. By then every kind of step has happened many
// times, and the race detector has its tables.
const warm = 5 * time.Minute

// judgeSamples compares the last third of the time after warm with the first third.
func judgeSamples(t *testing.T, samples []sample) {
	t.Helper()
	samples = slices.DeleteFunc(samples, func(s sample) bool { return s.at < warm })
	n := len(samples)
	if n < 60 {
		t.Logf("too short to tell whether anything grows after %s", warm)
		return
	}
	first, last := samples[:n/3], samples[2*n/3:]
	for _, row := range []struct {
		name  string
		of    func(sample) int
		pick  func([]int) int
		slack int // allowed in addition to a quarter of the first value
	}{
		{"resident memory, median, KB", func(s sample) int { return s.resident }, median, 48 << 10},
		{"heap, lowest, KB", func(s sample) int { return s.heap }, slices.Min[[]int], 16 << 10},
		{"threads, most", func(s sample) int { return s.threads }, slices.Max[[]int], 8},
		{"files, median", func(s sample) int { return s.files }, median, 20},
	} {
		was, is := row.pick(each(first, row.of)), row.pick(each(last, row.of))
		t.Logf("%s: %d, then %d", row.name, was, is)
		if is > was+was/4+row.slack {
			t.Errorf("%s grew from %d to %d", row.name, was, is)
		}
	}
}

func each(samples []sample, of func(sample) int) []int {
	list := make([]int, len(samples))
	for i, s := range samples {
		list[i] = of(s)
	}
	return list
}

func median(list []int) int {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// empties checks that the server, without clients and data, is back at its use of
// resources at the start.
func (p *process) empties(t *testing.T, l *load, rest sample) {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: p.addr, PoolSize: 1, ReadTimeout: time.Minute})
	defer rdb.Close()
	ctx := context.Background()
	if err := rdb.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	rdb.ScriptFlush(ctx)
	l.hangUp()
	await(t, 2*time.Minute, func() string {
		s, err := p.take(ctx, rdb, time.Now())
		switch {
		case err != nil:
			return err.Error()
		case s.clients > 1 || s.files > rest.files || s.heap > rest.heap+8<<10:
			return "in the end " + s.String()
		}
		return ""
	})
}
