package rlock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestRandomFaultsNeverMakeTwoHoldersAndLeaveNoKeys(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	srv := lockredistest.RunT(t)
	kinds := map[string]func(*rlock.Client) *rlock.Lock{
		"lock":   func(c *rlock.Client) *rlock.Lock { return c.Lock("lock") },
		"fair":   func(c *rlock.Client) *rlock.Lock { return c.FairLock("fair") },
		"write":  func(c *rlock.Client) *rlock.Lock { return c.RWLock("write").Write() },
		"fenced": func(c *rlock.Client) *rlock.Lock { return c.FencedLock("fenced").AsLock() },
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var wg sync.WaitGroup
	var clients []*rlock.Client
	for range 2 {
		clients = append(clients, newClient(t, srv.Client(), rlock.Options{}))
	}
	for name, lockOf := range kinds {
		var inside, times atomic.Int32
		for i := range 4 {
			wg.Go(func() {
				l, inner := lockOf(clients[i%2]), clients[i%2].FairLock(name+":inner")
				for ctx.Err() == nil {
					_ = l.Do(ctx, func(ctx context.Context) error {
						if n := inside.Add(1); n != 1 {
							t.Errorf("%s: %d at a time", name, n)
						}
						times.Add(1)
						work := func(context.Context) error { return nil }
						_ = l.Do(ctx, work) // re-enters
						_ = inner.Do(ctx, work)
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
				srv.Cut(lockredistest.Connections{})
			case 1:
				srv.Hang()
			case 2:
				cutOff(srv, "")
			case 3, 4:
				srv.ClearFaults()
			case 5:
				srv.HoldRequest(lockredistest.Match{Command: "evalsha", Nth: 1 + rand.N(6)},
					rand.N(100*time.Millisecond))
			case 6:
				srv.DropMessage(lockredistest.MessageMatch{Times: 3})
			default:
				loseReplies(srv, 0, 1+rand.N(5))
			}
		}
	})
	wg.Wait()
	if end, _ := ctx.Deadline(); time.Since(end) > 10*time.Second {
		t.Errorf("the last one ended %v after its context", time.Since(end))
	}
	srv.ClearFaults()
	eventually(t, "all is released", func() bool {
		return !slices.ContainsFunc([]string{"lock", "fair", "write", "fenced",
			"redisson_lock_queue:{fair}"}, srv.Exists)
	})
	for _, c := range clients {
		for name, lockOf := range kinds {
			if err := try(lockOf(c), rlock.Lease(time.Minute)); err != nil &&
				!errors.Is(err, rlock.ErrTimeout) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestAMultiLockHoldsNothingWhenOneServerIsDown(t *testing.T) {
	eachOutage(t, func(t *testing.T, o outage) {
		up, down := lockredistest.RunT(t), lockredistest.RunT(t)
		here := newClient(t, up.Client(), rlock.Options{})
		there := newClient(t, down.Client(), rlock.Options{})
		warm(t, there)
		free := func(srv *lockredistest.Server) {
			t.Helper()
			eventually(t, "the part is free", func() bool { return !srv.Exists("a") && !srv.Exists("b") })
		}
		m := rlock.Multi(here.Lock("a"), there.Lock("b"))
		end := o.begin(t, down)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := m.Acquire(ctx)
		deadline, _ := ctx.Deadline()
		if late := time.Since(deadline); err == nil || late > allowed {
			t.Fatalf("%v, %v after its context's end", err, late)
		}
		free(up)
		end()
		free(down)
		h, err := m.Acquire(t.Context(), rlock.Lease(time.Minute))
		must(t, err)
		end = o.begin(t, down)
		ended, cancelled := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancelled()
		if err := h.Release(ended); err == nil {
			t.Fatal("unlocked without an answer")
		}
		free(up)
		end()
		free(down)
	})
}
