package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func TestAnAcquisitionOfPermitsWithLostRepliesCountsOnce(t *testing.T) {
	p, direct := throughProxy(t)
	ctx := context.Background()
	c := newClient(t, p.dial(t), rlock.Options{})
	permits, rate := c.PermitSemaphore("p"), c.RateLimiter("r")
	must(t, permits.SetPermits(ctx, 5))
	must(t, rate.SetRate(ctx, rlock.RateConfig{Rate: 5, Interval: time.Hour}))
	id, err := permits.Acquire(ctx, 0)
	must(t, errors.Join(err, rate.Acquire(ctx, 1)))
	ran := calls(t, direct, "evalsha")
	p.loseReplies("evalsha", 3)
	_, err = permits.Acquire(ctx, 0)
	must(t, err)
	p.loseReplies("evalsha", 3)
	must(t, rate.Acquire(ctx, 1))
	if n := calls(t, direct, "evalsha") - ran; n != 8 {
		t.Fatalf("%d sendings", n)
	}
	is(t, 3, permits.Available)
	is(t, 3, rate.Available)
	must(t, permits.Release(ctx, id))
	is(t, 4, permits.Available)
}

func TestAReleaseOfAPermitWithLostRepliesSucceeds(t *testing.T) {
	p, _ := throughProxy(t)
	ctx := context.Background()
	s := newClient(t, p.dial(t), rlock.Options{}).PermitSemaphore("p")
	must(t, s.SetPermits(ctx, 3))
	ids, err := s.AcquireN(ctx, 3, 0)
	must(t, err)
	must(t, s.Release(ctx, ids[0]))
	p.loseReplies("evalsha", 2)
	must(t, s.Release(ctx, ids[1]))
	is(t, 2, s.Available)
	p.loseReplies("evalsha", 2)
	must(t, s.ReleaseN(ctx, ids[2]))
	is(t, 3, s.Available)
}

func TestRequestsWithoutAnIDAreSentOnce(t *testing.T) {
	p, direct := throughProxy(t)
	ctx := context.Background()
	c := newClient(t, p.dial(t), rlock.Options{})
	s, l := c.Semaphore("s"), c.CountDownLatch("l")
	_, err := s.TrySetPermits(ctx, 5)
	must(t, err)
	_, err = l.TrySetCount(ctx, 5)
	must(t, errors.Join(err, s.Acquire(ctx, 1), s.Release(ctx, 1), l.CountDown(ctx)))
	for _, f := range []func() error{
		func() error { return s.Acquire(ctx, 2) },
		func() error { return s.Release(ctx, 1) },
		func() error { return l.CountDown(ctx) },
	} {
		ran := calls(t, direct, "evalsha")
		p.loseReplies("evalsha", 1)
		if err := f(); err == nil {
			t.Fatal("no error although the reply was lost")
		}
		if n := calls(t, direct, "evalsha") - ran; n != 1 {
			t.Fatalf("%d sendings", n)
		}
	}
	is(t, 4, s.Available)
	is(t, 3, l.Count)
}

func TestPermitsGrantedAfterTheContextEndedAreReleased(t *testing.T) {
	p, direct := throughProxy(t)
	ctx := context.Background()
	c := newClient(t, p.dial(t), rlock.Options{})
	s, permits, rate := c.Semaphore("s"), c.PermitSemaphore("p"), c.RateLimiter("r")
	_, err := s.TrySetPermits(ctx, 3)
	must(t, err)
	must(t, permits.SetPermits(ctx, 3))
	must(t, rate.SetRate(ctx, rlock.RateConfig{Rate: 3, Interval: time.Hour}))
	p.hang()
	ended, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	ends := make(chan error)
	begin := time.Now()
	for _, f := range []func(context.Context) error{
		func(ctx context.Context) error { return s.Acquire(ctx, 2) },
		func(ctx context.Context) error { _, err := permits.AcquireN(ctx, 2, 0); return err },
		func(ctx context.Context) error { return rate.Acquire(ctx, 2) },
	} {
		go func() { ends <- f(ended) }()
	}
	for range 3 {
		if err := <-ends; !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if d := time.Since(begin); d > time.Second {
		t.Fatalf("after %v", d)
	}
	p.heal()
	c.Close()
	after := newClient(t, direct, rlock.Options{})
	is(t, 3, after.Semaphore("s").Available)
	is(t, 3, after.PermitSemaphore("p").Available)
	is(t, 3, after.RateLimiter("r").Available)
	is(t, 0, after.PermitSemaphore("p").Acquired)
}

func TestAReleaseWithAnEndedContextContinuesInTheBackground(t *testing.T) {
	rdb := connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	s, permits, l := c.Semaphore("s"), c.PermitSemaphore("p"), c.CountDownLatch("l")
	must(t, permits.SetPermits(ctx, 1))
	id, err := permits.Acquire(ctx, 0)
	must(t, err)
	_, err = l.TrySetCount(ctx, 1)
	must(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range []error{s.Release(ended, 1), permits.Release(ended, id), l.CountDown(ended)} {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	eventually(t, "released", func() bool {
		free, _ := s.Available(ctx)
		freed, _ := permits.Available(ctx)
		count, err := l.Count(ctx)
		return free == 1 && freed == 1 && count == 0 && err == nil
	})
}

func TestAReconnectWakesWaitersAfterALostMessage(t *testing.T) {
	p, direct := throughProxy(t)
	ctx := context.Background()
	c := newClient(t, p.dial(t), rlock.Options{})
	done := make(chan error, 1)
	go func() { done <- c.Semaphore("s").Acquire(ctx, 1) }()
	eventually(t, "a subscription", func() bool {
		return direct.PubSubNumSub(ctx, "redisson_sc:{s}").Val()["redisson_sc:{s}"] > 0
	})
	p.loseMessages()
	must(t, c.Semaphore("s").Release(ctx, 1))
	p.heal()
	p.endSubscriptions()
	must(t, <-done)
}

// is checks that f returns want.
func is(t testing.TB, want int, f func(context.Context) (int, error)) {
	t.Helper()
	got, err := f(context.Background())
	if err != nil || got != want {
		t.Fatalf("is %d, %v, want %d", got, err, want)
	}
}
