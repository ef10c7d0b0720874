package rlocksuite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) ASemaphoreCountsItsPermits(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	s := newClient(t, rdb, rlock.Options{}).Semaphore("s")
	heard := messages(t, rdb, "redisson_sc:{s}")
	is(t, 0, s.Available)
	for _, first := range []bool{true, false} {
		if set, err := s.TrySetPermits(ctx, 3); err != nil || set != first {
			t.Fatal(set, err)
		}
	}
	must(t, s.Acquire(ctx, 2))
	if err := s.Acquire(ctx, 2, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	if err := s.Acquire(ctx, 2, rlock.Wait(20*time.Millisecond)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	is(t, 1, s.Available)
	must(t, s.Release(ctx, 2))
	must(t, s.Add(ctx, -5))
	is(t, -2, s.Available)
	if err := s.Acquire(ctx, 1, rlock.Wait(0)); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	must(t, s.Add(ctx, 6))
	is(t, 4, s.Drain)
	is(t, 0, s.Drain)
	hear(t, heard, "3", "3", "4")
	if got := rdb.Get(ctx, "s").Val(); got != "0" {
		t.Fatalf("left %q", got)
	}
	swept(t, rdb, 1)
}

func (on suite) ANumberOfPermitsThatIsNotPositiveIsAnError(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	s, p, r := c.Semaphore("s"), c.PermitSemaphore("p"), c.RateLimiter("r")
	work := func(context.Context) error { t.Error("Do runs its function"); return nil }
	_, setErr := s.TrySetPermits(ctx, -1)
	_, permitSetErr := p.TrySetPermits(ctx, -1)
	errs := []error{setErr, permitSetErr, p.SetPermits(ctx, -1)}
	for _, n := range []int{0, -1} {
		_, permitErr := p.Acquire(ctx, n)
		errs = append(errs, permitErr, s.Acquire(ctx, n), s.Release(ctx, n), r.Acquire(ctx, n),
			r.Acquire(ctx, n, rlock.Wait(0)), r.Release(ctx, n), s.Do(ctx, n, work), p.Do(ctx, n, work))
	}
	for i, err := range errs {
		if err == nil || errors.Is(err, rlock.ErrNoRate) {
			t.Error(i, err)
		}
	}
	if keys := allKeys(t, rdb); len(keys) != 0 {
		t.Fatal(keys)
	}
}

func (on suite) AReleaseWakesAWaiterWithin50Ms(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	giver, taker := newClient(t, rdb, rlock.Options{}), newClient(t, rdb, rlock.Options{})
	p := giver.PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 1))
	released := make(chan *rlock.PermitHold, 1)
	released <- acquirePermits(t, p, 1)
	for name, k := range map[string]struct {
		channel       string
		wait, release func() error
	}{
		"semaphore": {
			"redisson_sc:{s}",
			func() error { return taker.Semaphore("s").Acquire(ctx, 1) },
			func() error { return giver.Semaphore("s").Release(ctx, 1) },
		},
		"permit": {
			"redisson_sc:{p}",
			func() error {
				next, err := taker.PermitSemaphore("p").Acquire(ctx, 1)
				released <- next
				return err
			},
			func() error { h := <-released; return h.Release(ctx) },
		},
		"latch": {
			"redisson_countdownlatch__channel__{l}",
			func() error { return taker.CountDownLatch("l").Await(ctx) },
			func() error { return giver.CountDownLatch("l").CountDown(ctx) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			best := time.Hour // the best of several, because the machine may be busy
			for i := 0; i < 5 || i < 50 && best > 50*time.Millisecond; i++ {
				_, err := giver.CountDownLatch("l").TrySetCount(ctx, 1)
				must(t, err)
				done := start(k.wait)
				listened(t, rdb, k.channel)
				begin := time.Now()
				must(t, k.release())
				soon(t, done)
				best = min(best, time.Since(begin))
			}
			if best > 50*time.Millisecond {
				t.Fatalf("after %v", best)
			}
		})
	}
}

func (on suite) AWaiterForManyPermitsDoesNotBlockTheOthers(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	contended := make(chan rlock.Event, 10)
	c := newClient(t, rdb, rlock.Options{Observer: rlock.Observer{
		Contended: func(_ context.Context, e rlock.Event) { contended <- e },
	}})
	s := c.Semaphore("s")
	many := start(func() error { return s.Acquire(ctx, 5) })
	<-contended
	listened(t, rdb, "redisson_sc:{s}")
	var few []<-chan error
	for range 3 {
		few = append(few, start(func() error { return s.Acquire(ctx, 1) }))
		<-contended
	}
	must(t, s.Release(ctx, 3))
	for _, done := range few {
		soon(t, done)
	}
	is(t, 0, s.Available)
	must(t, s.Release(ctx, 5))
	soon(t, many)
	is(t, 0, s.Available)
}

func (on suite) ASemaphoreGrantsNoMorePermitsThanItHas(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	s := c.Semaphore("s")
	_, err := s.TrySetPermits(ctx, 3)
	must(t, err)
	inside := make(chan struct{}, 3)
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for range 20 {
				if err := s.Acquire(ctx, 1); err != nil {
					t.Error(err)
					return
				}
				select {
				case inside <- struct{}{}:
				default:
					t.Error("more than 3 permits granted")
					return
				}
				<-inside
				if err := s.Release(ctx, 1); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	is(t, 3, s.Available)
}

func (on suite) TheEndOfAContextEndsAWaitForPermits(t *testing.T) {
	rdb := on.connect(t)
	c := newClient(t, rdb, rlock.Options{})
	must(t, c.PermitSemaphore("p").SetPermits(context.Background(), 0))
	must(t, c.RateLimiter("r").SetRate(context.Background(),
		rlock.RateConfig{Rate: 1, Interval: time.Hour}))
	must(t, c.RateLimiter("r").Acquire(context.Background(), 1))
	_, err := c.CountDownLatch("l").TrySetCount(context.Background(), 1)
	must(t, err)
	for name, wait := range map[string]func(context.Context) error{
		"semaphore": func(ctx context.Context) error { return c.Semaphore("s").Acquire(ctx, 1) },
		"permit": func(ctx context.Context) error {
			_, err := c.PermitSemaphore("p").Acquire(ctx, 1)
			return err
		},
		"latch": func(ctx context.Context) error { return c.CountDownLatch("l").Await(ctx) },
		"rate":  func(ctx context.Context) error { return c.RateLimiter("r").Acquire(ctx, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			if err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		})
	}
	eventually(t, "no subscription", func() bool { return len(channels(t, rdb)) == 0 })
}
