package rlock_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// TestWhatDeadWaitersOfAFairLockCost measures in virtual time how long a waiter waits behind
// dead waiters, from the moment when the lock is free.
func TestWhatDeadWaitersOfAFairLockCost(t *testing.T) {
	const fairWait = 5 * time.Minute
	release := func(t *testing.T, rdb *redis.Client, h *rlock.Hold) { must(t, h.Release(t.Context())) }
	// A release by Redisson: its message goes to the first waiter, whose deadline stays.
	redisson := func(t *testing.T, rdb *redis.Client, h *rlock.Hold) {
		must(t, rdb.Del(t.Context(), "l").Err())
	}
	// The holder died: its lease ends after a second.
	dies := func(t *testing.T, rdb *redis.Client, h *rlock.Hold) {
		must(t, rdb.PExpire(t.Context(), "l", time.Second).Err())
	}
	for _, c := range []struct {
		name string
		free func(t *testing.T, rdb *redis.Client, h *rlock.Hold)
		dead int
		most time.Duration
	}{
		{"released", release, 1, fairWait},
		{"released, two dead waiters", release, 2, 2 * fairWait},
		{"released by Redisson", redisson, 1, fairWait + fairWait/2},
		{"the holder died", dies, 1, time.Second + fairWait + fairWait/2},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				rdb := srv.Client()
				l := newClient(t, srv.Client(), rlock.Options{}).FairLock("l")
				h := acquire(t, l, rlock.Lease(time.Hour))
				for i := range c.dead {
					rlocksuite.Enqueue(rdb, []string{"dead:1", "dead:2"}[i],
						time.Hour+time.Duration(i+1)*fairWait)
				}
				got := rlocksuite.Queues(t, rdb, t.Context(), l)
				time.Sleep(time.Second)
				start := time.Now()
				c.free(t, rdb, h)
				next, err := got.Result()
				must(t, err)
				if took := time.Since(start); took > c.most+100*time.Millisecond || took < fairWait {
					t.Errorf("the waiter acquires the lock after %v, want %v at most", took, c.most)
				}
				must(t, next.Release(t.Context()))
			})
		})
	}
}

// A waiter that sleeps until the end that Redisson told it is woken when the dead waiter
// before it is removed.
func TestAWaiterOfRedissonBehindADeadWaiterIsWoken(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
		rdb := srv.Client()
		l := newClient(t, srv.Client(), rlock.Options{}).FairLock("l")
		h := acquire(t, l, rlock.Lease(time.Hour))
		rlocksuite.Enqueue(rdb, "dead:1", time.Hour)
		rlocksuite.Enqueue(rdb, "java:1", time.Hour)
		sub := rdb.Subscribe(t.Context(), "redisson_lock__channel:{l}:java:1")
		t.Cleanup(func() { sub.Close() })
		_, err := sub.Receive(t.Context())
		must(t, err)
		rlocksuite.Queues(t, rdb, t.Context(), l)
		release(t, h)
		start := time.Now()
		m, err := sub.ReceiveMessage(t.Context())
		must(t, err)
		if took := time.Since(start); m.Payload != "0" || took > 5*time.Minute+time.Second {
			t.Errorf("the message %q comes after %v", m.Payload, took)
		}
	})
}
