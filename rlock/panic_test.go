package rlock_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// panics reports what f panics with.
func panics(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

// explosive is an observer that panics in the next event of a kind.
type explosive struct{ next atomic.Pointer[string] }

func (x *explosive) arm(event string) { x.next.Store(&event) }

func (x *explosive) observer() rlock.Observer {
	on := func(event string) func(context.Context, rlock.Event) {
		return func(context.Context, rlock.Event) {
			if next := x.next.Load(); next != nil && *next == event && x.next.CompareAndSwap(next, nil) {
				panic(event)
			}
		}
	}
	return rlock.Observer{
		Acquired: on("Acquired"), Contended: on("Contended"), TimedOut: on("TimedOut"),
		Failed: on("Failed"), Lost: on("Lost"), Released: on("Released"),
	}
}

// unused checks that the locks of srv are free, have no waiters in queues, and can be
// acquired by the owner of job.
func unused(t testing.TB, srv *lockredistest.Server, job *rlock.Hold, l *rlock.Lock) {
	t.Helper()
	eventually(t, "the lock is free", func() bool {
		return !srv.Exists("l") && !srv.Exists(rlocksuite.FairQueue)
	})
	// The undo has run on the server. The client may not have its reply yet.
	eventually(t, "the owner of the job is not in use", func() bool {
		h := acquireIn(t, job.Context(), l, rlock.Wait(time.Second))
		defer release(t, h)
		return h.Owner() == job.Owner()
	})
}

func TestAnObserverThatPanicsLeavesNothing(t *testing.T) {
	for _, kind := range rlocksuite.Kinds() {
		t.Run(kind.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				var x explosive
				c := newClient(t, srv.Client(), rlock.Options{Observer: x.observer()})
				l := kind.Make(c, "l")
				job := acquire(t, c.Lock("job"))
				other := newClient(t, srv.Client(), rlock.Options{}).RWLock("l").Write()
				if kind.Label == "fair" {
					other = newClient(t, srv.Client(), rlock.Options{}).FairLock("l")
				}
				for _, event := range []string{"Contended", "TimedOut", "Failed"} {
					held := acquire(t, other)
					ctx, cancel := context.WithTimeout(job.Context(), 50*time.Millisecond)
					x.arm(event)
					if got := panics(func() {
						if event == "Failed" {
							_, _ = l.Acquire(ctx)
						} else {
							_, _ = l.Acquire(job.Context(), rlock.Wait(20*time.Millisecond))
						}
					}); got != event {
						t.Fatalf("%s: the panic is %v", event, got)
					}
					cancel()
					release(t, held)
					unused(t, srv, job, l)
				}
				x.arm("Acquired")
				if got := panics(func() { _, _ = l.Acquire(job.Context()) }); got != "Acquired" {
					t.Fatalf("the panic is %v", got)
				}
				unused(t, srv, job, l)
				h := acquireIn(t, job.Context(), l)
				x.arm("Released")
				if got := panics(func() { _ = h.Release(t.Context()) }); got != "Released" {
					t.Fatalf("the panic is %v", got)
				}
				unused(t, srv, job, l)
				release(t, job)
			})
		})
	}
}

func TestAnObserverThatPanicsAtALossLeavesNothing(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		var x explosive
		c := newClient(t, srv.Client(), rlock.Options{Observer: x.observer()})
		l := c.Lock("l")
		job := acquire(t, c.Lock("job"))
		for _, ctx := range []context.Context{t.Context(), job.Context()} {
			first := acquire(t, l)
			time.Sleep(10 * time.Millisecond) // the second grant is later than the first
			srv.Del("l")
			x.arm("Lost")
			if got := panics(func() { _, _ = l.Acquire(ctx) }); got != "Lost" {
				t.Fatalf("the panic is %v", got)
			}
			unused(t, srv, job, l)
			mustBe(t, rlock.ErrLockLost, first.Release(t.Context()))
		}

		second := acquire(t, l)
		x.arm("Lost")
		if got := panics(func() { _, _ = l.ForceUnlock(t.Context()) }); got != "Lost" {
			t.Fatalf("the panic is %v", got)
		}
		mustBe(t, rlock.ErrLockLost, second.Release(t.Context()))
		must(t, try(l))
		release(t, job)
	})
}

func TestAnObserverThatPanicsLeavesNoPartOfAMultiLock(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		var x explosive
		a := newClient(t, srv.Client(), rlock.Options{}).Lock("a")
		b := newClient(t, srv.Client(), rlock.Options{Observer: x.observer()}).Lock("b")
		x.arm("Acquired")
		if got := panics(func() { _, _ = rlock.Multi(a, b).Acquire(t.Context()) }); got != "Acquired" {
			t.Fatalf("the panic is %v", got)
		}
		eventually(t, "the parts are free", func() bool { return !srv.Exists("a") && !srv.Exists("b") })
	})
}

// broken is a context whose Value panics from a time on.
type broken struct {
	context.Context
	when func() bool
}

func (x broken) Value(key any) any {
	if x.when() {
		panic("Value")
	}
	return x.Context.Value(key)
}

func TestAContextThatPanicsLeavesNothing(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		warm(t, c)
		held := func() bool { return srv.Exists("l") }
		for _, l := range []*rlock.Lock{c.Lock("l"), c.FairLock("l"), c.RWLock("l").Read()} {
			if got := panics(func() {
				_, _ = l.Acquire(broken{t.Context(), held})
			}); got != "Value" {
				t.Fatalf("the panic is %v", got)
			}
			eventually(t, "the lock is free", func() bool { return !held() })
			must(t, try(l))
		}
	})
}

func TestAFunctionThatPanicsReleasesItsLock(t *testing.T) {
	srv := lockredistest.RunT(t)
	c := newClient(t, srv.Client(), rlock.Options{})
	s, p := c.Semaphore("s"), c.PermitSemaphore("p")
	must(t, s.Release(t.Context(), 1))
	must(t, p.SetPermits(t.Context(), 1))
	f := func(context.Context) error { panic("f") }
	for name, do := range map[string]func(){
		"lock":      func() { _ = c.Do(t.Context(), "l", f) },
		"multi":     func() { _ = rlock.Multi(c.Lock("l"), c.Lock("m")).Do(t.Context(), f) },
		"quorum":    func() { _ = rlock.Quorum(c.Lock("l")).Do(t.Context(), f) },
		"semaphore": func() { _ = s.Do(t.Context(), 1, f) },
		"permit":    func() { _ = p.Do(t.Context(), 1, f) },
	} {
		if got := panics(do); got != "f" {
			t.Errorf("%s: the panic is %v", name, got)
		}
	}
	must(t, try(c.Lock("l")))
	must(t, s.Acquire(t.Context(), 1, rlock.Wait(0)))
	must(t, p.Do(t.Context(), 1, func(context.Context) error { return nil }, rlock.Wait(0)))
	must(t, s.Release(t.Context(), 1))
}
