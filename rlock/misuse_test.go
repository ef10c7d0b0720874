package rlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestCloseMakesHeldLocksLost(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	leased := acquire(t, c.Lock("leased"), rlock.Lease(time.Minute))
	err := c.Do(t.Context(), "watched", func(ctx context.Context) error {
		must(t, c.Close(t.Context()))
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, rlock.ErrLockLost) || !errors.Is(err, rlock.ErrClosed) {
		t.Error(err)
	}
	<-leased.Lost()
	mustBe(t, rlock.ErrLockLost, leased.Release(context.Background()))
}

func TestCallsAfterCloseReturnErrClosed(t *testing.T) {
	rdb := connect(t)
	c := newClient(t, rdb, rlock.Options{})
	must(t, c.Close(t.Context()))
	none := func(context.Context) error { return nil }
	for name, ctx := range map[string]context.Context{"can end": t.Context(),
		"cannot end": context.Background()} {
		for what, f := range map[string]func() error{
			"lock":    func() error { return c.Do(ctx, "l", none) },
			"fair":    func() error { return c.FairLock("l").Do(ctx, none, rlock.Wait(time.Second)) },
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
	if h, err := p.Acquire(t.Context(), 1<<30, rlock.Wait(0)); err == nil || h != nil {
		t.Error(h, err)
	}
}

func TestDoReturnsTheCallersError(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		warm(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		err := c.Lock("l").Do(ctx, func(context.Context) error {
			srv.Hang()
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		srv.ClearFaults()
	})
}
