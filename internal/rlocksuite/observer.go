package rlocksuite

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// notes records the events of an Observer, one line each.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) observer() rlock.Observer {
	note := func(what string) func(context.Context, rlock.Event) {
		return func(_ context.Context, e rlock.Event) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.lines = append(n.lines, what+" "+e.Kind+" "+e.Name+" "+e.Owner)
		}
	}
	return rlock.Observer{Acquired: note("acquired"), Contended: note("contended"),
		Renewed: note("renewed"), Lost: note("lost"), Released: note("released")}
}

func (n *notes) has(line string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.lines, line)
}

func (on suite) AnObserverReceivesTheEvents(t *testing.T) {
	const lease = 6 * time.Second // a process that stands still so long loses the lock
	ctx := t.Context()
	rdb := on.connect(t)
	var n notes
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the events were %q", n.lines)
		}
	})
	c := newClient(t, rdb, rlock.Options{ID: "me", Lease: lease, Observer: n.observer()})
	told := func(line string) {
		t.Helper()
		eventually(t, line, func() bool { return n.has(line) })
	}
	l := c.Lock("l")
	h := Acquire(t, ctx, l)
	told("acquired lock l me:1")
	got := Begin(ctx, l)
	told("contended lock l me:2")
	told("renewed lock l me:1")
	Release(t, h)
	told("released lock l me:1")
	lost := got.Hold(t)
	if _, err := l.ForceUnlock(ctx); err != nil {
		t.Fatal(err)
	}
	<-lost.Lost()
	told("lost lock l me:2")

	s, permits := c.Semaphore("s"), c.PermitSemaphore("p")
	must(t, s.Release(ctx, 1))
	told("released semaphore s ")
	must(t, s.Acquire(ctx, 1))
	told("acquired semaphore s ")
	must(t, permits.SetPermits(ctx, 1))
	permit, err := permits.Acquire(ctx, 1)
	must(t, err)
	told("acquired permit p ")
	Release(t, permit.Hold)
	told("released permit p ")
}
