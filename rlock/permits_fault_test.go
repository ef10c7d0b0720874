package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAnAcquisitionOfPermitsWithLostRepliesCountsOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		ctx := context.Background()
		c := newClient(t, srv.Client(), rlock.Options{})
		permits, rate := c.PermitSemaphore("p"), c.RateLimiter("r")
		must(t, permits.SetPermits(ctx, 5))
		must(t, rate.SetRate(ctx, rlock.RateConfig{Rate: 5, Interval: time.Hour}))
		first, err := permits.Acquire(ctx, 1)
		must(t, errors.Join(err, rate.Acquire(ctx, 1)))
		ran := scripts(srv)
		loseReplies(srv, 0, 3)
		_, err = permits.Acquire(ctx, 1)
		must(t, err)
		loseReplies(srv, 0, 3)
		must(t, rate.Acquire(ctx, 1))
		// The last one seals the rate's claim. The first hold may be verified meanwhile.
		if n := scripts(srv) - ran; n < 9 || n > 11 {
			t.Fatalf("%d sendings", n)
		}
		is(t, 3, permits.Available)
		is(t, 3, rate.Available)
		release(t, first.Hold)
		is(t, 4, permits.Available)
	})
}

// A copy without a reply may still be granted, but not before the time that the server tells.
func TestAnAcquisitionThatCannotSucceedInTimeFailsAtOnceAfterALostReply(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := context.Background()
		r := newClient(t, srv.Client(), rlock.Options{}).RateLimiter("r")
		must(t, r.SetRate(ctx, rlock.RateConfig{Rate: 1, Interval: time.Hour}))
		must(t, r.Acquire(ctx, 1))
		loseReplies(srv, 0, 1)
		begin := time.Now()
		if err := r.Acquire(ctx, 1, rlock.Wait(time.Minute)); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
		if d := time.Since(begin); d > time.Second {
			t.Errorf("after %v", d)
		}
		is(t, 0, r.Available)
	})
}

func TestAReleaseOfAPermitWithLostRepliesSucceeds(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := context.Background()
		s := newClient(t, srv.Client(), rlock.Options{}).PermitSemaphore("p")
		must(t, s.SetPermits(ctx, 3))
		h, err := s.Acquire(ctx, 3)
		must(t, err)
		ids := h.IDs()
		must(t, s.Release(ctx, ids[0]))
		loseReplies(srv, 0, 2)
		must(t, s.Release(ctx, ids[1]))
		is(t, 2, s.Available)
		loseReplies(srv, 0, 2)
		must(t, s.Release(ctx, ids[2]))
		is(t, 3, s.Available)
	})
}

func TestAChangeOfACounterWithLostRepliesCountsOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := context.Background()
		c := newClient(t, srv.Client(), rlock.Options{})
		counts := func(s *rlock.Semaphore, l *rlock.CountDownLatch, permits, count int) {
			t.Helper()
			is(t, permits, s.Available)
			is(t, count, l.Count)
		}
		changes := func(s *rlock.Semaphore, l *rlock.CountDownLatch) []func() error {
			return []func() error{
				func() error {
					set, err := s.TrySetPermits(ctx, 5)
					return errors.Join(err, unless(set))
				},
				func() error {
					set, err := l.TrySetCount(ctx, 5)
					return errors.Join(err, unless(set))
				},
				func() error { return s.Acquire(ctx, 2) },
				func() error { return s.Release(ctx, 1) },
				func() error { return s.Add(ctx, 3) },
				func() error { return l.CountDown(ctx) },
				func() error {
					n, err := s.Drain(ctx)
					return errors.Join(err, unless(n == 7))
				},
			}
		}
		s, l := c.Semaphore("warm"), c.CountDownLatch("warm latch")
		for _, f := range changes(s, l) {
			must(t, f())
		}
		counts(s, l, 0, 4)
		s, l = c.Semaphore("s"), c.CountDownLatch("l")
		for i, f := range changes(s, l) {
			ran := scripts(srv)
			loseReplies(srv, 0, 3)
			if err := f(); err != nil {
				t.Fatal(i, err)
			}
			if n := scripts(srv) - ran; n != 4 {
				t.Fatalf("%d: %d sendings", i, n)
			}
		}
		counts(s, l, 0, 4)
	})
}

func unless(ok bool) error {
	if ok {
		return nil
	}
	return errors.New("the reply is of a second run")
}

