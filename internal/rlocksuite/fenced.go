package rlocksuite

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) TheTokensOfAFencedLockGrow(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	locks := []*rlock.FencedLock{newClient(t, rdb, rlock.Options{}).FencedLock("l"),
		newClient(t, rdb, rlock.Options{}).FencedLock("l")}
	var last int64
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for range 10 {
				err := locks[i%2].Do(ctx, func(_ context.Context, token int64) error {
					if token <= last {
						return fmt.Errorf("token %d after %d", token, last)
					}
					last = token
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	MustHold(t, rdb, map[string]string{"redisson_lock_token:{l}": "60"})
	if last != 60 {
		t.Fatalf("after 60 holds the token is %d", last)
	}
}

// An inner hold has the token of the hold that it re-entered. Redisson's would have the
// next one.
func (on suite) AFencedLockHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	l := newClient(t, rdb, rlock.Options{ID: "me"}).FencedLock("l")
	other := newClient(t, rdb, rlock.Options{}).FencedLock("l")
	outer, err := l.Acquire(ctx, rlock.Lease(10*time.Second))
	must(t, err)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1]", "redisson_lock_token:{l}": "1"})
	MustLive(t, rdb, "l", 10*time.Second)
	inner, err := l.Acquire(outer.Context(), rlock.Lease(20*time.Second))
	must(t, err)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1]", "redisson_lock_token:{l}": "1"})
	MustLive(t, rdb, "l", 20*time.Second)
	_, err = other.Acquire(ctx, rlock.Wait(0))
	mustTimeOut(t, err)
	if outer.Token() != 1 || inner.Token() != 1 {
		t.Fatal(outer.Token(), inner.Token())
	}
	Release(t, inner.Hold, outer.Hold)
	MustHold(t, rdb, map[string]string{"redisson_lock_token:{l}": "1"})
	if ttl := rdb.PTTL(ctx, "redisson_lock_token:{l}").Val(); ttl != -1 {
		t.Fatalf("the counter's time to live is %v, not none", ttl)
	}
	h, err := other.Acquire(ctx)
	must(t, err)
	if h.Token() != 2 {
		t.Fatal(h.Token())
	}
	Release(t, h.Hold)
}
