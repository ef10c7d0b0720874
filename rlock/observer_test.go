package rlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

// recorder records the events of an Observer.
type recorder struct {
	mu     sync.Mutex
	events []string
	last   map[string]rlock.Event
}

func (w *recorder) observer() rlock.Observer {
	w.last = map[string]rlock.Event{}
	note := func(what string) func(context.Context, rlock.Event) {
		return func(_ context.Context, e rlock.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, what+" "+e.Owner)
			w.last[what] = e
		}
	}
	return rlock.Observer{Acquired: note("acquired"), Contended: note("contended"),
		TimedOut: note("timed out"), Failed: note("failed"),
		Renewed: note("renewed"), RenewalFailed: note("renewal failed"),
		Lost: note("lost"), Released: note("released"), GaveUp: note("gave up")}
}

func (w *recorder) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

func (w *recorder) event(what string) rlock.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[what]
}

func TestAnObserverReceivesAcquiredTimedOutContendedAndReleased(t *testing.T) {
	var w recorder
	c := newClient(t, connect(t), rlock.Options{ID: "me", Observer: w.observer()})
	l := c.Lock("l")
	a := acquire(t, l)
	mustBe(t, rlock.ErrTimeout, try(l))
	got := rlocksuite.Begin(t.Context(), l)
	eventually(t, "the waiter waits", func() bool {
		return slices.Contains(w.seen(), "contended me:3")
	})
	release(t, a)
	release(t, got.Hold(t))
	if e := w.event("acquired"); e.Waited <= 0 || e.Kind != "lock" || e.Name != "l" ||
		e.Owner != "me:3" {
		t.Errorf("acquired: %+v", e)
	}
	if e := w.event("released"); e.Held <= 0 || e.Err != nil {
		t.Errorf("released: %+v", e)
	}
	if e := w.event("timed out"); !errors.Is(e.Err, rlock.ErrTimeout) || e.Owner != "me:2" {
		t.Errorf("timed out: %+v", e)
	}
	// The event of a's release may come before or after the waiter's acquisition.
	order := slices.DeleteFunc(w.seen(), func(s string) bool { return s == "released me:1" })
	want := []string{"acquired me:1", "timed out me:2", "contended me:3", "acquired me:3",
		"released me:3"}
	if !slices.Equal(order, want) || len(w.seen()) != 6 {
		t.Errorf("events %q", w.seen())
	}
}

func TestAnObserverReceivesRenewedAndLostWithItsError(t *testing.T) {
	virtually(t, func(t *testing.T) {
		var w recorder
		rdb := holding(t).Client()
		c := newClient(t, rdb,
			rlock.Options{ID: "me", Lease: 300 * time.Millisecond, Observer: w.observer()})
		err := c.Lock("l").Do(t.Context(), func(ctx context.Context) error {
			eventually(t, "a renewal", func() bool { return slices.Contains(w.seen(), "renewed me:1") })
			rdb.Del(ctx, "l")
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, rlock.ErrLockLost) {
			t.Fatal(err)
		}
		if e := w.event("renewed"); e.Held <= 0 {
			t.Errorf("renewed: %+v", e)
		}
		eventually(t, "a lost event", func() bool { return slices.Contains(w.seen(), "lost me:1") })
		if e := w.event("lost"); !errors.Is(e.Err, rlock.ErrLockLost) || e.Held <= 0 {
			t.Errorf("lost: %+v", e)
		}
		if slices.Contains(w.seen(), "released me:1") {
			t.Error("a lost lock was released")
		}
	})
}
