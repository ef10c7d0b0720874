package rlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/rlock"
)

// twoServers starts two servers and returns an rlock and a go-redis client of each.
func twoServers(t *testing.T, o rlock.Options) (a, b *rlock.Client, rdbA, rdbB *redis.Client) {
	t.Helper()
	rdbA, rdbB = holding(t).Client(), holding(t).Client()
	return newClient(t, rdbA, o), newClient(t, rdbB, o), rdbA, rdbB
}

// keys returns which of the keys a and b exist on the servers.
func keys(t *testing.T, dbs ...*redis.Client) (all []string) {
	t.Helper()
	for _, rdb := range dbs {
		for _, name := range []string{"a", "b"} {
			if n, err := rdb.Exists(context.Background(), name).Result(); err != nil {
				t.Fatal(err)
			} else if n == 1 {
				all = append(all, name)
			}
		}
	}
	return all
}

func TestAMultiLockTakesAllOrNone(t *testing.T) {
	ctx := context.Background()
	ca, cb, rdbA, rdbB := twoServers(t, rlock.Options{})
	m := rlock.Multi(ca.Lock("a"), cb.Lock("b"))
	locked := func(want ...string) {
		t.Helper()
		if got := keys(t, rdbA, rdbB); !slices.Equal(got, want) {
			t.Fatalf("locked are %v, not %v", got, want)
		}
	}
	outer, err := m.Acquire(ctx)
	must(t, err)
	locked("a", "b")
	inner, err := m.Acquire(outer.Context())
	must(t, err)
	release(t, inner)
	locked("a", "b")
	must(t, outer.Err())
	release(t, outer)
	locked()
	mustBe(t, rlock.ErrNotHeld, outer.Release(ctx))
	other := acquire(t, cb.Lock("b"))
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		_, err := m.Acquire(ctx, rlock.Wait(wait))
		mustBe(t, rlock.ErrTimeout, err)
		locked("b")
	}
	release(t, other)
}

func TestAMultiLocksLeasesBeginWhenAllAreHeld(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		ctx := context.Background()
		ca, cb, _, _ := twoServers(t, rlock.Options{})
		a, b, c := ca.Lock("a"), cb.Lock("b"), ca.Lock("c")
		before := acquire(t, c, rlock.Lease(time.Hour))
		m := rlock.Multi(a, b, c)
		h, err := m.Acquire(before.Context(), rlock.Lease(10*time.Second))
		must(t, err)
		for _, l := range []*rlock.Lock{a, b} {
			if ttl, err := l.TTL(ctx); err != nil || ttl > 10*time.Second || ttl < 9*time.Second {
				t.Fatalf("%s: %v, %v", l.Name(), ttl, err)
			}
		}
		if ttl, _ := c.TTL(ctx); ttl < 59*time.Minute {
			t.Fatalf("a lease was shortened to %v", ttl)
		}
		release(t, h, before)
		h, err = m.Acquire(ctx, rlock.Wait(0), rlock.Lease(40*time.Millisecond))
		must(t, err)
		select {
		case <-h.Lost():
		case <-time.After(10 * time.Second):
			t.Fatal("never lost")
		}
		mustBe(t, rlock.ErrLockLost, h.Release(ctx))
	})
}

func TestAMultiLockIsLostWithAnyPart(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		ctx := context.Background()
		ca, cb, rdbA, rdbB := twoServers(t, rlock.Options{Lease: 300 * time.Millisecond})
		m := rlock.Multi(ca.Lock("a"), cb.Lock("b"))
		err := m.Do(ctx, func(ctx context.Context) error {
			rdbB.Del(ctx, "b")
			<-ctx.Done()
			return context.Cause(ctx)
		})
		mustBe(t, rlock.ErrLockLost, err)
		if got := keys(t, rdbA, rdbB); got != nil {
			t.Fatalf("still locked %v", got)
		}
		must(t, m.Do(ctx, func(context.Context) error { return nil }))
	})
}

func TestMultiLocksInOppositeOrderDoNotBlockEachOther(t *testing.T) {
	ctx := context.Background()
	ca, cb, _, _ := twoServers(t, rlock.Options{})
	both := make(chan struct{})
	var wg sync.WaitGroup
	for _, parts := range [][2]*rlock.Lock{
		{ca.Lock("a"), cb.Lock("b")}, {cb.Lock("b"), ca.Lock("a")},
	} {
		// Each holds its first part once, so that both wait for their second.
		first := acquire(t, parts[0])
		m := rlock.Multi(parts[:]...)
		wg.Go(func() {
			<-both
			h, err := m.Acquire(first.Context(), rlock.Wait(20*time.Millisecond))
			if err == nil { // on a busy machine the other one may have timed out before
				err = h.Release(ctx)
			} else if errors.Is(err, rlock.ErrTimeout) {
				err = nil
			}
			if err := errors.Join(err, first.Release(ctx)); err != nil {
				t.Error(err)
			}
			for range 20 {
				if err := m.Do(ctx, func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(both)
	wg.Wait()
}

func TestAMultiLockEndsWithItsContext(t *testing.T) {
	virtually(t, func(t *testing.T) {
		ctx := context.Background()
		ca, cb, rdbA, rdbB := twoServers(t, rlock.Options{})
		other := acquire(t, cb.Lock("b"))
		m := rlock.Multi(ca.Lock("a"), cb.Lock("b"))
		limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		_, err := m.Acquire(limited)
		mustBe(t, context.DeadlineExceeded, err)
		eventually(t, "the first part is released", func() bool {
			return slices.Equal(keys(t, rdbA, rdbB), []string{"b"})
		})
		release(t, other)
		must(t, m.Do(ctx, func(context.Context) error { return nil }))
	})
}

func TestAMultiLockLocksItsPartsInOrderOfTheirNames(t *testing.T) {
	var mu sync.Mutex
	var order string
	c := newClient(t, connect(t), rlock.Options{Observer: rlock.Observer{
		Acquired: func(_ context.Context, e rlock.Event) {
			mu.Lock()
			defer mu.Unlock()
			order += e.Name
		}}})
	for _, names := range []string{"abc", "cba", "bca"} {
		var parts []*rlock.Lock
		for _, name := range names {
			parts = append(parts, c.FairLock(string(name)))
		}
		must(t, rlock.Multi(parts...).Do(t.Context(), func(context.Context) error { return nil }))
	}
	if order != "abcabcabc" {
		t.Errorf("locked in the order %s", order)
	}
}

// The bubble's time passes only while all owners wait.
func TestMultiLocksInOppositeOrdersAreNeverLongFree(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	virtually(t, func(t *testing.T) {
		c := newClient(t, holding(t).Client(), rlock.Options{})
		a, b := c.Lock("a"), c.Lock("b")
		orders := []*rlock.MultiLock{rlock.Multi(a, b), rlock.Multi(b, a)}
		const owners, each = 16, 10
		begin := time.Now()
		var wg sync.WaitGroup
		for i := range owners {
			wg.Go(func() {
				for range each {
					must(t, orders[i%2].Do(t.Context(), func(context.Context) error { return nil }))
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took > owners*each*time.Second/40 {
			t.Errorf("%d acquisitions took %v", owners*each, took)
		}
	})
}
