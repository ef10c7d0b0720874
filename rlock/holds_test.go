package rlock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestALossDuringAnInnerHoldEndsTheOuterDo(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	l := c.Lock("l")
	for name, lock := range map[string]interface {
		Do(context.Context, func(context.Context) error, ...rlock.Option) error
	}{"lock": l, "multi": rlock.Multi(l, c.Lock("m"))} {
		do := lock.Do
		err := do(t.Context(), func(ctx context.Context) error {
			err := do(ctx, func(context.Context) error {
				rdb.Del(ctx, "l")
				return nil
			})
			if err != nil && !errors.Is(err, rlock.ErrLockLost) {
				t.Errorf("%s: the inner Do: %v", name, err)
			}
			must(t, try(l)) // another owner has held it
			<-ctx.Done()
			mustBe(t, rlock.ErrLockLost, context.Cause(ctx))
			return nil
		})
		if !errors.Is(err, rlock.ErrLockLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGrantEndsTheHoldThatItContradicts(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		for _, l := range []*rlock.Lock{
			c.Lock("l"), c.FairLock("f"), c.SpinLock("s"), c.RWLock("w").Write(),
		} {
			first := acquire(t, l)
			srv.FlushAll() // as if the server was restarted without its data
			second := acquire(t, l)
			select {
			case <-first.Lost():
			case <-time.After(300 * time.Millisecond): // a verification is due every 200 ms
				t.Errorf("%s: two owners of one client hold the lock", l.Name())
			}
			must(t, second.Err())
			release(t, second)
		}
	})
}

func TestHoldsAreVerifiedAtOnceWhenAConnectionBreaks(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		warm(t, c)
		h := acquire(t, c.Lock("l"))
		srv.FlushAll()
		lost := srv.LoseReply(lockredistest.Match{Key: "other"})
		if _, err := c.Lock("other").IsLocked(t.Context()); err != nil || lost.Hits() != 1 {
			t.Fatal(err, lost.Hits())
		}
		select {
		case <-h.Lost():
		case <-time.After(100 * time.Millisecond): // a renewal finds it later
			t.Fatal("the hold is not verified")
		}
	})
}

// A hold that ended before it leaves the timer of the watchdog set to a later time.
func TestAHoldAfterAShortOneIsVerifiedAfterARestart(t *testing.T) {
	t.Parallel()
	rounds := 30
	if redistest.Quick() {
		rounds = 5
	}
	for range rounds {
		virtually(t, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			c := newClient(t, srv.Client(), rlock.Options{})
			warm(t, c)
			h := acquire(t, c.Lock("l"))
			time.Sleep(2 * time.Second)
			must(t, srv.RestartEmpty())
			select {
			case <-h.Lost():
			case <-time.After(2 * time.Second):
				t.Error("the hold is not verified")
			}
		})
	}
}

func TestLostComesBeforeTheServerEndsTheLease(t *testing.T) {
	for lease, margin := range map[time.Duration]time.Duration{
		2 * time.Millisecond: time.Millisecond, 100 * time.Millisecond: 5 * time.Millisecond,
		10 * time.Second: 100 * time.Millisecond, time.Hour: 36 * time.Second,
	} {
		inBubble(t, rlock.Options{},
			func(_ context.Context, srv *lockredistest.Server, c *rlock.Client) {
				l := c.Lock("l")
				must(t, try(c.Lock("other"))) // so that the script is loaded
				h := acquire(t, l, rlock.Lease(lease))
				<-h.Lost()
				if left := srv.TTL("l"); left < margin {
					t.Errorf("lease %v: told %v before its end", lease, left)
				}
				mustBe(t, rlock.ErrLockLost, h.Release(context.Background()))
			})
	}
}

func TestTheContextHasEndedWhenLostTells(t *testing.T) {
	srv := holding(t)
	l := newClient(t, srv.Client(), rlock.Options{}).Lock("l")
	for range 20 {
		h := acquire(t, l)
		children := make([]context.Context, 1000)
		for i := range children {
			ctx, cancel := context.WithCancel(h.Context())
			defer cancel()
			children[i] = ctx
		}
		lost := h.Lost()
		go l.ForceUnlock(t.Context())
		<-lost
		for _, ctx := range children {
			mustBe(t, rlock.ErrLockLost, context.Cause(ctx))
		}
	}
}

