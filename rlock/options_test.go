package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func TestOptionsThatMakeNoSenseAreErrors(t *testing.T) {
	rdb := connect(t)
	ctx := t.Context()
	c := newClient(t, rdb, rlock.Options{})
	l, p, s, r := c.Lock("l"), c.PermitSemaphore("p"), c.Semaphore("s"), c.RateLimiter("r")
	none := func(context.Context) error { return nil }
	noneFenced := func(context.Context, int64) error { return nil }
	past := time.Until(time.Now().Add(-time.Second))
	acquires := map[string]func(o rlock.Option) error{
		"lock":   func(o rlock.Option) error { _, err := l.Acquire(ctx, o); return err },
		"do":     func(o rlock.Option) error { return c.Do(ctx, "l", none, o) },
		"fenced": func(o rlock.Option) error { return c.FencedLock("f").Do(ctx, noneFenced, o) },
		"multi":  func(o rlock.Option) error { return rlock.Multi(l).Do(ctx, none, o) },
		"quorum": func(o rlock.Option) error { return rlock.Quorum(l).Do(ctx, none, o) },
		"permit": func(o rlock.Option) error { return p.Do(ctx, 1, none, o) },
		"sem":    func(o rlock.Option) error { return s.Do(ctx, 1, none, o) },
		"rate":   func(o rlock.Option) error { return r.Acquire(ctx, 1, o) },
		"await":  func(o rlock.Option) error { return c.CountDownLatch("w").Await(ctx, o) },
	}
	wrong := map[string]rlock.Option{
		"lease 0": rlock.Lease(0), "lease -1s": rlock.Lease(-time.Second),
		"a past deadline": rlock.Lease(past), "lease 999µs": rlock.Lease(999 * time.Microsecond),
	}
	for kind, acquire := range acquires {
		for name, o := range wrong {
			if err := acquire(o); err == nil {
				t.Errorf("%s: %s is accepted", kind, name)
			}
		}
	}
	for _, kind := range []string{"lock", "do", "fenced", "multi", "quorum"} {
		if err := acquires[kind](rlock.NoLease()); err == nil {
			t.Errorf("%s: no lease is accepted", kind)
		}
	}
	for _, d := range []time.Duration{0, -time.Second, 999 * time.Microsecond} {
		h := acquire(t, l)
		if err := h.Extend(ctx, d); err == nil {
			t.Errorf("extended for %v", d)
		}
		must(t, h.Err())
		release(t, h)
	}
	eventually(t, "no keys", func() bool { return len(rdb.Keys(ctx, "*").Val()) == 0 })
}

func TestLeaseIsTruncatedToMilliseconds(t *testing.T) {
	rdb := connect(t)
	l := newClient(t, rdb, rlock.Options{}).Lock("l")
	h := acquire(t, l, rlock.Lease(time.Minute+999*time.Microsecond))
	if ttl := rdb.PTTL(t.Context(), "l").Val(); ttl > time.Minute {
		t.Error(ttl)
	}
	if time.Until(h.Until()) > time.Minute {
		t.Error(h.Until())
	}
}

func TestWaitLimitsTheAcquisitionAndNotTheWork(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	for _, wait := range []time.Duration{-time.Second, 0, 20 * time.Millisecond} {
		err := c.Do(t.Context(), "l", func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); ok {
				t.Error("the work has a deadline")
			}
			mustBe(t, rlock.ErrTimeout, try(c.Lock("l"), rlock.Wait(wait)))
			return nil
		}, rlock.Wait(time.Second))
		must(t, err)
	}
}

func TestAnAcquisitionWithAnEndedContextSendsNothing(t *testing.T) {
	srv := holding(t)
	c := newClient(t, srv.Client(), rlock.Options{})
	h := acquire(t, c.Lock("l"))
	before := scripts(srv)
	ended, cancel := context.WithCancel(h.Context())
	cancel()
	for _, l := range []*rlock.Lock{c.Lock("l"), c.Lock("m"), c.FairLock("f"), c.RWLock("w").Read()} {
		_, err := l.Acquire(ended)
		mustBe(t, context.Canceled, err)
	}
	if n := scripts(srv) - before; n != 0 {
		t.Errorf("%d requests", n)
	}
}
