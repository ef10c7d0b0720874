package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// TestALateRenewalDoesNotShortenALease sends a renewal that was delayed: meanwhile
// its hold was released, and the same owner began a hold with a longer lease.
func TestALateRenewalDoesNotShortenALease(t *testing.T) {
	ctx := context.Background()
	c := newClient(t, connect(t), rlock.Options{})
	rw := c.RWLock("rw")
	for name, l := range map[string]*rlock.Lock{
		"lock": c.Lock("lock"), "fair": c.FairLock("fair"), "spin": c.SpinLock("spin"),
		"read": rw.Read(), "write": rw.Write(),
	} {
		must(t, l.LockLease(ctx, 10*time.Minute))
		if reply, err := l.SendRenew(30 * time.Second); reply != int64(1) || err != nil {
			t.Fatal(name, reply, err)
		}
		if ttl, err := l.TTL(ctx); ttl < 9*time.Minute || err != nil {
			t.Errorf("%s: TTL is %v, %v", name, ttl, err)
		}
		must(t, l.Unlock(ctx))
	}
}
