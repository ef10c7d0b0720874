package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

func TestCloseMakesHeldLocksLost(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	watched, leased := c.Lock("watched"), c.Lock("leased")
	must(t, leased.LockLease(t.Context(), time.Minute))
	err := watched.Do(t.Context(), func(ctx context.Context) error {
		must(t, c.Close())
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, rlock.ErrLockLost) || !errors.Is(err, rlock.ErrClosed) {
		t.Error(err)
	}
	<-leased.Lost()
	if err := leased.Unlock(context.Background()); !errors.Is(err, rlock.ErrLockLost) {
		t.Error(err)
	}
}

func TestCallsAfterCloseReturnErrClosed(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	must(t, c.Close())
	for name, ctx := range map[string]context.Context{"can end": t.Context(),
		"cannot end": context.Background()} {
		for what, f := range map[string]func() error{
			"lock":    func() error { return c.Lock("l").Lock(ctx) },
			"fair":    func() error { return c.FairLock("l").TryLock(ctx, time.Second, 0) },
			"acquire": func() error { return c.Semaphore("s").Acquire(ctx, 1) },
			"permits": func() error { return c.PermitSemaphore("p").SetPermits(ctx, 1) },
			"ask":     func() error { _, err := c.Lock("l").IsLocked(ctx); return err },
		} {
			if err := f(); !errors.Is(err, rlock.ErrClosed) {
				t.Errorf("%s, a context that %s: %v", what, name, err)
			}
		}
	}
	if keys := rdb.Keys(context.Background(), "*").Val(); len(keys) != 0 {
		t.Error(keys)
	}
}

func TestAWithOwnerLockIsLostByForceUnlock(t *testing.T) {
	rdb := connect(t)
	l := newClient(t, rdb, rlock.Options{}).Lock("l", rlock.WithOwner(7))
	must(t, l.LockLease(t.Context(), time.Minute))
	if ok, err := l.ForceUnlock(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := l.Lock(t.Context()); !errors.Is(err, rlock.ErrLockLost) {
		t.Error(err)
	}
	if err := l.Unlock(t.Context()); !errors.Is(err, rlock.ErrLockLost) {
		t.Error(err)
	}
	must(t, l.Lock(t.Context()))
	must(t, l.Unlock(t.Context()))
}

func TestAWithOwnerLockCountsTheHoldsOfItsOwnerInAnotherClient(t *testing.T) {
	rdb := connect(t)
	ctx := t.Context()
	a := newClient(t, rdb, rlock.Options{ID: "id"}).Lock("l", rlock.WithOwner(7))
	b := newClient(t, rdb, rlock.Options{ID: "id"}).Lock("l", rlock.WithOwner(7))
	must(t, a.Lock(ctx))
	must(t, b.Lock(ctx))
	if n, err := a.HoldCount(ctx); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	must(t, b.Unlock(ctx))
	must(t, a.Unlock(ctx))
	if locked, err := a.IsLocked(ctx); locked || err != nil {
		t.Fatal(locked, err)
	}
}

func TestTryLockTimesOutWhileItsOwnerWaitsInAnotherGoroutine(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	other := c.Lock("l")
	must(t, other.Lock(t.Context()))
	l := c.Lock("l")
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() { waits <- l.Lock(ctx) }()
	for _, wait := range []time.Duration{0, 10 * time.Millisecond} {
		if err := l.TryLock(t.Context(), wait, 0); !errors.Is(err, rlock.ErrTimeout) {
			t.Errorf("waited for %v: %v", wait, err)
		}
	}
	cancel()
	<-waits
}

func TestARingIsRefused(t *testing.T) {
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer ring.Close()
	defer func() {
		if recover() == nil {
			t.Error("New accepted a Ring")
		}
	}()
	rlock.New(ring, rlock.Options{})
}

func TestTooManyPermitsAreRefused(t *testing.T) {
	p := newClient(t, connect(t), rlock.Options{}).PermitSemaphore("p")
	if ids, err := p.TryAcquireN(t.Context(), 1<<50, 0, 0); err == nil || ids != nil {
		t.Error(len(ids), err)
	}
}

func TestDoReturnsTheCallersError(t *testing.T) {
	p, _ := throughProxy(t)
	c := newClient(t, p.dial(t), rlock.Options{})
	warm(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	err := c.Lock("l").Do(ctx, func(context.Context) error {
		p.hang()
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	p.heal()
}