func TestExtendMakesTheLeaseEndThen(t *testing.T) {
	inBubble(t, rlock.Options{},
		func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
			h := acquire(t, c.Lock("l"))
			for _, d := range []time.Duration{time.Hour, time.Second, 2 * time.Hour, time.Minute} {
				must(t, h.Extend(ctx, d))
				if ttl := srv.TTL("l"); ttl != d {
					t.Errorf("extended for %v, the server has %v", d, ttl)
				}
				if left := time.Until(h.Until()); left > d*99/100 || left < d*95/100 {
					t.Errorf("extended for %v, trusted for %v", d, left)
				}
			}
			time.Sleep(58 * time.Second) // without renewals
			must(t, h.Err())
			<-h.Lost()
			mustBe(t, rlock.ErrLockLost, h.Err())
			mustBe(t, rlock.ErrLockLost, h.Extend(ctx, time.Minute))
			mustBe(t, rlock.ErrLockLost, h.Release(ctx))
			mustBe(t, rlock.ErrNotHeld, h.Extend(ctx, time.Minute))
		})
}

func TestExtendWithoutAnAnswerTrustsTheEarlierEnd(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		h := acquire(t, c.Lock("l"), rlock.Lease(time.Minute))
		defer srv.Hang().Clear()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		mustBe(t, context.DeadlineExceeded, h.Extend(ctx, time.Hour))
		if left := time.Until(h.Until()); left > time.Minute {
			t.Errorf("trusted for %v", left)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		mustBe(t, context.DeadlineExceeded, h.Extend(ctx, time.Second))
		if left := time.Until(h.Until()); left > time.Second {
			t.Errorf("trusted for %v", left)
		}
	})
}

func TestUntilIsLaterAfterEachRenewal(t *testing.T) {
	inBubble(t, rlock.Options{},
		func(_ context.Context, _ *lockredistest.Server, c *rlock.Client) {
			h := acquire(t, c.Lock("l"))
			for range 20 {
				before := h.Until()
				time.Sleep(11 * time.Second)
				if !h.Until().After(before) || time.Until(h.Until()) > 30*time.Second {
					t.Fatalf("trusted for %v", time.Until(h.Until()))
				}
			}
			release(t, h)
		})
}

func TestAnInnerHoldLengthensTheLeaseAndDoesNotShortenIt(t *testing.T) {
	inBubble(t, rlock.Options{},
		func(_ context.Context, srv *lockredistest.Server, c *rlock.Client) {
			l := c.Lock("l")
			outer := acquire(t, l, rlock.Lease(10*time.Second))
			inner := acquireIn(t, outer.Context(), l, rlock.Lease(time.Minute))
			if ttl := srv.TTL("l"); ttl != time.Minute {
				t.Errorf("lease %v after a longer inner hold", ttl)
			}
			shorter := acquireIn(t, inner.Context(), l, rlock.Lease(time.Second))
			if ttl := srv.TTL("l"); ttl != time.Minute {
				t.Errorf("lease %v after a shorter inner hold", ttl)
			}
			watched := acquireIn(t, shorter.Context(), l)
			time.Sleep(time.Hour) // the watchdog renews it from now on
			release(t, watched, shorter, inner, outer)
		})
}

