package rlock_test

import (
	"context"
	"encoding/hex"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestPermitsAreRenewedUntilTheyAreReleased(t *testing.T) {
	t.Parallel()
	inBubble(t, rlock.Options{},
		func(ctx context.Context, _ *lockredistest.Server, c *rlock.Client) {
			p := c.PermitSemaphore("p")
			must(t, p.SetPermits(ctx, 3))
			h, err := p.Acquire(ctx, 2)
			must(t, err)
			for range 60 {
				time.Sleep(time.Minute)
				for _, id := range h.IDs() {
					left, err := p.LeaseTime(ctx, id)
					if err != nil || left < 19*time.Second || left > 30*time.Second {
						t.Fatalf("%v left, %v", left, err)
					}
				}
			}
			must(t, h.Err())
			release(t, h.Hold)
			is(t, 3, p.Available)
			mustBe(t, rlock.ErrNotHeld, p.Release(ctx, h.IDs()...))
		})
}

func TestPermitsAreLostWhenOneOfThemIsGone(t *testing.T) {
	inBubble(t, rlock.Options{},
		func(ctx context.Context, srv *lockredistest.Server, c *rlock.Client) {
			p := c.PermitSemaphore("p")
			must(t, p.SetPermits(ctx, 3))
			h, err := p.Acquire(ctx, 2)
			must(t, err)
			must(t, p.Release(ctx, h.IDs()[0])) // by its id
			start := time.Now()
			<-h.Lost()
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("lost after %v", took)
			}
			mustBe(t, rlock.ErrLockLost, h.Release(ctx))
			time.Sleep(time.Minute) // the other permit's lease ends
			is(t, 3, p.Available)
		})
}

func TestALeaseOfPermitsIsNotRenewed(t *testing.T) {
	t.Parallel()
	redistest.SkipUnlessWhole(t)
	inBubble(t, rlock.Options{},
		func(ctx context.Context, _ *lockredistest.Server, c *rlock.Client) {
			p := c.PermitSemaphore("p")
			must(t, p.SetPermits(ctx, 1))
			err := p.Do(ctx, 1, func(ctx context.Context) error {
				start := time.Now()
				<-ctx.Done()
				if took := time.Since(start); took > 10*time.Second || took < 9*time.Second {
					t.Errorf("trusted for %v", took)
				}
				mustBe(t, rlock.ErrLockLost, context.Cause(ctx))
				return nil
			}, rlock.Lease(10*time.Second))
			mustBe(t, rlock.ErrLockLost, err)

			h, err := p.Acquire(ctx, 1, rlock.NoLease())
			must(t, err)
			time.Sleep(24 * time.Hour)
			if must(t, h.Err()); !h.Until().IsZero() {
				t.Errorf("permits without a lease end at %v", h.Until())
			}
			must(t, h.Extend(ctx, time.Minute))
			if left := time.Until(h.Until()); left > time.Minute || left < 59*time.Second {
				t.Errorf("extended for a minute, trusted for %v", left)
			}
			release(t, h.Hold)
			is(t, 1, p.Available)
		})
}

func TestDoWithPermitsReleasesThem(t *testing.T) {
	rdb := connect(t)
	ctx := t.Context()
	c := newClient(t, rdb, rlock.Options{})
	p, s := c.PermitSemaphore("p"), c.Semaphore("s")
	must(t, p.SetPermits(ctx, 2))
	must(t, s.Release(ctx, 2))
	must(t, p.Do(ctx, 2, func(context.Context) error { is(t, 0, p.Available); return nil }))
	must(t, s.Do(ctx, 2, func(context.Context) error { is(t, 0, s.Available); return nil }))
	func() {
		defer func() { _ = recover() }()
		_ = s.Do(ctx, 1, func(context.Context) error { panic("in the work") })
	}()
	func() {
		defer func() { _ = recover() }()
		_ = p.Do(ctx, 1, func(context.Context) error { panic("in the work") })
	}()
	is(t, 2, p.Available)
	is(t, 2, s.Available)
}

func TestIDsOfPermitsAreThoseInRedis(t *testing.T) {
	rdb := connect(t)
	p := newClient(t, rdb, rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(t.Context(), 2))
	h, err := p.Acquire(t.Context(), 2)
	must(t, err)
	for _, id := range h.IDs() {
		raw, err := hex.DecodeString(id)
		must(t, err)
		if rdb.ZScore(t.Context(), "{p}:timeout", string(raw)).Val() == 0 {
			t.Errorf("%s is not acquired", id)
		}
	}
	if h.Owner() != "" {
		t.Errorf("permits have the owner %s", h.Owner())
	}
}

// The reply of the first waiter is lost. Its retry tells that a second permit is free.
func TestALostReplyDoesNotKeepAPermitFromTheNextWaiter(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		ctx := t.Context()
		s := newClient(t, clientNamed(t, srv, "waiters"), rlock.Options{}).PermitSemaphore("p")
		giver := newClient(t, srv.Client(), rlock.Options{}).PermitSemaphore("p")
		must(t, giver.SetPermits(ctx, 2))
		h, err := giver.Acquire(ctx, 2, rlock.NoLease())
		must(t, err)
		ends := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.Acquire(ctx, 1)
				ends <- err
			}()
		}
		eventually(t, "both wait", func() bool {
			return srv.PubSubNumSub("redisson_sc:{p}")["redisson_sc:{p}"] == 1 && scripts(srv) >= 4
		})
		lost := srv.LoseReply(lockredistest.Match{Command: "evalsha", Client: "waiters"})
		release(t, h.Hold)
		must(t, lost.Wait(ctx, 1))
		for range 2 {
			select {
			case err := <-ends:
				must(t, err)
			case <-time.After(5 * time.Second):
				t.Fatal("a permit is free and its waiter sleeps")
			}
		}
	})
}

func TestAWaiterLeavesTheFairQueueAfterAnOutageLongerThanTheLease(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		direct := srv.Client()
		holder := acquire(t, newClient(t, direct, rlock.Options{}).FairLock("l"))
		c := newClient(t, clientNamed(t, srv, "waiter"), rlock.Options{
			Lease: 20 * time.Millisecond, RetryFor: 20 * time.Millisecond})
		ctx, cancel := context.WithCancel(t.Context())
		waits := rlocksuite.Queues(t, direct, ctx, c.FairLock("l"))
		refused := cutOff(srv, "waiter")
		cancel()
		_, err := waits.Result()
		mustBe(t, context.Canceled, err)
		time.Sleep(30 * time.Second) // the outage
		if refused.Hits() < 3 {
			t.Errorf("%d requests in the outage", refused.Hits())
		}
		refused.Clear()
		eventually(t, "the queue is empty", func() bool {
			return direct.LLen(t.Context(), rlocksuite.FairQueue).Val() == 0
		})
		release(t, holder)
	})
}
