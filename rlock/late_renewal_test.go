package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// TestALateRenewalDoesNotShortenALease sends a renewal that was delayed: meanwhile
// its hold was released, and the same owner began a hold with a longer lease.
func TestALateRenewalDoesNotShortenALease(t *testing.T) {
	eachLock(t, func(t *testing.T, _ *redis.Client, l *rlock.Lock, _ rlocksuite.Kind) {
		h := acquire(t, l, rlock.Lease(10*time.Minute))
		if reply, err := l.NewClaim(1, "").Renew(30 * time.Second); reply != int64(1) || err != nil {
			t.Fatal(reply, err)
		}
		if ttl, err := l.TTL(t.Context()); ttl < 9*time.Minute || err != nil {
			t.Errorf("TTL is %v, %v", ttl, err)
		}
		release(t, h)
	})
}

// TestALateExtendDoesNotShortenTheNextHold delivers an Extend after the release of its
// hold. The next hold has the same owner, because both are inside another lock.
func TestALateExtendDoesNotShortenTheNextHold(t *testing.T) {
	t.Parallel()
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				c := newClient(t, srv.Client(), rlock.Options{})
				l := k.Make(c, "l")
				outer := acquire(t, c.Lock("outer"))
				h := acquireIn(t, outer.Context(), l, rlock.Lease(time.Minute))
				must(t, h.Extend(t.Context(), time.Minute)) // so that the server has the script

				late := srv.HoldRequest(lockredistest.Match{
					Script: "overtaken()", Times: lockredistest.Always,
				}, time.Hour)
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				mustBe(t, context.DeadlineExceeded, h.Extend(ctx, 2*time.Second))
				must(t, late.Wait(t.Context(), 1))
				release(t, h)
				next := acquireIn(t, outer.Context(), l, rlock.Lease(time.Minute))
				if next.Owner() != h.Owner() {
					t.Fatalf("the owners are %s and %s", h.Owner(), next.Owner())
				}
				late.Clear()
				if ttl, err := l.TTL(t.Context()); ttl < 50*time.Second || err != nil {
					t.Errorf("after the late Extend the lease is %v, %v", ttl, err)
				}
				release(t, next, outer)
			})
		})
	}
}
