package rlock_test

import (
	"context"
	"errors"
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
