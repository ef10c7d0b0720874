package rlock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

func TestCloseTakesWaitersOutOfTheFairQueue(t *testing.T) {
	rdb := connect(t)
	holder := acquire(t, newClient(t, rdb, rlock.Options{}).FairLock("l"))
	for _, cancels := range []bool{false, true} {
		c := newClient(t, rdb, rlock.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var waits []*rlocksuite.Acquiring
		for range 3 {
			waits = append(waits, rlocksuite.Queues(t, rdb, ctx, c.FairLock("l")))
		}
		if cancels { // a normal shutdown
			cancel()
		}
		must(t, c.Close(t.Context()))
		cancel()
		if n := rdb.LLen(t.Context(), rlocksuite.FairQueue).Val(); n != 0 {
			t.Fatalf("%d waiters of a closed client are in the queue", n)
		}
		for _, w := range waits {
			if _, err := w.Result(); !errors.Is(err, rlock.ErrClosed) &&
				!errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}
	release(t, holder)
	rlocksuite.MustHold(t, rdb, nil)
}

func TestCloseDuringAnAcquisitionLeavesNoLockWithoutAHold(t *testing.T) {
	rdb := connect(t)
	for range 50 {
		c := newClient(t, rdb, rlock.Options{UnlockOnClose: true})
		warm(t, c)
		w := rlocksuite.Begin(t.Context(), c.Lock("l"))
		must(t, c.Close(t.Context()))
		if n := rdb.Exists(t.Context(), "l").Val(); n != 0 {
			t.Fatal("a lock without a hold")
		}
		if h, err := w.Result(); err == nil && h.Context().Err() == nil {
			t.Fatal("the context of a released hold lives")
		}
	}
}

func TestUnlockOnCloseReleasesWhatIsHeld(t *testing.T) {
	for _, unlock := range []bool{false, true} {
		var w recorder
		rdb := connect(t)
		c := newClient(t, rdb, rlock.Options{ID: "me", UnlockOnClose: unlock, Observer: w.observer()})
		ctx := context.Background()
		rw := c.RWLock("rw")
		write := acquire(t, rw.Write())
		holds := []*rlock.Hold{
			acquire(t, c.Lock("lock")), acquire(t, c.FairLock("fair"), rlock.Lease(time.Minute)),
			write, acquireIn(t, write.Context(), rw.Read()),
		}
		acquireIn(t, holds[0].Context(), c.Lock("lock"))
		p := c.PermitSemaphore("p")
		must(t, p.SetPermits(ctx, 3))
		permits, err := p.Acquire(ctx, 2)
		must(t, err)
		must(t, c.Close(ctx))
		for _, h := range append(holds, permits.Hold) {
			<-h.Lost()
			mustBe(t, rlock.ErrClosed, context.Cause(h.Context()))
			mustBe(t, rlock.ErrLockLost, h.Err())
		}
		keys := rdb.Keys(ctx, "*").Val()
		slices.Sort(keys)
		left := len(rlocksuite.Contents(t, rdb))
		if free := rdb.Get(ctx, "p").Val(); unlock != (left == 1) || unlock != (free == "3") {
			t.Errorf("UnlockOnClose %v: left are %v, %s permits are free", unlock, keys, free)
		}
	}
}

func TestCloseEndsAWaitWithItsClient(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	ctx := t.Context()
	p, r := c.PermitSemaphore("p"), c.RateLimiter("r")
	_, err := c.CountDownLatch("l").TrySetCount(ctx, 1)
	must(t, errors.Join(err, r.SetRate(ctx, rlock.RateConfig{Rate: 1, Interval: time.Hour}),
		r.Acquire(ctx, 1)))
	acquire(t, c.SpinLock("spin"))
	ends := make(chan error)
	waits := []func() error{
		func() error { return c.CountDownLatch("l").Await(ctx) },
		func() error { return r.Acquire(ctx, 1) },
		func() error { _, err := p.Acquire(ctx, 1); return err },
		func() error { return c.Semaphore("s").Acquire(ctx, 1) },
		func() error { return try(c.SpinLock("spin"), rlock.Wait(time.Hour)) },
	}
	for _, f := range waits {
		go func() { ends <- f() }()
	}
	must(t, c.Close(ctx))
	for range waits {
		mustBe(t, rlock.ErrClosed, <-ends)
	}
}
