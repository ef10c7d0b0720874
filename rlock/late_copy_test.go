package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// late runs f while the first script call is held up, as a packet that TCP sends again
// after 200 ms. Then the call runs.
func late(t *testing.T, srv *lockredistest.Server, f func()) {
	t.Helper()
	held := srv.HoldRequest(lockredistest.Match{Command: "evalsha"}, 0)
	f()
	if held.Held() != 1 {
		t.Fatalf("%d requests are held up", held.Held())
	}
	held.Release()
}

func TestACopyOfAnAcquireThatArrivesAfterTheReleaseTakesNothing(t *testing.T) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				direct := srv.Client()
				c := newClient(t, srv.Client(), rlock.Options{})
				l := k.Make(c, "l")
				for range 3 { // so that the server is near
					must(t, try(l))
				}
				late(t, srv, func() { release(t, acquire(t, l)) })
				rest := rlocksuite.Contents(t, direct)
				delete(rest, "redisson_lock_token:{l}")
				if len(rest) > 0 {
					t.Fatalf("the late copy leaves %v", rest)
				}
				must(t, try(k.Make(newClient(t, direct, rlock.Options{}), "l")))
			})
		})
	}
}

func TestACopyOfAnAcquireThatArrivesAfterItsUndoTakesNothing(t *testing.T) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				direct := srv.Client()
				l := k.Make(newClient(t, srv.Client(), rlock.Options{}), "l")
				for range 3 {
					must(t, try(l))
				}
				latches := func() int {
					return len(direct.Keys(t.Context(), "redisson_unlock_latch*").Val())
				}
				eventually(t, "the latches are swept", func() bool { return latches() == 0 })
				var script string
				held := srv.HoldRequest(lockredistest.Match{Command: "evalsha", Times: lockredistest.Always,
					If: func(r lockredistest.Request) bool { // the acquisition, and not its undo
						if script == "" {
							script = r.Args[1]
						}
						return r.Args[1] == script
					}}, 0)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				_, err := l.Acquire(ctx)
				mustBe(t, context.DeadlineExceeded, err)
				eventually(t, "the latch of the undo", func() bool { return latches() > 0 })
				if held.Held() == 0 {
					t.Fatal("no request is held up")
				}
				held.Clear()
				rest := rlocksuite.Contents(t, direct)
				delete(rest, "redisson_lock_token:{l}")
				if len(rest) > 0 {
					t.Fatalf("the late copy leaves %v", rest)
				}
			})
		})
	}
}

func TestALateCopyDoesNotQueueForAFairLockAgain(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		direct := srv.Client()
		l := newClient(t, srv.Client(), rlock.Options{}).FairLock("l")
		for range 3 {
			must(t, try(l))
		}
		holder := acquire(t, newClient(t, direct, rlock.Options{}).FairLock("l"))
		late(t, srv, func() {
			mustBe(t, rlock.ErrTimeout, try(l, rlock.Wait(100*time.Millisecond)))
			eventually(t, "the waiter has left", func() bool {
				return direct.LLen(t.Context(), rlocksuite.FairQueue).Val() == 0
			})
		})
		release(t, holder)
		rlocksuite.MustHold(t, direct, nil)
	})
}

func TestALateCopyTakesNoPermits(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := t.Context()
		c := newClient(t, srv.Client(), rlock.Options{})
		s, permits, r := c.Semaphore("s"), c.PermitSemaphore("p"), c.RateLimiter("r")
		must(t, s.Release(ctx, 3))
		must(t, permits.SetPermits(ctx, 3))
		must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 3, Interval: time.Hour}))
		work := func(context.Context) error { return nil }
		for name, f := range map[string]func() error{
			"semaphore": func() error { return s.Do(ctx, 2, work) },
			"permits":   func() error { return permits.Do(ctx, 2, work) },
			"rate":      func() error { return errors.Join(r.Acquire(ctx, 2), r.Release(ctx, 2)) },
		} {
			for range 3 {
				must(t, f())
			}
			late(t, srv, func() { must(t, f()) })
			t.Log(name)
			is(t, 3, s.Available)
			is(t, 3, permits.Available)
			is(t, 3, r.Available)
		}
	})
}

func TestALateRequestOfACounterCountsOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := t.Context()
		c := newClient(t, srv.Client(), rlock.Options{})
		s, l := c.Semaphore("s"), c.CountDownLatch("l")
		_, err := l.TrySetCount(ctx, 9)
		must(t, err)
		for range 3 {
			must(t, errors.Join(s.Release(ctx, 1), l.CountDown(ctx)))
		}
		late(t, srv, func() { must(t, s.Release(ctx, 1)) })
		late(t, srv, func() { must(t, l.CountDown(ctx)) })
		is(t, 4, s.Available)
		is(t, 5, l.Count)
	})
}

// The permits are released by their ids, in another order than they were acquired in.
func TestALateCopyTakesNoPermitsAfterAReleaseByIDs(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := t.Context()
		p := newClient(t, srv.Client(), rlock.Options{}).PermitSemaphore("p")
		must(t, p.SetPermits(ctx, 4))
		acquire := func(n int) []string {
			h, err := p.Acquire(ctx, n, rlock.NoLease())
			must(t, err)
			return h.IDs()
		}
		for range 3 {
			must(t, p.Release(ctx, acquire(2)...))
		}
		late(t, srv, func() {
			ids, more := acquire(2), acquire(1)
			must(t, p.Release(ctx, more[0], ids[1]))
			must(t, p.Release(ctx, ids[0]))
		})
		is(t, 4, p.Available)
		late(t, srv, func() {
			ids := acquire(2)
			must(t, p.Release(ctx, append(acquire(1), ids[1], ids[0])...))
		})
		is(t, 4, p.Available)
	})
}
