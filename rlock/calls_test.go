package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

// eachLock runs f for every kind of lock, each on a new server, with the client "me".
func eachLock(t *testing.T,
	f func(t *testing.T, rdb *redis.Client, me *rlock.Lock, k rlocksuite.Kind)) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			rdb := connect(t)
			f(t, rdb, k.Make(newClient(t, rdb, rlock.Options{ID: "me"}), "l"), k)
		})
	}
}

func TestACallSentTwiceTakesEffectOnce(t *testing.T) {
	eachLock(t, func(t *testing.T, rdb *redis.Client, me *rlock.Lock, k rlocksuite.Kind) {
		twice := func(send func() (any, error), count string) any {
			t.Helper()
			first, err := send()
			must(t, err)
			after := rlocksuite.Contents(t, rdb)
			if got := rdb.HGet(context.Background(), "l", k.Field).Val(); got != count {
				t.Fatalf("count is %q, not %q", got, count)
			}
			second, err := send()
			must(t, err)
			if fmt.Sprint(first) != fmt.Sprint(second) {
				t.Fatalf("first reply %v, second reply %v", first, second)
			}
			rlocksuite.MustHold(t, rdb, after)
			return first
		}
		acquire := func(held int) func() (any, error) {
			return func() (any, error) { return me.SendAcquire(time.Minute, held, true) }
		}
		release := func(latch string) func() (any, error) {
			return func() (any, error) { return me.SendRelease(latch, time.Minute) }
		}
		twice(acquire(0), "1")
		twice(acquire(1), "2")
		twice(acquire(2), "3")
		for range 2 {
			if _, err := me.SendUndo(2, "u"); err != nil {
				t.Fatal(err)
			}
		}
		if got := twice(release("a"), "1"); got != int64(0) {
			t.Fatal(got)
		}
		if got := twice(release("b"), ""); got != int64(1) {
			t.Fatal(got)
		}
		if got := twice(release("c"), ""); got != nil {
			t.Fatal(got)
		}
		twice(acquire(0), "1")
		if _, err := me.SendUndo(0, "v"); err != nil {
			t.Fatal(err)
		}
		twice(acquire(0), "1") // the same owner again, before the undo is sent again
		if _, err := me.SendUndo(0, "v"); err != nil {
			t.Fatal(err)
		}
		if got := rdb.HGet(context.Background(), "l", k.Field).Val(); got != "1" {
			t.Fatalf("count is %q after a repeated undo", got)
		}
		if got := twice(release("d"), ""); got != int64(1) {
			t.Fatal(got)
		}
		if locked, err := me.IsLocked(context.Background()); locked || err != nil {
			t.Fatal(locked, err)
		}
	})
}

func TestUnlockOfALostHoldReleasesAllItsCounts(t *testing.T) {
	eachLock(t, func(t *testing.T, rdb *redis.Client, me *rlock.Lock, _ rlocksuite.Kind) {
		ctx := context.Background()
		must(t, me.LockLease(ctx, time.Minute))
		must(t, me.Lock(ctx))
		if forced, err := me.ForceUnlock(ctx); !forced || err != nil {
			t.Fatal(forced, err)
		}
		for held := range 2 {
			if _, err := me.SendAcquire(time.Minute, held, true); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := me.Unlock(ctx); !errors.Is(err, rlock.ErrLockLost) {
				t.Fatal(err)
			}
		}
		must(t, me.Lock(ctx))
		must(t, me.Unlock(ctx))
		if locked, err := me.IsLocked(ctx); locked || err != nil {
			t.Fatal("still locked", err)
		}
	})
}

func TestARenewalOfALockThatIsNotHeldReturnsZero(t *testing.T) {
	eachLock(t, func(t *testing.T, rdb *redis.Client, me *rlock.Lock, _ rlocksuite.Kind) {
		if got, err := me.SendRenew(time.Minute); got != int64(0) || err != nil {
			t.Fatal(got, err)
		}
		must(t, me.LockLease(context.Background(), 20*time.Second))
		if got, err := me.SendRenew(time.Minute); got != int64(1) || err != nil {
			t.Fatal(got, err)
		}
		rlocksuite.MustLive(t, rdb, "l", time.Minute)
	})
}

func TestTheNextWaiterIsWokenWhenTheFirstLeavesAFreeFairLock(t *testing.T) {
	rdb := connect(t)
	ctx := context.Background()
	gone := newClient(t, rdb, rlock.Options{ID: "gone"}).FairLock("l")
	rlocksuite.Enqueue(rdb, "gone:1", time.Minute)
	l := newClient(t, rdb, rlock.Options{}).FairLock("l")
	got := rlocksuite.Queues(t, rdb, ctx, l)
	if _, err := gone.SendLeave(); err != nil {
		t.Fatal(err)
	}
	must(t, <-got)
	must(t, l.Unlock(ctx))
	rlocksuite.MustHold(t, rdb, nil)
}

func TestAnOwnerIsInTheFairQueueOnce(t *testing.T) {
	rdb := connect(t)
	ctx := context.Background()
	must(t, newClient(t, rdb, rlock.Options{ID: "a"}).FairLock("l").Lock(ctx))
	b := newClient(t, rdb, rlock.Options{ID: "b"}).FairLock("l")
	c := newClient(t, rdb, rlock.Options{ID: "c"}).FairLock("l")
	for range 2 {
		for _, l := range []*rlock.Lock{b, c} {
			if _, err := l.SendAcquire(time.Minute, 0, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{"l": "map[a:1:1]", rlocksuite.FairQueue: "[b:1 c:1]",
		rlocksuite.FairTimeouts: "[b:1 c:1]"}
	rlocksuite.MustHold(t, rdb, want)
	turn := rdb.ZScore(ctx, rlocksuite.FairTimeouts, "b:1").Val()
	for range 2 {
		if _, err := b.SendLeave(); err != nil {
			t.Fatal(err)
		}
	}
	rlocksuite.MustHold(t, rdb,
		map[string]string{"l": "map[a:1:1]", rlocksuite.FairQueue: "[c:1]",
			rlocksuite.FairTimeouts: "[c:1]"})
	if got := rdb.ZScore(ctx, rlocksuite.FairTimeouts, "c:1").Val(); got != turn {
		t.Fatalf("c's deadline is %.0f, not %.0f", got, turn)
	}
}

func TestAWriteRenewalDoesNotShortenTheWritersReadLease(t *testing.T) {
	rdb := connect(t)
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	must(t, rw.Write().LockLease(context.Background(), 10*time.Second))
	must(t, rw.Read().LockLease(context.Background(), time.Minute))
	if got, err := rw.Write().SendRenew(10 * time.Second); got != int64(1) || err != nil {
		t.Fatal(got, err)
	}
	rlocksuite.MustLive(t, rdb, "l", time.Minute)
}
