package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// quickly checks that f takes less than limit.
func quickly(t testing.TB, what string, limit time.Duration, f func() error) {
	t.Helper()
	start := time.Now()
	err := f()
	if took := time.Since(start); took > limit {
		t.Errorf("%s took %s", what, took)
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestAQuorumDoesNotWaitForAMinority(t *testing.T) {
	t.Parallel()
	eachOutage(t, func(t *testing.T, o outage) {
		q := newQuorum(t, rlock.Options{})
		for i, srv := range q.servers {
			h, err := q.Acquire(t.Context())
			must(t, err)
			end := o.begin(t, srv)
			quickly(t, "extend", time.Second, func() error {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				return h.Extend(ctx, time.Minute)
			})
			if left := time.Until(h.Until()); left < 55*time.Second {
				t.Errorf("server %d: trusted for %s", i, left)
			}
			quickly(t, "release", time.Second, func() error { return h.Release(t.Context()) })
			end()
			q.free(t)
		}
	})
}

func TestAnExtendThatLosesTheHoldTellsIt(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		h, err := q.Acquire(t.Context())
		must(t, err)
		first, last := q.servers[0].Hang(), q.servers[2].Hang()
		start := time.Now()
		mustBe(t, rlock.ErrLockLost, h.Extend(t.Context(), 2*time.Second))
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("told after %s", took)
		}
		first.Clear()
		last.Clear()
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
		q.free(t)
	})
}

func TestAFailedMultiLockUndoesAPartThatHangsInTheBackground(t *testing.T) {
	for name, lease := range map[string][]rlock.Option{
		"watched": nil, "with a lease": {rlock.Lease(10 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				first, second := lockredistest.RunT(t), lockredistest.RunT(t)
				a := newClient(t, first.Client(), rlock.Options{}).Lock("a")
				b := newClient(t, second.Client(), rlock.Options{}).Lock("b")
				other := acquire(t, b)
				go func() {
					for !first.Exists("a") {
						time.Sleep(time.Millisecond)
					}
					first.Hang()
				}()
				start := time.Now()
				_, err := rlock.Multi(a, b).Acquire(t.Context(),
					append(lease, rlock.Wait(time.Second))...)
				mustBe(t, rlock.ErrTimeout, err)
				if took := time.Since(start); took > 2*time.Second {
					t.Errorf("failed after %s", took)
				}
				first.ClearFaults()
				release(t, other)
				eventually(t, "the parts are free", func() bool {
					return !first.Exists("a") && !second.Exists("b")
				})
			})
		})
	}
}

func TestAMultiLockWaitsForItsLeasesWithinItsWait(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		m := rlock.Multi(c.Lock("a"), c.Lock("b"))
		for _, wait := range []time.Duration{0, 2 * time.Second} {
			lost := srv.LoseRequest(lockredistest.Match{
				Script: "plain_renew", Times: lockredistest.Always})
			start := time.Now()
			_, err := m.Acquire(t.Context(), rlock.Lease(20*time.Second), rlock.Wait(wait))
			mustBe(t, rlock.ErrTimeout, err)
			if took := time.Since(start); took > 4*time.Second || lost.Hits() == 0 {
				t.Errorf("Wait(%s): failed after %s, %d hits", wait, took, lost.Hits())
			}
			lost.Clear()
			eventually(t, "the parts are free", func() bool { return !srv.Exists("a") && !srv.Exists("b") })
		}
	})
}
