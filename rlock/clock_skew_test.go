package rlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// longAgo runs f in a bubble, whose clock begins in the year 2000. The server's clock does
// not. So f is a process whose clock is decades behind. f gets a client of the server over TCP.
func longAgo(t *testing.T, srv *lockredistest.Server, f func(t *testing.T, rdb *redis.Client)) {
	t.Helper()
	addr := srv.Addr()
	synctest.Test(t, func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2})
		defer rdb.Close()
		f(t, rdb)
	})
}

func TestSetLeaseFromAProcessWhoseClockIsBehindCounts(t *testing.T) {
	srv := lockredistest.RunT(t)
	ctx := t.Context()
	p := newClient(t, srv.Client(), rlock.Options{}).PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 2))
	h, err := p.Acquire(ctx, 2, rlock.Lease(time.Minute))
	must(t, err)
	lease := func(least, most time.Duration) {
		t.Helper()
		left, err := p.LeaseTime(ctx, h.IDs()[0])
		must(t, err)
		if left > most || left < least {
			t.Errorf("the lease ends in %v, want %v to %v", left, least, most)
		}
	}
	must(t, p.SetLease(ctx, h.IDs()[0], rlock.Lease(time.Hour)))
	longAgo(t, srv, func(t *testing.T, rdb *redis.Client) {
		behind := newClient(t, rdb, rlock.Options{})
		must(t, behind.PermitSemaphore("p").SetLease(t.Context(), h.IDs()[0], rlock.Lease(30*time.Minute)))
		must(t, behind.Close(t.Context()))
	})
	lease(time.Minute, 30*time.Minute)
	must(t, h.Extend(ctx, 10*time.Minute)) // its changes have other latches than SetLease
	lease(time.Minute, 10*time.Minute)
	must(t, p.SetLease(ctx, h.IDs()[0], rlock.Lease(2*time.Minute)))
	lease(time.Minute, 2*time.Minute)
	release(t, h.Hold)
}

func TestAFairWaiterWhoseClockIsBehindStaysInTheQueue(t *testing.T) {
	srv := lockredistest.RunT(t)
	holder := acquire(t, newClient(t, srv.Client(), rlock.Options{}).FairLock("l"))
	longAgo(t, srv, func(t *testing.T, rdb *redis.Client) {
		ctx := t.Context()
		c := newClient(t, rdb, rlock.Options{ID: "behind"})
		got := rlocksuite.Begin(ctx, c.FairLock("l"))
		channel := "redisson_lock__channel:{l}:behind:1"
		for rdb.PubSubNumSub(ctx, channel).Val()[channel] == 0 {
			must(t, rdb.Ping(ctx).Err())
		}
		now := float64(rdb.Time(ctx).Val().UnixMilli())
		deadline := rdb.ZScore(ctx, rlocksuite.FairTimeouts, "behind:1").Val()
		if deadline < now || deadline > now+float64(10*time.Minute/time.Millisecond) {
			t.Errorf("at %.f the waiter's deadline is %.f", now, deadline)
		}
		must(t, rdb.Del(ctx, "l").Err()) // the holder dies
		must(t, rdb.Publish(ctx, channel, "0").Err())
		h, err := got.Result()
		must(t, err)
		must(t, h.Release(ctx))
		must(t, c.Close(ctx))
	})
	mustBe(t, rlock.ErrLockLost, holder.Release(t.Context()))
}
