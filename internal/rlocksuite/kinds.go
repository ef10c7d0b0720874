package rlocksuite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

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
			locks := []*rlock.Lock{k.Make(clients[0], "l"), k.Make(clients[1], "l")}
			for i := range 8 {
				wg.Go(func() {
					for range 10 {
						if err := locks[i%2].Do(ctx, func(context.Context) error { n++; return nil }); err != nil {
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

// An inner hold is local: the server counts the owner's holds once.
func (on suite) EveryKindIsReentrantForItsOwner(t *testing.T) {
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, k Kind) {
		ctx := context.Background()
		outer := Acquire(t, ctx, me)
		inner := Acquire(t, outer.Context(), me, rlock.Wait(0))
		counted := func(want int) {
			t.Helper()
			if n, err := you.HoldCount(ctx, "me:1"); n != want || err != nil {
				t.Fatal(n, err)
			}
			if locked, err := you.IsLocked(ctx); locked != (want > 0) || err != nil {
				t.Fatal(locked, err)
			}
		}
		if got := rdb.HGet(ctx, "l", k.Field).Val(); got != "1" || inner.Owner() != "me:1" {
			t.Fatalf("the hold count of %s is %q", inner.Owner(), got)
		}
		counted(1)
		Release(t, inner)
		counted(1)
		if n, err := me.HoldCount(ctx, "you:1"); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if err := inner.Release(ctx); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
		Release(t, outer)
		counted(0)
		if err := outer.Release(ctx); !errors.Is(err, rlock.ErrNotHeld) {
			t.Fatal(err)
		}
	})
}

func (on suite) AnOwnerThatLostItsHoldGetsErrLockLost(t *testing.T) {
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, _ Kind) {
		ctx := context.Background()
		force := func() {
			t.Helper()
			if forced, err := you.ForceUnlock(ctx); !forced || err != nil {
				t.Fatal(forced, err)
			}
		}
		lost := func(what string, err error) {
			t.Helper()
			if !errors.Is(err, rlock.ErrLockLost) {
				t.Fatalf("%s: %v", what, err)
			}
		}
		h := Acquire(t, ctx, me)
		force()
		lost("Release", h.Release(ctx))

		outer := Acquire(t, ctx, me)
		inner := Acquire(t, outer.Context(), me)
		force()
		lost("Extend", inner.Extend(ctx, time.Minute))
		for _, h := range []*rlock.Hold{inner, outer} {
			<-h.Lost()
			<-h.Context().Done()
			lost("Err", h.Err())
			lost("Release", h.Release(ctx))
		}
		Release(t, Acquire(t, ctx, me))
	})
}

func (on suite) AReleaseWakesAWaiter(t *testing.T) {
	on.eachLock(t, func(t *testing.T, rdb redis.UniversalClient, me, you *rlock.Lock, k Kind) {
		if k.Label == "read" {
			return // readers do not wait for readers
		}
		h := Acquire(t, t.Context(), me)
		got := Begin(t.Context(), you)
		contended(t, rdb, k)
		Release(t, h)
		Release(t, got.Hold(t))
	})
}
