package rlock_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

const (
	century = 100 * 365 * 24 * time.Hour // the longest duration of rlock
	longest = time.Duration(math.MaxInt64)
	hugeMS  = "9000000000000000" // as a Duration it overflows
)

// holder is a lock or several as one.
type holder interface {
	Acquire(context.Context, ...rlock.Option) (*rlock.Hold, error)
}

// eachHolder runs f for every kind of lock, a MultiLock and a QuorumLock, in virtual time. l
// is a lock of the same name that h excludes.
func eachHolder(t *testing.T, o rlock.Options,
	f func(t *testing.T, srv *lockredistest.Server, l *rlock.Lock, h holder)) {
	kinds := rlocksuite.Kinds()
	for i := range kinds {
		t.Run(kinds[i].Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				c := newClient(t, srv.Client(), o)
				k := kinds[i].Make(c, "l")
				if kinds[i].Label == "read" {
					f(t, srv, c.RWLock("l").Write(), k)
				} else {
					f(t, srv, k, k)
				}
			})
		})
	}
	t.Run("multi", func(t *testing.T) {
		virtually(t, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			l := newClient(t, srv.Client(), o).Lock("l")
			f(t, srv, l, rlock.Multi(l))
		})
	})
	t.Run("quorum", func(t *testing.T) {
		virtually(t, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			l := newClient(t, srv.Client(), o).Lock("l")
			f(t, srv, l, rlock.Quorum(l))
		})
	})
}

func TestDurationsOfOptionsMayBeHugeZeroOrNegative(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{longest, 0, math.MinInt64} {
		o := rlock.Options{Lease: d, FairWait: d, RetryFor: d, Sync: rlock.SyncOn, SyncTimeout: d}
		want := 30 * time.Second
		if d > 0 {
			want = century
		}
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			eachHolder(t, o, func(t *testing.T, srv *lockredistest.Server, l *rlock.Lock, k holder) {
				h, err := k.Acquire(t.Context(), rlock.Wait(d))
				must(t, err)
				if ttl, err := l.TTL(t.Context()); err != nil || ttl > want || ttl < want-time.Second {
					t.Errorf("a lease of %v lives for %v, %v", d, ttl, err)
				}
				mustBe(t, rlock.ErrTimeout, try(l))
				releasedAfterRefusals(t, srv, h)
			})
		})
	}
}

func TestALeaseMayBeHuge(t *testing.T) {
	eachHolder(t, rlock.Options{RetryFor: longest},
		func(t *testing.T, srv *lockredistest.Server, l *rlock.Lock, k holder) {
			check := func(h *rlock.Hold) {
				t.Helper()
				must(t, h.Err())
				ttl, err := l.TTL(t.Context())
				if err != nil || ttl > century || ttl < century-time.Second {
					t.Errorf("the lease is %v, %v", ttl, err)
				}
				if left := time.Until(h.Until()); left < century/2 {
					t.Errorf("the hold is trusted for %v", left)
				}
			}
			h, err := k.Acquire(t.Context(), rlock.Lease(longest), rlock.Wait(longest))
			must(t, err)
			check(h)
			releasedAfterRefusals(t, srv, h)
			h, err = k.Acquire(t.Context(), rlock.Lease(time.Minute))
			must(t, err)
			must(t, h.Extend(t.Context(), longest))
			check(h)
			releasedAfterRefusals(t, srv, h)
		})
}

// releasedAfterRefusals releases h while the server is loading.
func releasedAfterRefusals(t *testing.T, srv *lockredistest.Server, h *rlock.Hold) {
	t.Helper()
	loading := srv.FailRequest(lockredistest.Match{Key: "l", Times: 5}, "LOADING Redis is loading")
	must(t, h.Release(t.Context()))
	if loading.Hits() != 5 || srv.Exists("l") {
		t.Errorf("%d refusals; the lock exists: %v", loading.Hits(), srv.Exists("l"))
	}
}

func TestALockWithAForeignHugeTimeToLiveIsWaitedFor(t *testing.T) {
	redistest.SkipWhenQuick(t)
	t.Parallel()
	eachHolder(t, rlock.Options{},
		func(t *testing.T, srv *lockredistest.Server, l *rlock.Lock, k holder) {
			acquire(t, l)
			must(t, srv.Client().Do(t.Context(), "pexpire", "l", hugeMS).Err())
			if ttl, err := l.TTL(t.Context()); ttl != century || err != nil {
				t.Errorf("the lease is %v, %v", ttl, err)
			}
			for _, wait := range []time.Duration{0, -1, time.Minute} {
				_, err := k.Acquire(t.Context(), rlock.Wait(wait))
				mustBe(t, rlock.ErrTimeout, err)
			}
			go func() {
				time.Sleep(time.Minute)
				_, _ = l.ForceUnlock(t.Context())
			}()
			h, err := k.Acquire(t.Context(), rlock.Wait(longest))
			must(t, err)
			must(t, h.Release(t.Context()))
		})
}

func TestPermitsAndRatesMayHaveHugeDurations(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ctx, srv := t.Context(), lockredistest.RunT(t)
		c, rdb := newClient(t, srv.Client(), rlock.Options{RetryFor: longest}), srv.Client()
		p := c.PermitSemaphore("p")
		must(t, p.SetPermits(ctx, 1))
		h, err := p.Acquire(ctx, 1, rlock.Lease(longest), rlock.Wait(longest))
		must(t, err)
		left, err := p.LeaseTime(ctx, h.IDs()[0])
		if err != nil || left > century || left < century-time.Second {
			t.Errorf("the permit's lease is %v, %v", left, err)
		}
		_, err = p.Acquire(ctx, 1, rlock.Wait(time.Minute))
		mustBe(t, rlock.ErrTimeout, err)
		must(t, p.SetLease(ctx, h.IDs()[0], rlock.Lease(longest)))
		id := rdb.ZRange(ctx, "{p}:timeout", 0, 0).Val()[0]
		must(t, rdb.Do(ctx, "zadd", "{p}:timeout", "xx", hugeMS, id).Err())
		if left, err := p.LeaseTime(ctx, h.IDs()[0]); left != century || err != nil {
			t.Errorf("the foreign permit's lease is %v, %v", left, err)
		}
		_, err = p.Acquire(ctx, 1, rlock.Wait(time.Minute))
		mustBe(t, rlock.ErrTimeout, err)
		must(t, h.Release(ctx))

		r := c.RateLimiter("r")
		must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 1, Interval: longest, KeepAlive: longest}))
		want := rlock.RateConfig{Rate: 1, Interval: century, KeepAlive: century}
		for range 2 {
			if got, err := r.Config(ctx); got != want || err != nil {
				t.Errorf("the rate is %+v, %v", got, err)
			}
			must(t, r.Acquire(ctx, 1, rlock.Wait(longest)))
			mustBe(t, rlock.ErrTimeout, r.Acquire(ctx, 1, rlock.Wait(time.Hour)))
			must(t, r.SetRate(ctx, want))
			must(t, rdb.HSet(ctx, "r", "interval", hugeMS, "keepAliveTime", hugeMS).Err())
		}
	})
}
