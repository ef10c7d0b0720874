package engine

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
)

func TestOneUnitRunsAtATime(t *testing.T) {
	e := newTestEngine(expiry.System())
	var wg sync.WaitGroup
	n := 0
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var c Caller
			for range 2000 {
				e.Do(&c, func() { n++ })
			}
		}()
	}
	wg.Wait()
	if n != 40000 {
		t.Fatalf("counted %d", n)
	}
}

// holdWhile holds the engine while all callers queue, each with Do(callers[i], unit(i)).
// It then releases the engine and waits until all units have run.
func holdWhile(t *testing.T, e *Engine, callers []*Caller, unit func(i int)) {
	t.Helper()
	var wg sync.WaitGroup
	e.Do(newCallers(1)[0], func() {
		for i, c := range callers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				e.Do(c, func() { unit(i) })
			}()
			waitForQueue(t, e, i+1)
		}
	})
	wg.Wait()
}

// waitForQueue returns when n callers are queued.
func waitForQueue(t *testing.T, e *Engine, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		e.callers.gate.mu.Lock()
		length := 0
		for c := e.callers.gate.first; c != nil; c = c.next {
			length++
		}
		e.callers.gate.mu.Unlock()
		if length == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d callers are queued, want %d", length, n)
		}
	}
}

func newCallers(n int) []*Caller {
	callers := make([]*Caller, n)
	for i := range callers {
		callers[i] = &Caller{Replace: func() { panic("a goroutine was replaced without a long script") }}
	}
	return callers
}

func TestQueuedCallersRunInArrivalOrder(t *testing.T) {
	e := newTestEngine(expiry.System())
	callers := newCallers(2*maxCombined + 10)
	var order []int
	holdWhile(t, e, callers, func(i int) { order = append(order, i) })
	if len(order) != len(callers) || !slices.IsSorted(order) {
		t.Fatalf("ran in the order %v", order)
	}
}

func TestAHolderPromotesAQueuedCallerAfterMaxCombinedUnits(t *testing.T) {
	e := newTestEngine(expiry.System())
	callers := newCallers(2*maxCombined + 10)
	holdWhile(t, e, callers, func(int) {})
	var promoted []int
	for i, c := range callers {
		if c.holds {
			promoted = append(promoted, i)
		}
	}
	if want := []int{maxCombined, 2*maxCombined + 1}; !slices.Equal(promoted, want) {
		t.Fatalf("callers %v ran their own units, want %v", promoted, want)
	}
}

func TestBackgroundCallersStayQueuedAtASafePoint(t *testing.T) {
	var g gate
	a, b, c, d := &Caller{background: true}, &Caller{}, &Caller{background: true}, &Caller{}
	g.state.Store(queued)
	g.first, g.last, a.next, b.next, c.next = a, d, b, c, d
	for _, want := range []*Caller{b, d, nil} {
		if got := g.leaveAtSafePoint(); got != want {
			t.Fatalf("got %p of a %p, b %p, c %p, d %p", got, a, b, c, d)
		}
	}
	for _, want := range []*Caller{a, c, nil} {
		if got := g.release(); got != want {
			t.Fatalf("got %p, want %p", got, want)
		}
	}
	if !g.enter(a) {
		t.Fatal("the lock is not free")
	}
}

func TestAUnitEndsDueLeasesWithoutTheTimer(t *testing.T) {
	clock := expiry.NewManual(epoch)
	e := newTestEngine(clock) // its timer does not run
	s, p := connect(e)
	send(e, s, "CONFIG", "SET", "notify-keyspace-events", "Ex")
	subscriber, q := connect(e)
	send(e, subscriber, "SUBSCRIBE", "__keyevent@0__:expired")
	send(e, s, "SET", "k", "v", "PX", "5")
	p.take()
	q.take()
	clock.Advance(5 * time.Millisecond)
	send(e, s, "PING")
	const want = "*3\r\n$7\r\nmessage\r\n$22\r\n__keyevent@0__:expired\r\n$1\r\nk\r\n"
	if got := q.take(); got != want {
		t.Fatalf("subscriber got %q, want %q", got, want)
	}
}

func TestAGoroutineThatRunsAnotherCallersLongScriptIsReplaced(t *testing.T) {
	e := newTestEngine(expiry.System())
	e.env.Config.BusyReply.Store(1)
	replaced := make(chan struct{})
	bystander := &Caller{Replace: func() { close(replaced) }}
	s, p := connect(e)
	script := &Caller{Replace: func() { t.Error("the script's own caller was replaced") }}
	ended := make(chan bool)
	go func() {
		ended <- e.Do(bystander, func() {
			go e.Do(script, func() { e.Execute(s, words("EVAL", "while true do end", "0")) })
			waitForQueue(t, e, 1)
		})
	}()
	<-replaced
	killer, _ := connect(e)
	for send(e, killer, "SCRIPT", "KILL") != "+OK\r\n" {
		runtime.Gosched()
	}
	if !<-ended {
		t.Fatal("Do did not report that its goroutine was replaced")
	}
	if got := p.await(t); !strings.Contains(got, "Script killed by user") {
		t.Fatalf("the script's reply: %q", got)
	}
}

func TestACallerThatFindsTheLockFreedMeanwhileHoldsIt(t *testing.T) {
	var g gate
	if !g.wait(&Caller{}) || g.state.Load() != held {
		t.Fatal("the caller does not hold the lock")
	}
	if g.release() != nil || g.state.Load() != free {
		t.Fatal("the lock is not free")
	}
}

// flushRecorder records the order of the calls of Flush.
type flushRecorder struct {
	number int
	order  *[]int
}

func (r flushRecorder) Flush() { *r.order = append(*r.order, r.number) }

func TestTheFirstConnectionsAreFlushedInOrderAndTheRestInReverse(t *testing.T) {
	var order, want []int
	var c Caller
	for i := range flushInOrder + 3 {
		c.unflushed = append(c.unflushed, flushRecorder{i, &order})
	}
	c.Flush()
	for i := range 16 {
		want = append(want, i)
	}
	if want = append(want, 18, 17, 16); !slices.Equal(order, want) {
		t.Errorf("flushed in the order %v, want %v", order, want)
	}
	if len(c.unflushed) != 0 {
		t.Errorf("%d connections are not flushed", len(c.unflushed))
	}
}

func BenchmarkDoContended(b *testing.B) {
	e := newTestEngine(expiry.System())
	b.RunParallel(func(pb *testing.PB) {
		var c Caller
		for pb.Next() {
			e.Do(&c, func() {})
		}
	})
}
