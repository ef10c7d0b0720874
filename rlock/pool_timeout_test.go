package rlock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// hogged runs f in virtual time with a client of a pool that the program's own BLPOPs fill but for
// 20 ms between two of them. PoolTimeout is 10 ms, so most waits for a connection end without one.
func hogged(t *testing.T, o rlock.Options, f func(t *testing.T, c *rlock.Client)) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ro := srv.Options()
		ro.PoolSize, ro.PipelinePoolSize, ro.PoolTimeout = 1, -1, 10*time.Millisecond
		rdb := redis.NewClient(ro)
		t.Cleanup(func() { rdb.Close() })
		c := newClient(t, rdb, o)
		warm(t, c)
		done := make(chan struct{})
		defer close(done)
		go func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				rdb.Do(context.Background(), "blpop", "none", 0.3)
				time.Sleep(20 * time.Millisecond)
			}
		}()
		f(t, c)
	})
}

// A request without a connection has sent nothing, so it has no reason to wait before it asks again.
func TestARequestAsksForAConnectionAgainAtOnce(t *testing.T) {
	hogged(t, rlock.Options{}, func(t *testing.T, c *rlock.Client) {
		for range 100 {
			began := time.Now()
			h := acquire(t, c.Lock("l"))
			granted := time.Now()
			must(t, h.Release(t.Context()))
			if a, r := granted.Sub(began), time.Since(granted); a > 700*time.Millisecond || r > 700*time.Millisecond {
				t.Fatalf("acquired after %v, released after %v", a, r)
			}
			time.Sleep(7 * time.Millisecond)
		}
	})
}

func TestCloseReleasesThoughConnectionsAreRare(t *testing.T) {
	hogged(t, rlock.Options{UnlockOnClose: true}, func(t *testing.T, c *rlock.Client) {
		acquire(t, c.Lock("l"))
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		must(t, c.Close(t.Context()))
		if took := time.Since(began); took > 700*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
	})
}

func TestALeaseIsRenewedThoughConnectionsAreRare(t *testing.T) {
	hogged(t, rlock.Options{Lease: 2 * time.Second}, func(t *testing.T, c *rlock.Client) {
		h := acquire(t, c.Lock("l"))
		time.Sleep(10 * time.Minute)
		must(t, h.Err())
		must(t, h.Release(t.Context()))
	})
}

// MaxActiveConns makes go-redis refuse a connection at once.
func TestARequestAsksAgainSoonWhenThePoolRefusesAConnection(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := srv.Options()
		o.PoolSize, o.PipelinePoolSize, o.MaxActiveConns = 10, -1, 1
		rdb := redis.NewClient(o)
		t.Cleanup(func() { rdb.Close() })
		c := newClient(t, rdb, rlock.Options{})
		warm(t, c)
		time.Sleep(time.Second)
		go rdb.BLPop(context.Background(), 5*time.Second, "none")
		time.Sleep(time.Millisecond)
		began := time.Now()
		release(t, acquire(t, c.Lock("l")))
		if took := time.Since(began); took > 5050*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// The replicas' time counts only once the request was sent.
func TestASingleTryWithReplicasWaitsASecondForAConnectionOfThePool(t *testing.T) {
	for _, patience := range []time.Duration{30 * time.Second, 20 * time.Millisecond} {
		virtually(t, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			o := srv.Options()
			o.PoolSize, o.PoolTimeout = 1, patience
			rdb := redis.NewClient(o)
			t.Cleanup(func() { rdb.Close() })
			c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
			warm(t, c)
			time.Sleep(time.Second)
			go rdb.BLPop(context.Background(), 20*time.Second, "none")
			time.Sleep(time.Millisecond)
			began := time.Now()
			err := try(c.Lock("l"), rlock.Wait(0))
			if took := time.Since(began); took < 900*time.Millisecond || took > 1010*time.Millisecond {
				t.Errorf("PoolTimeout %v: it took %v", patience, took)
			}
			const want = "no connection of the pool (PoolSize 1) was free for 1s"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("PoolTimeout %v: the error is %v, without %q", patience, err, want)
			}
		})
	}
}

func TestASingleTryThatWasSentWaitsForTheReplicasToo(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rdb := srv.Client()
		var r replicas
		rdb.AddHook(&r)
		r.n.Store(1)
		r.confirm.Store(1)
		c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn})
		warm(t, c)
		far(srv, 1500*time.Millisecond)
		must(t, try(c.Lock("l"), rlock.Wait(0)))
		srv.ClearFaults()
	})
}