func TestForkedGoroutinesExcludeEachOtherForOtherLocks(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	rw := c.RWLock("rw").Write()
	inner := []*rlock.Lock{c.Lock("inner"), c.FairLock("fair"), rw}
	err := c.Do(t.Context(), "outer", func(ctx context.Context) error {
		counts := make([]int, len(inner))
		var wg sync.WaitGroup
		for i, l := range inner {
			for range 8 {
				wg.Go(func() {
					for range 5 {
						err := l.Do(ctx, func(ctx context.Context) error {
							n := counts[i]
							err := c.Do(ctx, "outer", func(context.Context) error { return nil })
							counts[i] = n + 1
							return err
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		for i, n := range counts {
			if n != 40 {
				t.Errorf("%s: counted %d of 40", inner[i].Name(), n)
			}
		}
		return nil
	})
	must(t, err)
}

func TestALockInsideAnotherHasTheSameOwner(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{ID: "me"})
	outer := acquire(t, c.Lock("a"))
	inner := acquireIn(t, outer.Context(), c.FairLock("b"))
	beside := acquire(t, c.Lock("c"))
	if outer.Owner() != "me:1" || inner.Owner() != "me:1" || beside.Owner() != "me:2" {
		t.Fatal(outer.Owner(), inner.Owner(), beside.Owner())
	}
}

func TestAContextThatOutlivesItsHoldDoesNotReenterIt(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	l := c.Lock("l")
	h := acquire(t, l)
	longer := context.WithoutCancel(h.Context())
	inner := acquireIn(t, longer, l)
	release(t, h)
	if h.Context().Err() == nil {
		t.Error("the context of a released hold has not ended")
	}
	_, err := l.Acquire(h.Context())
	mustBe(t, context.Canceled, err)
	mustBe(t, rlock.ErrTimeout, try(l)) // the inner hold keeps the lock
	must(t, inner.Err())
	must(t, tryIn(longer, l)) // and is re-entered
	release(t, inner)
	other := acquire(t, l)
	mustBe(t, rlock.ErrTimeout, tryIn(longer, l))
	release(t, other)

	h = acquire(t, l)
	longer = context.WithoutCancel(h.Context())
	if forced, err := l.ForceUnlock(t.Context()); !forced || err != nil {
		t.Fatal(forced, err)
	}
	next := acquireIn(t, longer, l) // a lost hold is not re-entered
	if next.Owner() == h.Owner() {
		t.Error("the owner of a lost hold acquires again")
	}
	mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
	must(t, next.Err())
	release(t, next)
}

func TestTheContextOfAHoldDoesNotReenterForAnotherOwner(t *testing.T) {
	rdb := connect(t)
	l := newClient(t, rdb, rlock.Options{}).Lock("l")
	other := newClient(t, rdb, rlock.Options{}).Lock("l")
	h := acquire(t, l)
	mustBe(t, rlock.ErrTimeout, tryIn(h.Context(), other))
	must(t, tryIn(h.Context(), l))
}

func TestTheWatchdogStopsAfterTheLastRelease(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	outer := acquire(t, c.Lock("l"))
	inner := acquireIn(t, outer.Context(), c.Lock("l"))
	release(t, outer)
	if n := c.Watched(); n != 1 {
		t.Fatalf("%d leases are watched", n)
	}
	release(t, inner)
	if n := c.Watched(); n != 0 {
		t.Fatalf("%d leases are watched", n)
	}
}

func TestAContextThatIsAskedForLateHasEnded(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	released := acquire(t, c.Lock("l"))
	release(t, released)
	mustBe(t, context.Canceled, released.Context().Err())

	ctx, cancel := context.WithCancel(t.Context())
	lost, err := c.Lock("l").Acquire(ctx)
	must(t, err)
	rdb.Del(t.Context(), "l")
	other := acquire(t, c.Lock("l")) // it contradicts lost
	<-lost.Lost()
	cancel()
	mustBe(t, rlock.ErrLockLost, context.Cause(lost.Context()))
	if lost.Context() != lost.Context() {
		t.Error("the hold has two contexts")
	}
	if err := lost.Release(t.Context()); !errors.Is(err, rlock.ErrLockLost) {
		t.Error(err)
	}
	release(t, other)
}

func TestHoldsOfOneNameEndInAnyOrder(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	rw := c.RWLock("l")
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} {
		var readers []*rlock.Hold
		for range order {
			readers = append(readers, acquire(t, rw.Read()))
		}
		for _, i := range order {
			release(t, readers[i])
		}
		release(t, acquire(t, rw.Write()))
	}
}
