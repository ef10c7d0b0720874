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
	locks := []*rlock.Lock{newClient(t, rdb, rlock.Options{}).FairLock("l"),
		newClient(t, rdb, rlock.Options{}).FairLock("l")}
	holder := Acquire(t, ctx, locks[0])
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 10 {
		got := Queues(t, rdb, ctx, locks[i%2])
		wg.Go(func() {
			h, err := got.Result()
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			if err := h.Release(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	Release(t, holder)
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
		return newClient(t, rdb, rlock.Options{ID: id}).FairLock("l")
	}
	a := Acquire(t, ctx, client("a"), rlock.Lease(10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[a:1:1]"})
	MustLive(t, rdb, "l", 10*time.Second)

	gotB := Queues(t, rdb, ctx, client("b"))
	gotC := Queues(t, rdb, ctx, client("c"))
	MustHold(t, rdb, map[string]string{"l": "map[a:1:1]", FairQueue: "[b:1 c:1]",
		FairTimeouts: "[b:1 c:1]"})
	due := time.Now().Add(10*time.Second + 5*time.Minute).UnixMilli()
	if got := score(rdb, "b:1"); got > due || got < due-60_000 {
		t.Fatalf("b's deadline is %d, not %d", got, due)
	}
	if got, want := score(rdb, "c:1"), score(rdb, "b:1")+300000; got != want {
		t.Fatalf("c's time is %d, not %d", got, want)
	}

	turn := score(rdb, "b:1")
	Release(t, a)
	b := gotB.Hold(t)
	MustHold(t, rdb, map[string]string{"l": "map[b:1:1]", FairQueue: "[c:1]", FairTimeouts: "[c:1]"})
	MustLive(t, rdb, "l", 30*time.Second)
	if got := score(rdb, "c:1"); got != turn {
		t.Fatalf("c's time is %d, not %d", got, turn)
	}
	Release(t, b)
	c := gotC.Hold(t)
	MustHold(t, rdb, map[string]string{"l": "map[c:1:1]"})
	Release(t, c)
	MustHold(t, rdb, nil)
}

func (on suite) AWaiterThatStopsWaitingLeavesTheFairQueue(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	stopped, cancel := context.WithCancel(ctx)
	l := newClient(t, rdb, rlock.Options{ID: "c"}).FairLock("l")
	a := Acquire(t, ctx, l)
	gotB := Queues(t, rdb, stopped, l)
	gotLast := Queues(t, rdb, ctx, l)
	turn := score(rdb, "c:2")
	cancel()
	if _, err := gotB.Result(); err != context.Canceled {
		t.Fatal(err)
	}
	eventually(t, "left", func() bool { return rdb.ZCard(ctx, FairTimeouts).Val() == 1 })
	MustHold(t, rdb, map[string]string{"l": "map[c:1:1]", FairQueue: "[c:3]", FairTimeouts: "[c:3]"})
	if got := score(rdb, "c:3"); got != turn {
		t.Fatalf("the next waiter's deadline is %d, not %d", got, turn)
	}
	mustTimeOut(t, Try(ctx, l, rlock.Wait(5*time.Millisecond)))
	eventually(t, "left", func() bool { return rdb.ZCard(ctx, FairTimeouts).Val() == 1 })
	MustHold(t, rdb, map[string]string{"l": "map[c:1:1]", FairQueue: "[c:3]", FairTimeouts: "[c:3]"})
	Release(t, a)
	Release(t, gotLast.Hold(t))
	eventually(t, "no subscriptions", func() bool { return len(channels(t, rdb)) == 0 })
	MustHold(t, rdb, nil)
}

func (on suite) AFairLockRemovesDeadWaitersFromTheQueue(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	Enqueue(rdb, "dead:1", time.Hour)
	Enqueue(rdb, "dead:2", time.Hour)
	l := newClient(t, rdb, rlock.Options{}).FairLock("l")
	mustTimeOut(t, Try(ctx, l))
	MustHold(t, rdb, map[string]string{FairQueue: "[dead:1 dead:2]", FairTimeouts: "[dead:1 dead:2]"})
	start := time.Now()
	for owner, d := range map[string]time.Duration{"dead:1": 150, "dead:2": 200} {
		due := float64(start.Add(d * time.Millisecond).UnixMilli())
		rdb.ZAdd(ctx, FairTimeouts, redis.Z{Score: due, Member: owner})
	}
	h := Acquire(t, ctx, l)
	if waited := time.Since(start); waited < 190*time.Millisecond || waited > patience {
		t.Fatalf("waited for %v", waited)
	}
	MustHold(t, rdb, map[string]string{"l": fmt.Sprintf("map[%s:1]", h.Owner())})
	Release(t, h)
}

func (on suite) TheNextWaiterAcquiresAFairLockAfterTheHolderDied(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	dead := newClient(t, rdb, rlock.Options{Lease: 2 * time.Second}) // on a busy machine too
	Acquire(t, ctx, dead.FairLock("l"))
	l := newClient(t, rdb, rlock.Options{}).FairLock("l")
	first := Queues(t, rdb, ctx, l)
	second := Queues(t, rdb, ctx, l)
	must(t, dead.Close(ctx))
	Release(t, first.Hold(t))
	Release(t, second.Hold(t))
}

func (on suite) ALiveWaiterThatWasRemovedQueuesAgain(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	l := newClient(t, rdb, rlock.Options{ID: "c"}).FairLock("l")
	a := Acquire(t, ctx, l)
	b := Queues(t, rdb, ctx, l)
	last := Queues(t, rdb, ctx, l)
	rdb.ZAdd(ctx, FairTimeouts, redis.Z{Score: 1, Member: "c:2"})
	Release(t, a)
	h := last.Hold(t)
	eventually(t, "queued again", func() bool { return len(queued(rdb)) == 1 })
	Release(t, h)
	Release(t, b.Hold(t))
	MustHold(t, rdb, nil)
}

func (on suite) ForceUnlockOfAFairLockWakesTheFirstWaiter(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	l := newClient(t, rdb, rlock.Options{}).FairLock("l")
	Acquire(t, ctx, l)
	got := Queues(t, rdb, ctx, l)
	if forced, err := l.ForceUnlock(ctx); !forced || err != nil {
		t.Fatal(forced, err)
	}
	Release(t, got.Hold(t))
	if forced, err := l.ForceUnlock(ctx); forced || err != nil {
		t.Fatal(forced, err)
	}
}

// A waiter that has died is first in the queue. The holder had a lease of an hour.
func (on suite) ADeadWaiterOfAFairLockCostsFairWait(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, rdb redis.UniversalClient, h *rlock.Hold){
		"after a release": func(t *testing.T, _ redis.UniversalClient, h *rlock.Hold) { Release(t, h) },
		"after the holder's death": func(t *testing.T, rdb redis.UniversalClient, _ *rlock.Hold) {
			must(t, rdb.Del(t.Context(), "l").Err()) // as when the lease ends: without a message
		},
	} {
		t.Run(name, func(t *testing.T) {
			on.begin(t)
			rdb := on.connect(t)
			ctx := context.Background()
			c := newClient(t, rdb, rlock.Options{FairWait: time.Second})
			holder := Acquire(t, ctx, c.FairLock("l"), rlock.Lease(time.Hour))
			Enqueue(rdb, "dead:1", time.Hour+time.Second)
			Enqueue(rdb, "dead:2", time.Hour+2*time.Second)
			got := Queues(t, rdb, ctx, c.FairLock("l"))
			start := time.Now()
			end(t, rdb, holder)
			h := got.Hold(t)
			if waited := time.Since(start); waited < time.Second {
				t.Errorf("the dead waiters had %v", waited)
			}
			MustHold(t, rdb, map[string]string{"l": fmt.Sprintf("map[%s:1]", h.Owner())})
			Release(t, h)
		})
	}
}
