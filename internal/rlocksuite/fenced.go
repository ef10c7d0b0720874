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
	clients := []*rlock.Client{newClient(t, rdb, rlock.Options{}), newClient(t, rdb, rlock.Options{})}
	var last int64
	var wg sync.WaitGroup
	for i := range 6 {
		l := clients[i%2].FencedLock("l")
		wg.Go(func() {
			for range 10 {
				err := l.Do(ctx, func(context.Context) error {
					if token := l.Token(); token <= last {
						return fmt.Errorf("token %d after %d", token, last)
					} else {
						last = token
					}
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

func (on suite) AFencedLockHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	l := newClient(t, rdb, rlock.Options{ID: "me"}).FencedLock("l")
	other := newClient(t, rdb, rlock.Options{}).FencedLock("l")
	if l.Token() != 0 {
		t.Fatal("a token before a hold")
	}
	must(t, l.LockLease(ctx, 10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1]", "redisson_lock_token:{l}": "1"})
	MustLive(t, rdb, "l", 10*time.Second)
	must(t, l.LockLease(ctx, 20*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:2]", "redisson_lock_token:{l}": "2"})
	MustLive(t, rdb, "l", 20*time.Second)
	mustTimeOut(t, other.TryLock(ctx, 0, 0))
	if l.Token() != 2 || other.Token() != 0 {
		t.Fatal(l.Token(), other.Token())
	}
	must(t, l.Unlock(ctx))
	must(t, l.Unlock(ctx))
	MustHold(t, rdb, map[string]string{"redisson_lock_token:{l}": "2"})
	if l.Token() != 0 {
		t.Fatal("a token after the hold")
	}
	if ttl := rdb.PTTL(ctx, "redisson_lock_token:{l}").Val(); ttl != -1 {
		t.Fatalf("the counter's time to live is %v, not none", ttl)
	}
}
