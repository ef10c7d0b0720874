package rlock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

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
