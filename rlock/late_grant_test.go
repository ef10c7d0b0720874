package rlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// slow is a hook that delays the replies of scripts.
type slow time.Duration

func (slow) DialHook(next redis.DialHook) redis.DialHook { return next }

func (slow) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s slow) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() == "eval" {
			time.Sleep(time.Duration(s))
		}
		return err
	}
}

func TestAGrantThatArrivesAfterItsLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		rdb.AddHook(slow(2 * time.Second))
		c := rlock.New(rdb, rlock.Options{})
		defer c.Close()
		l := c.Lock("l")
		if err := l.LockLease(t.Context(), time.Second); !errors.Is(err, rlock.ErrLockLost) {
			t.Fatal(err)
		}
		if err := l.Unlock(t.Context()); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
	})
}

// slowOnce is a hook that delays the first script: its request and its reply.
type slowOnce struct {
	slow
	used atomic.Bool
}

func (s *slowOnce) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() != "eval" || s.used.Swap(true) {
			return next(ctx, cmd)
		}
		time.Sleep(time.Duration(s.slow))
		defer time.Sleep(time.Duration(s.slow))
		return next(ctx, cmd)
	}
}

// The server's lease begins when the request arrives, so the lock still exists when
// the late reply arrives.
func TestALateGrantIsUndoneOnTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		rdb.AddHook(&slowOnce{slow: slow(600 * time.Millisecond)})
		c := rlock.New(rdb, rlock.Options{})
		defer c.Close()
		l := c.Lock("l")
		if err := l.LockLease(t.Context(), time.Second); !errors.Is(err, rlock.ErrLockLost) {
			t.Fatal(err)
		}
		if locked, err := l.IsLocked(t.Context()); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}
