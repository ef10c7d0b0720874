package rlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func TestRandomFaultsNeverMakeTwoHoldersAndLeaveNoKeys(t *testing.T) {
	p, direct := throughProxy(t)
	kinds := map[string]func(*rlock.Client) *rlock.Lock{
		"lock":   func(c *rlock.Client) *rlock.Lock { return c.Lock("lock") },
		"fair":   func(c *rlock.Client) *rlock.Lock { return c.FairLock("fair") },
		"write":  func(c *rlock.Client) *rlock.Lock { return c.RWLock("write").Write() },
		"fenced": func(c *rlock.Client) *rlock.Lock { return c.FencedLock("fenced") },
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var wg sync.WaitGroup
	var clients []*rlock.Client
	for range 2 {
		clients = append(clients, newClient(t, p.dial(t), rlock.Options{}))
	}
	for name, lockOf := range kinds {
		var inside, times atomic.Int32
		for i := range 4 {
			wg.Go(func() {
				l := lockOf(clients[i%2])
				for ctx.Err() == nil {
					_ = l.Do(ctx, func(ctx context.Context) error {
						if n := inside.Add(1); n != 1 {
							t.Errorf("%s: %d at a time", name, n)
						}
						times.Add(1)
						if l.Lock(ctx) == nil { // nested, so that its replies are lost too
							_ = l.Unlock(ctx)
						}
						inside.Add(-1)
						return nil
					})
				}
			})
		}
		t.Cleanup(func() { t.Logf("%s: %d times", name, times.Load()) })
	}
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			<-tick.C
			switch rand.N(10) {
			case 0:
				p.endLinks()
			case 1:
				p.hang()
			case 2:
				p.cut()
			case 3, 4:
				p.heal()
			default:
				p.loseReplies("evalsha", rand.N(6))
			}
		}
	})
	wg.Wait()
	if end, _ := ctx.Deadline(); time.Since(end) > time.Second {
		t.Errorf("the last one ended %v after its context", time.Since(end))
	}
	p.heal()
	eventually(t, "all is released", func() bool {
		return direct.Exists(t.Context(), "lock", "fair", "write", "fenced",
			"redisson_lock_queue:{fair}").Val() == 0
	})
	for _, c := range clients {
		for name, lockOf := range kinds {
			if err := lockOf(c).TryLock(t.Context(), 0, time.Second); err != nil &&
				!errors.Is(err, rlock.ErrTimeout) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAMultiLockHoldsNothingWhenOneServerIsDown(t *testing.T) {
	p, direct := throughProxy(t)
	rdb := connect(t)
	here, there := newClient(t, rdb, rlock.Options{}), newClient(t, p.dial(t), rlock.Options{})
	warm(t, there)
	for _, f := range connectionFaults() {
		t.Run("connection "+f.name, func(t *testing.T) {
			m := rlock.NewMultiLock(here.Lock("a"), there.Lock("b"))
			f.make(p)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			err := m.Lock(ctx)
			end, _ := ctx.Deadline()
			if err == nil || time.Since(end) > allowed {
				t.Fatalf("%v, %v after its context's end", err, time.Since(end))
			}
			eventually(t, "the first part is free", func() bool { return keys(t, rdb) == nil })
			p.heal()
			eventually(t, "the second part is free", func() bool { return keys(t, direct) == nil })
			must(t, m.LockLease(t.Context(), time.Minute))
			f.make(p)
			ended, cancelled := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancelled()
			if err := m.Unlock(ended); err == nil {
				t.Fatal("unlocked without an answer")
			}
			if left := keys(t, rdb); left != nil {
				t.Fatalf("one server's fault keeps %v on the other", left)
			}
			p.heal()
			eventually(t, "the second part is free", func() bool { return keys(t, direct) == nil })
		})
	}
}
