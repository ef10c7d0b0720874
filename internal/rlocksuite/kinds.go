package rlocksuite

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) EveryKindButTheReadLockExcludes(t *testing.T) {
	for _, k := range Kinds() {
		if k.Label == "read" {
			continue
		}
		t.Run(k.Label, func(t *testing.T) {
			rdb := on.connect(t)
			ctx := context.Background()
			n := 0
			var wg sync.WaitGroup
			clients := []*rlock.Client{newClient(t, rdb, rlock.Options{}),
				newClient(t, rdb, rlock.Options{})}
			for i := range 8 {
				l := k.Make(clients[i%2], "l")
				wg.Go(func() {
					for range 10 {
						if err := l.Do(ctx, func(context.Context) error { n++; return nil }); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if n != 80 {
				t.Fatalf("counted %d", n)
			}
			rest := Contents(t, rdb)
			delete(rest, "redisson_lock_token:{l}")
			if len(rest) > 0 {
				t.Fatalf("left over: %v", rest)
			}
		})
	}
}

func (on suite) EveryKindIsReentrantForItsOwner(t *testing.T) {
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, k Kind) {
		ctx := context.Background()
		must(t, me.Lock(ctx))
		must(t, me.TryLock(ctx, 0, 0))
		if got := rdb.HGet(ctx, "l", k.Field).Val(); got != "2" {
			t.Fatalf("count is %q", got)
		}
		if n, err := me.HoldCount(ctx); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		must(t, me.Unlock(ctx))
		if held, err := me.HeldByMe(ctx); !held || err != nil {
			t.Fatal(held, err)
		}
		if held, err := you.HeldByMe(ctx); held || err != nil {
			t.Fatal(held, err)
		}
		if locked, err := you.IsLocked(ctx); !locked || err != nil {
			t.Fatal(locked, err)
		}
		must(t, me.Unlock(ctx))
		if err := me.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
		if locked, err := you.IsLocked(ctx); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}

func (on suite) AnOwnerThatLostItsHoldGetsErrLockLost(t *testing.T) {
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, _ Kind) {
		ctx := context.Background()
		must(t, me.Lock(ctx))
		if forced, err := you.ForceUnlock(ctx); !forced || err != nil {
			t.Fatal(forced, err)
		}
		if err := me.Lock(ctx); !errors.Is(err, rlock.ErrLockLost) {
			t.Fatal(err)
		}
		<-me.Lost()
		if err := me.Unlock(ctx); !errors.Is(err, rlock.ErrLockLost) {
			t.Fatal(err)
		}
		must(t, me.Lock(ctx))
		must(t, me.Unlock(ctx))
	})
}

func (on suite) AReleaseWakesAWaiter(t *testing.T) {
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, k Kind) {
		if k.Label == "read" {
			return // readers do not wait for readers
		}
		ctx := context.Background()
		must(t, me.Lock(ctx))
		got := start(func() error { return you.Lock(ctx) })
		contended(t, rdb, k)
		must(t, me.Unlock(ctx))
		soon(t, got)
		must(t, you.Unlock(ctx))
	})
}
