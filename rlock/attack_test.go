package rlock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// In real time a busy machine's reply may come late. The latch then stays, for a copy of the request.
func TestAReleaseLeavesNoKeyOfAnExtendedLease(t *testing.T) {
	inBubble(t, rlock.Options{}, func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
		holds := []*rlock.Hold{
			acquire(t, c.Lock("lock")), acquire(t, c.FairLock("fair")), acquire(t, c.RWLock("rw").Read()),
		}
		multi, err := rlock.Multi(c.Lock("a"), c.Lock("b")).Acquire(ctx, rlock.Lease(time.Minute))
		must(t, err)
		for _, h := range append(holds, multi) {
			must(t, h.Extend(ctx, time.Minute))
			must(t, h.Release(ctx))
		}
		must(t, c.Close(ctx))
		if keys := srv.Keys(); len(keys) != 0 {
			t.Errorf("left are %q", keys)
		}
	})
}

func TestNumbersThatAScriptCannotCountAreRefused(t *testing.T) {
	uncountable := int64(1<<53 + 1)
	huge := int(uncountable)
	if int64(huge) != uncountable {
		t.Skip("an int has 32 bits: a script can count each of them")
	}
	c := newClient(t, connect(t), rlock.Options{})
	ctx := t.Context()
	s, p, r := c.Semaphore("s"), c.PermitSemaphore("p"), c.RateLimiter("r")
	_, setErr := s.TrySetPermits(ctx, huge)
	_, countErr := c.CountDownLatch("l").TrySetCount(ctx, huge)
	for i, err := range []error{
		setErr, countErr, s.Acquire(ctx, huge), s.Release(ctx, huge), s.Add(ctx, -huge),
		p.SetPermits(ctx, huge), p.Add(ctx, huge), r.Acquire(ctx, huge), r.Release(ctx, huge),
		r.SetRate(ctx, rlock.RateConfig{Rate: huge, Interval: time.Second}),
	} {
		if err == nil {
			t.Errorf("call %d has no error", i)
		}
	}
}

func TestANilOptionIsNoOption(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	must(t, c.Do(t.Context(), "l", func(context.Context) error { return nil }, nil))
}

func TestAClosedGoRedisClientFailsAtOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		rdb := holding(t).Client()
		c := rlock.New(rdb, rlock.Options{UnlockOnClose: true})
		h := acquire(t, c.Lock("l"))
		must(t, rdb.Close())
		start := time.Now()
		mustBe(t, redis.ErrClosed, h.Release(t.Context()))
		mustBe(t, redis.ErrClosed, c.Do(t.Context(), "l", func(context.Context) error { return nil }))
		must(t, c.Close(t.Context()))
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestCloseWithAnEndedContextIsNoErrorWhenNothingIsLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	unused := rlock.New(connect(t), rlock.Options{})
	must(t, unused.Close(ctx))
	used := rlock.New(connect(t), rlock.Options{})
	must(t, used.Do(t.Context(), "l", func(context.Context) error { return nil }))
	must(t, used.Close(ctx))
}

func TestAFencedLockInsideALockWithoutTokensIsAnError(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	must(t, c.Do(t.Context(), "l", func(ctx context.Context) error {
		if h, err := c.FencedLock("l").Acquire(ctx); err == nil {
			t.Errorf("the token is %d", h.Token())
		}
		return nil
	}))
	locked, err := c.Lock("l").IsLocked(t.Context())
	if locked || err != nil {
		t.Error(locked, err)
	}
}

func TestALockInsideOneOfAnotherKindWithItsNameIsAnError(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	kinds := map[string]*rlock.Lock{"lock": c.Lock("l"), "fair": c.FairLock("l"),
		"read": c.RWLock("l").Read(), "write": c.RWLock("l").Write()}
	for outer, o := range kinds {
		for inner, i := range kinds {
			h := acquire(t, o)
			in, err := i.Acquire(h.Context(), rlock.Wait(0))
			fits := outer == inner || outer == "write" && inner == "read" ||
				outer == "lock" && inner == "fair" || outer == "fair" && inner == "lock"
			if fits {
				must(t, err)
				must(t, in.Release(t.Context()))
			} else {
				mustBe(t, rlock.ErrDeadlock, err)
			}
			must(t, h.Release(t.Context()))
		}
	}
}

func TestALostWriteHoldDoesNotStayBecauseOfItsReadHold(t *testing.T) {
	virtually(t, func(t *testing.T) {
		rdb := holding(t).Client()
		c := newClient(t, rdb, rlock.Options{})
		rw := c.RWLock("l")
		w := acquire(t, rw.Write(), rlock.Lease(100*time.Millisecond))
		r := acquireIn(t, w.Context(), rw.Read())
		<-w.Lost()
		other := acquire(t, rw.Read(), rlock.Wait(5*time.Second))
		must(t, other.Release(t.Context()))
		must(t, r.Err())
		mustBe(t, rlock.ErrLockLost, w.Release(t.Context()))
		must(t, r.Err())
		must(t, r.Release(t.Context()))
		release(t, acquire(t, rw.Write(), rlock.Wait(0)))
	})
}

func TestDataUnderTheNameOfALockIsAnErrorAndStays(t *testing.T) {
	rdb := connect(t)
	ctx := t.Context()
	c := newClient(t, rdb, rlock.Options{})
	must(t, rdb.Set(ctx, "l", "data", 0).Err())
	for _, l := range []*rlock.Lock{c.Lock("l"), c.FairLock("l"), c.SpinLock("l"),
		c.FencedLock("l").AsLock(), c.RWLock("l").Read(), c.RWLock("l").Write()} {
		if _, err := l.Acquire(ctx); err == nil || !strings.HasPrefix(err.Error(), "WRONGTYPE") {
			t.Errorf("acquire: %v", err)
		}
		if _, err := l.ForceUnlock(ctx); err == nil {
			t.Error("ForceUnlock of data is no error")
		}
	}
	if got := rdb.Get(ctx, "l").Val(); got != "data" {
		t.Errorf("the data are %q", got)
	}
}

func TestAReadHoldInsideItsWriteLockHasTheDeadlineOfItsContext(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rw := c.RWLock("l")
	w := acquireIn(t, ctx, rw.Write())
	r := acquireIn(t, w.Context(), rw.Read())
	want, _ := ctx.Deadline()
	if got, ok := r.Context().Deadline(); !ok || !got.Equal(want) {
		t.Errorf("the deadline is %v, %v", got, ok)
	}
	release(t, w)
	release(t, r)
}

func TestAReleaseWakesOneWaitingWriter(t *testing.T) {
	srv := lockredistest.RunT(t)
	ctx := t.Context()
	c := newClient(t, srv.Client(), rlock.Options{})
	l := c.RWLock("l").Write()
	h := acquire(t, l)
	const writers = 60
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() { must(t, l.Do(ctx, func(context.Context) error { return nil })) })
	}
	eventually(t, "the writers wait", func() bool { return scripts(srv) >= writers })
	before := scripts(srv)
	release(t, h)
	wg.Wait()
	if n := scripts(srv) - before; n > 6*writers {
		t.Errorf("%d scripts for %d writers", n, writers)
	}
}
