package rlocksuite

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) AFairLockIsAcquiredInArrivalOrder(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	clients := []*rlock.Client{newClient(t, rdb, rlock.Options{}), newClient(t, rdb, rlock.Options{})}
	holder := clients[0].FairLock("l")
	must(t, holder.Lock(ctx))
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 10 {
		l := clients[i%2].FairLock("l")
		got := Queues(t, rdb, ctx, l)
		wg.Go(func() {
			if err := <-got; err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			if err := l.Unlock(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	must(t, holder.Unlock(ctx))
	wg.Wait()
	if !slices.IsSorted(order) || len(order) != 10 {
		t.Fatalf("acquired in the order %v", order)
	}
	MustHold(t, rdb, nil)
}

func (on suite) AFairQueueHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	client := func(id string) *rlock.Lock {
		return newClient(t, rdb,
			rlock.Options{ID: id}).FairLock("l")
	}
	a, b, c := client("a"), client("b"), client("c")
	must(t, a.LockLease(ctx, 10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[a:1:1]"})
	MustLive(t, rdb, "l", 10*time.Second)

	gotB := Queues(t, rdb, ctx, b)
	gotC := Queues(t, rdb, ctx, c)
	MustHold(t, rdb, map[string]string{"l": "map[a:1:1]", FairQueue: "[b:1 c:1]",
		FairTimeouts: "[b:1 c:1]"})
	due := time.Now().Add(10*time.Second + 5*time.Minute).UnixMilli()
	if got := score(rdb, "b:1"); got > due || got < due-2000 {
		t.Fatalf("b's deadline is %d, not %d", got, due)
	}
	if got, want := score(rdb, "c:1"), score(rdb, "b:1")+300000; got != want {
		t.Fatalf("c's time is %d, not %d", got, want)
	}

	turn := score(rdb, "b:1")
	must(t, a.Unlock(ctx))
	soon(t, gotB)
	MustHold(t, rdb, map[string]string{"l": "map[b:1:1]", FairQueue: "[c:1]", FairTimeouts: "[c:1]"})
	MustLive(t, rdb, "l", 30*time.Second)
	if got := score(rdb, "c:1"); got != turn {
		t.Fatalf("c's time is %d, not %d", got, turn)
	}
	must(t, b.Unlock(ctx))
	soon(t, gotC)
	MustHold(t, rdb, map[string]string{"l": "map[c:1:1]"})
	must(t, c.Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) AWaiterThatStopsWaitingLeavesTheFairQueue(t *testing.T) {
	rdb := on.connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	c := newClient(t, rdb, rlock.Options{ID: "c"})
	a, b, last := c.FairLock("l"), c.FairLock("l"), c.FairLock("l")
	must(t, a.Lock(ctx))
	gotB := Queues(t, rdb, ctx, b)
	gotLast := Queues(t, rdb, context.Background(), last)
	turn := score(rdb, "c:2")
	cancel()
	if err := <-gotB; err != context.Canceled {
		t.Fatal(err)
	}
	eventually(t, "left", func() bool { return rdb.LLen(context.Background(), FairQueue).Val() == 1 })
	MustHold(t, rdb, map[string]string{"l": "map[c:1:1]", FairQueue: "[c:3]", FairTimeouts: "[c:3]"})
	if got := score(rdb, "c:3"); got != turn {
		t.Fatalf("the next waiter's deadline is %d, not %d", got, turn)
	}
	mustTimeOut(t, c.FairLock("l").TryLock(context.Background(), 5*time.Millisecond, 0))
	MustHold(t, rdb, map[string]string{"l": "map[c:1:1]", FairQueue: "[c:3]", FairTimeouts: "[c:3]"})
	must(t, a.Unlock(context.Background()))
	soon(t, gotLast)
	must(t, last.Unlock(context.Background()))
	eventually(t, "no subscriptions", func() bool {
		return len(channels(t, rdb)) == 0
	})
	MustHold(t, rdb, nil)
}

func (on suite) AFairLockRemovesDeadWaitersFromTheQueue(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	Enqueue(rdb, "dead:1", 150*time.Millisecond)
	Enqueue(rdb, "dead:2", 200*time.Millisecond)
	l := newClient(t, rdb, rlock.Options{}).FairLock("l")
	start := time.Now()
	mustTimeOut(t, l.TryLock(ctx, 0, 0))
	MustHold(t, rdb, map[string]string{FairQueue: "[dead:1 dead:2]", FairTimeouts: "[dead:1 dead:2]"})
	must(t, l.Lock(ctx))
	if waited := time.Since(start); waited < 190*time.Millisecond || waited > 5*time.Second {
		t.Fatalf("waited for %v", waited)
	}
	MustHold(t, rdb, map[string]string{"l": fmt.Sprintf("map[%s:1]", l.Owner())})
	must(t, l.Unlock(ctx))
}

func (on suite) TheNextWaiterAcquiresAFairLockAfterTheHolderDied(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	dead := newClient(t, rdb, rlock.Options{Lease: 200 * time.Millisecond})
	must(t, dead.FairLock("l").Lock(ctx))
	c := newClient(t, rdb, rlock.Options{})
	first, second := c.FairLock("l"), c.FairLock("l")
	gotFirst := Queues(t, rdb, ctx, first)
	gotSecond := Queues(t, rdb, ctx, second)
	must(t, dead.Close())
	soon(t, gotFirst)
	must(t, first.Unlock(ctx))
	soon(t, gotSecond)
	must(t, second.Unlock(ctx))
}

func (on suite) ALiveWaiterThatWasRemovedQueuesAgain(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{ID: "c"})
	a, b, last := c.FairLock("l"), c.FairLock("l"), c.FairLock("l")
	must(t, a.Lock(ctx))
	gotB := Queues(t, rdb, ctx, b)
	gotLast := Queues(t, rdb, ctx, last)
	rdb.ZAdd(ctx, FairTimeouts, redis.Z{Score: 1, Member: "c:2"})
	must(t, a.Unlock(ctx))
	soon(t, gotLast)
	eventually(t, "queued again", func() bool { return rdb.LLen(ctx, FairQueue).Val() == 1 })
	must(t, last.Unlock(ctx))
	soon(t, gotB)
	must(t, b.Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) ForceUnlockOfAFairLockWakesTheFirstWaiter(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	must(t, c.FairLock("l").Lock(ctx))
	l := c.FairLock("l")
	got := Queues(t, rdb, ctx, l)
	if forced, err := c.FairLock("l").ForceUnlock(ctx); !forced || err != nil {
		t.Fatal(forced, err)
	}
	soon(t, got)
	must(t, l.Unlock(ctx))
	if forced, err := l.ForceUnlock(ctx); forced || err != nil {
		t.Fatal(forced, err)
	}
}
