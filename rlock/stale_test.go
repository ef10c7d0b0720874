package rlock_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/stall"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// A connection without a file descriptor, such as one with TLS, is not checked before
// go-redis uses it.
func TestAHoldSurvivesAPoolOfBrokenConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := srv.Options()
		o.PoolSize = 60
		rdb := newRedis(t, o)
		c := newClient(t, rdb, rlock.Options{})
		ctx := t.Context()
		h := acquire(t, c.Lock("l"))
		var wg sync.WaitGroup
		for range 50 { // each on a connection of its own
			wg.Go(func() { rdb.Do(ctx, "blpop", "none", 1) })
		}
		wg.Wait()
		srv.Restart()
		later := acquire(t, c.Lock("later"))
		for range 300 {
			time.Sleep(time.Second)
			must(t, h.Err())
			must(t, later.Err())
		}
		must(t, h.Release(ctx))
		must(t, later.Release(ctx))
	})
}

func newRedis(t *testing.T, o *redis.Options) *redis.Client {
	rdb := redis.NewClient(o)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func TestAPoolOfBrokenTLSConnectionsDelaysNothing(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.TLS())
	rdb := newRedis(t, &redis.Options{Addr: srv.Addr(), TLSConfig: srv.TLSConfig(), PoolSize: 60})
	ctx := t.Context()
	c := newClient(t, rdb, rlock.Options{})
	h := acquire(t, c.Lock("l"))
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { rdb.Do(ctx, "blpop", "none", 0.2) })
	}
	wg.Wait()
	must(t, srv.Client().Do(ctx, "client", "kill", "type", "normal", "skipme", "yes").Err())
	m, start := stall.Watch(t), time.Now()
	release(t, acquire(t, c.Lock("other"), rlock.Wait(30*time.Second)))
	must(t, h.Release(ctx))
	if took := time.Since(start) - m.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A proxy without a server behind it accepts connections and closes them.
func TestAServerThatClosesEveryConnectionIsNotDialledInALoop(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		warm(t, c)
		cut := cutOff(srv, "")
		if err := try(c.Lock("l"), rlock.Wait(10*time.Second)); err == nil {
			t.Error("acquired without a server")
		}
		if n := cut.Hits(); n > 200 {
			t.Errorf("%d connections in 10 s", n)
		}
		cut.Clear()
	})
}
