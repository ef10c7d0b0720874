package rlock_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// hangingConn is a connection that can be made to drop everything that it receives.
type hangingConn struct {
	net.Conn
	hangs atomic.Bool
}

func (c *hangingConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.hangs.Load() {
			return n, err
		}
	}
}

// The lock has no end of its lease within the test, and go-redis keeps the connection.
// So only a new connection, opened after two PINGs without a reply, wakes the waiter.
func TestASubscriptionThatHangsIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		holder := rlock.New(srv.Client(), rlock.Options{})
		defer holder.Close()
		held := holder.Lock("l")
		must(t, held.LockLease(t.Context(), time.Hour))

		o := *srv.Client().Options()
		var mu sync.Mutex
		var conns []*hangingConn
		dial := o.Dialer
		o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			c := &hangingConn{Conn: nc}
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, c)
			return c, nil
		}
		rdb := redis.NewClient(&o)
		defer rdb.Close()
		c := rlock.New(rdb, rlock.Options{})
		defer c.Close()
		l := c.Lock("l")
		got := make(chan error, 1)
		go func() { got <- l.Lock(t.Context()) }()
		synctest.Wait()
		mu.Lock()
		for _, c := range conns {
			c.hangs.Store(true)
		}
		mu.Unlock()
		must(t, held.Unlock(t.Context()))
		start := time.Now()
		must(t, <-got)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("woken after %v", took)
		}
		must(t, l.Unlock(t.Context()))
	})
}
