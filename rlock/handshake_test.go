package rlock_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/rlock"
)

// The first request of a Client adds a hook. Another first request may be dialling then:
// its HELLO and SELECT must still go to the connection that it dialled.
func TestAConnectionDialledBesideTheFirstRequestHasItsUserAndDatabase(t *testing.T) {
	srv := lockredis.New(lockredis.Config{Password: "secret"})
	must(t, srv.Start())
	defer srv.Close()

	var c *rlock.Client
	var dialled atomic.Bool
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dialled.CompareAndSwap(false, true) {
			hold, err := c.Lock("inside").Acquire(t.Context())
			must(t, err)
			must(t, hold.Release(t.Context()))
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr(), Password: "secret", DB: 3, Dialer: dial})
	defer rdb.Close()
	c = rlock.New(rdb, rlock.Options{})
	defer c.Close(context.Background())

	hold, err := c.Lock("outside").Acquire(t.Context())
	must(t, err)
	for db, want := range map[int]int64{0: 0, 3: 1} {
		other := redis.NewClient(&redis.Options{Addr: srv.Addr(), Password: "secret", DB: db})
		defer other.Close()
		if n, err := other.Exists(t.Context(), "outside").Result(); n != want || err != nil {
			t.Errorf("EXISTS in database %d: %d, %v; want %d", db, n, err, want)
		}
	}
	must(t, hold.Release(t.Context()))
}