func TestPermitsGrantedAfterTheContextEndedAreReleased(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := context.Background()
		c := newClient(t, srv.Client(), rlock.Options{})
		s, permits, rate := c.Semaphore("s"), c.PermitSemaphore("p"), c.RateLimiter("r")
		_, err := s.TrySetPermits(ctx, 3)
		must(t, err)
		must(t, permits.SetPermits(ctx, 3))
		must(t, rate.SetRate(ctx, rlock.RateConfig{Rate: 3, Interval: time.Hour}))
		hang := srv.Hang()
		ended, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		ends := make(chan error)
		begin := time.Now()
		for _, f := range []func(context.Context) error{
			func(ctx context.Context) error { return s.Acquire(ctx, 2) },
			func(ctx context.Context) error { _, err := permits.Acquire(ctx, 2); return err },
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
		hang.Clear()
		must(t, c.Close(ctx))
		after := newClient(t, srv.Client(), rlock.Options{})
		is(t, 3, after.Semaphore("s").Available)
		is(t, 3, after.PermitSemaphore("p").Available)
		is(t, 3, after.RateLimiter("r").Available)
		is(t, 0, after.PermitSemaphore("p").Acquired)
	})
}

func TestAReleaseWithAnEndedContextContinuesInTheBackground(t *testing.T) {
	rdb := connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	s, permits, l := c.Semaphore("s"), c.PermitSemaphore("p"), c.CountDownLatch("l")
	must(t, permits.SetPermits(ctx, 2))
	h, err := permits.Acquire(ctx, 2)
	must(t, err)
	_, err = l.TrySetCount(ctx, 1)
	must(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range []error{s.Release(ended, 1), permits.Release(ended, h.IDs()[0]),
		l.CountDown(ended)} {
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

func TestAReleaseOfPermitsThatContinuesInTheBackgroundHasAnEvent(t *testing.T) {
	rdb := connect(t)
	var events recorder
	c := newClient(t, rdb, rlock.Options{Observer: events.observer()})
	s, permits := c.Semaphore("s"), c.PermitSemaphore("p")
	must(t, permits.SetPermits(t.Context(), 2))
	h, err := permits.Acquire(t.Context(), 2, rlock.NoLease()) // no renewals
	must(t, err)
	must(t, rdb.LPush(t.Context(), "list", "a").Err())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, release := range []struct {
		event, kind string
		err         error // of the event
		call        func() error
	}{
		{"released", "semaphore", nil, func() error { return s.Release(ended, 1) }},
		{"released", "permit", nil, func() error { return permits.Release(ended, h.IDs()[0]) }},
		{"lost", "permit", rlock.ErrNotHeld, func() error { return permits.Release(ended, h.IDs()[0]) }},
		{"gave up", "semaphore", nil, func() error { return c.Semaphore("list").Release(ended, 1) }},
	} {
		before := len(events.seen())
		mustBe(t, context.Canceled, release.call())
		eventually(t, release.event, func() bool { return len(events.seen()) > before })
		e := events.event(release.event)
		if all := events.seen(); len(all) != before+1 || e.Kind != release.kind ||
			release.err != nil && !errors.Is(e.Err, release.err) {
			t.Errorf("%s of a %s: events %v, the last of its name %+v", release.event, release.kind, all, e)
		}
	}
}

func TestAReleaseOfAHoldWithAnEndedContextContinuesInTheBackground(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	permits := c.PermitSemaphore("p")
	must(t, permits.SetPermits(t.Context(), 2))
	h, err := permits.Acquire(t.Context(), 2)
	must(t, err)
	l := c.FairLock("l")
	mustBe(t, context.Canceled, h.Release(ended))
	mustBe(t, context.Canceled, acquire(t, l).Release(ended))
	eventually(t, "released", func() bool {
		n, err := permits.Available(t.Context())
		locked, lockErr := l.IsLocked(t.Context())
		return n == 2 && err == nil && !locked && lockErr == nil
	})
}

func TestAReconnectWakesWaitersAfterALostMessage(t *testing.T) {
	srv := lockredistest.RunT(t)
	ctx := context.Background()
	c := newClient(t, srv.Client(), rlock.Options{})
	done := make(chan error, 1)
	go func() { done <- c.Semaphore("s").Acquire(ctx, 1) }()
	eventually(t, "a subscription", func() bool {
		return srv.PubSubNumSub("redisson_sc:{s}")["redisson_sc:{s}"] > 0
	})
	lost := srv.DropMessage(lockredistest.MessageMatch{})
	must(t, c.Semaphore("s").Release(ctx, 1))
	if lost.Hits() != 1 {
		t.Fatalf("%d messages are lost", lost.Hits())
	}
	srv.Cut(lockredistest.Connections{Subscribed: true})
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
