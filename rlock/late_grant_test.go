package rlock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAGrantThatArrivesAfterItsLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		srv.DelayReply(lockredistest.Match{Key: "l"}, 900*time.Millisecond)
		c := rlock.New(srv.Client(), rlock.Options{})
		defer c.Close(context.Background())
		l := c.Lock("l")
		h, err := l.Acquire(t.Context(), rlock.Lease(800*time.Millisecond), rlock.Wait(0))
		mustBe(t, rlock.ErrLockLost, err)
		if h != nil {
			t.Fatal("a hold with an error")
		}
		h, err = l.Acquire(t.Context(), rlock.Lease(800*time.Millisecond))
		must(t, err)
		must(t, h.Release(t.Context()))
	})
}

// The server's lease begins when the request arrives, so the lock still exists when
// the late reply arrives.
func TestALateGrantIsUndoneOnTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		srv.HoldRequest(lockredistest.Match{Key: "l"}, 450*time.Millisecond)
		srv.DelayReply(lockredistest.Match{Key: "l"}, 450*time.Millisecond)
		c := rlock.New(srv.Client(), rlock.Options{})
		defer c.Close(context.Background())
		l := c.Lock("l")
		_, err := l.Acquire(t.Context(), rlock.Lease(600*time.Millisecond), rlock.Wait(0))
		mustBe(t, rlock.ErrLockLost, err)
		if locked, err := l.IsLocked(t.Context()); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}
