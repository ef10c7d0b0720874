package rlock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// The lock has no end of its lease within the test, and go-redis keeps the connection.
// So only a new connection, opened after two PINGs without a reply, wakes the waiter.
func TestASubscriptionThatHangsIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		holder := rlock.New(srv.Client(), rlock.Options{})
		defer holder.Close(context.Background())
		held := acquire(t, holder.Lock("l"), rlock.Lease(time.Hour))

		rdb := clientNamed(t, srv, "waiter")
		c := rlock.New(rdb, rlock.Options{})
		defer c.Close(context.Background())
		got := rlocksuite.Begin(t.Context(), c.Lock("l"))
		synctest.Wait()
		if n := srv.Silence(lockredistest.Connections{Client: "waiter"}); n < 2 {
			t.Fatalf("%d connections", n)
		}
		release(t, held)
		start := time.Now()
		h, err := got.Result()
		must(t, err)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("woken after %v", took)
		}
		release(t, h)
	})
}
