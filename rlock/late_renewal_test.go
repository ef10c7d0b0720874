package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// TestARenewalThatComesLateShortensNoLease is about a renewal that was on its way
// while its hold was released and the owner began a longer one.
func TestARenewalThatComesLateShortensNoLease(t *testing.T) {
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
			t.Errorf("%s: %v is left of it, %v", name, ttl, err)
		}
		must(t, l.Unlock(ctx))
	}
}
