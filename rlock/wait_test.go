package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// waitsFor are acquisitions of something free, by kind.
func waitsFor(t *testing.T, c *rlock.Client, o rlock.Option) map[string]func(context.Context) error {
	ctx := t.Context()
	all := map[string]func(context.Context) error{}
	nothing := func(context.Context) error { return nil }
	for _, k := range rlocksuite.Kinds() {
		all[k.Label] = func(ctx context.Context) error {
			return k.Make(c, k.Label).Do(ctx, nothing, o)
		}
	}
	all["multi"] = func(ctx context.Context) error {
		return rlock.Multi(c.Lock("m1"), c.Lock("m2")).Do(ctx, nothing, o)
	}
	all["quorum"] = func(ctx context.Context) error { return rlock.Quorum(c.Lock("q")).Do(ctx, nothing, o) }
	s, p, r := c.Semaphore("s"), c.PermitSemaphore("p"), c.RateLimiter("r")
	_, err := s.TrySetPermits(ctx, 1)
	must(t, err)
	must(t, p.SetPermits(ctx, 1))
	must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 100, Interval: time.Second}))
	all["semaphore"] = func(ctx context.Context) error { return s.Do(ctx, 1, nothing, o) }
	all["permit"] = func(ctx context.Context) error { return p.Do(ctx, 1, nothing, o) }
	all["rate"] = func(ctx context.Context) error { return r.Acquire(ctx, 1, o) }
	all["latch"] = func(ctx context.Context) error { return c.CountDownLatch("c").Await(ctx, o) }
	return all
}

func TestAWaitThatIsTooShortIsASingleTry(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond - 1} {
		for kind, acquire := range waitsFor(t, c, rlock.Wait(d)) {
			if err := acquire(t.Context()); err != nil {
				t.Errorf("%s, Wait(%v): %v", kind, d, err)
			}
		}
	}
}

// slow is a context that a goroutine looks at for longer than the wait.
type slow struct{ context.Context }

func (s slow) Deadline() (time.Time, bool) {
	time.Sleep(20 * time.Millisecond)
	return s.Context.Deadline()
}

func TestThereIsATryAlsoIfTheWaitIsOverBefore(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		for kind, acquire := range waitsFor(t, c, rlock.Wait(10*time.Millisecond)) {
			if err := acquire(slow{t.Context()}); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		h := acquire(t, c.FairLock("fair"))
		_, err := c.FairLock("fair").Acquire(slow{t.Context()}, rlock.Wait(10*time.Millisecond))
		mustBe(t, rlock.ErrTimeout, err)
		release(t, h)
		eventually(t, "the queue is empty", func() bool { return !srv.Exists(rlocksuite.FairQueue) })
	})
}
