package rlocksuite

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// LeaseOf returns the rest of the lease of an owner of the lock l, on the server.
func LeaseOf(t testing.TB, rdb redis.UniversalClient, k Kind, owner string) time.Duration {
	t.Helper()
	key := "l"
	if k.Label == "read" { // the lease of the hash may be longer
		key = "{l}:" + owner + ":rwlock_timeout:1"
	}
	ttl, err := rdb.PTTL(context.Background(), key).Result()
	must(t, err)
	return ttl
}

func (on suite) ExtendsAtOnceTrustTheLeaseOfTheServer(t *testing.T) {
	atOnce := func(t *testing.T, h *rlock.Hold, lease func() time.Duration) {
		for range 5 {
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if err := h.Extend(t.Context(), time.Duration(30+i*7%20)*time.Second); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			trusted := h.Until() // read first: the process may stop before lease
			if left := lease(); time.Until(trusted) > left {
				t.Fatalf("trusted for %v, the server's lease is %v", time.Until(trusted), left)
			}
		}
	}
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, _ *rlock.Lock, k Kind) {
		h := Acquire(t, t.Context(), me, rlock.Lease(time.Minute))
		atOnce(t, h, func() time.Duration { return LeaseOf(t, rdb, k, h.Owner()) })
		Release(t, h)
	})
	t.Run("permits", func(t *testing.T) {
		p := newClient(t, on.connect(t), rlock.Options{}).PermitSemaphore("p")
		must(t, p.SetPermits(t.Context(), 2))
		h, err := p.Acquire(t.Context(), 2, rlock.Lease(time.Minute))
		must(t, err)
		atOnce(t, h.Hold, func() time.Duration {
			left, err := p.LeaseTime(t.Context(), h.IDs()[1])
			must(t, err)
			return left
		})
		must(t, h.Release(t.Context()))
	})
}
