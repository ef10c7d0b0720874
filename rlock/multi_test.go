package rlock_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// twoServers starts two servers and returns an rlock and a go-redis client of each.
func twoServers(t *testing.T, o rlock.Options) (a, b *rlock.Client, rdbA, rdbB *redis.Client) {
	t.Helper()
	rdbA, rdbB = connect(t), connect(t)
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
	m := rlock.NewMultiLock(ca.Lock("a"), cb.Lock("b"))
	must(t, m.Lock(ctx))
	if got := keys(t, rdbA, rdbB); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("locked %v", got)
	}
	must(t, m.Lock(ctx))
	must(t, m.Unlock(ctx))
	if m.Lost() == nil {
		t.Fatal("not held after one of two unlocks")
	}
	must(t, m.Unlock(ctx))
	if got := keys(t, rdbA, rdbB); got != nil {
		t.Fatalf("still locked %v", got)
	}
	if err := m.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	other := cb.Lock("b")
	must(t, other.Lock(ctx))
	for _, wait := range []time.Duration{0, 20 * time.Millisecond} {
		if err := m.TryLock(ctx, wait, 0); !errors.Is(err, rlock.ErrTimeout) {
			t.Fatal(err)
		}
		if got := keys(t, rdbA, rdbB); !slices.Equal(got, []string{"b"}) {
			t.Fatalf("after a timeout, locked are %v", got)
		}
	}
	must(t, other.Unlock(ctx))
}

func TestAMultiLocksLeasesBeginWhenAllAreHeld(t *testing.T) {
	ctx := context.Background()
	ca, cb, _, _ := twoServers(t, rlock.Options{})
	a, b, before := ca.Lock("a"), cb.Lock("b"), ca.Lock("c")
	must(t, before.LockLease(ctx, time.Hour))
	m := rlock.NewMultiLock(a, b, before)
	must(t, m.LockLease(ctx, 10*time.Second))
	for _, l := range []*rlock.Lock{a, b} {
		if ttl, err := l.TTL(ctx); err != nil || ttl > 10*time.Second || ttl < 9*time.Second {
			t.Fatalf("%s: %v, %v", l.Name(), ttl, err)
		}
	}
	if ttl, _ := before.TTL(ctx); ttl < 59*time.Minute {
		t.Fatalf("a lease was shortened to %v", ttl)
	}
	must(t, m.Unlock(ctx))
	must(t, before.Unlock(ctx))
	must(t, m.TryLock(ctx, 0, 40*time.Millisecond))
	select {
	case <-m.Lost():
	case <-time.After(10 * time.Second):
		t.Fatal("never lost")
	}
	if err := m.Unlock(ctx); !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
}

func TestAMultiLockIsLostWithAnyPart(t *testing.T) {
	ctx := context.Background()
	ca, cb, rdbA, rdbB := twoServers(t, rlock.Options{Lease: 300 * time.Millisecond})
	m := rlock.NewMultiLock(ca.Lock("a"), cb.Lock("b"))
	err := m.Do(ctx, func(ctx context.Context) error {
		rdbB.Del(ctx, "b")
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	if got := keys(t, rdbA, rdbB); got != nil {
		t.Fatalf("still locked %v", got)
	}
	must(t, m.Do(ctx, func(context.Context) error { return nil }))
}

func TestMultiLocksInOppositeOrderDoNotBlockEachOther(t *testing.T) {
	ctx := context.Background()
	ca, cb, _, _ := twoServers(t, rlock.Options{})
	both := make(chan struct{})
	var wg sync.WaitGroup
	for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
		// Each holds its first part once, so that both wait for their second.
		first, second := ca.Lock(names[0]), cb.Lock(names[1])
		if names[0] == "b" {
			first, second = cb.Lock("b"), ca.Lock("a")
		}
		must(t, first.Lock(ctx))
		wg.Go(func() {
			<-both
			m := rlock.NewMultiLock(first, second)
			err := m.TryLock(ctx, 20*time.Millisecond, 0)
			if err == nil { // on a busy machine the other one may have timed out before
				err = m.Unlock(ctx)
			} else if errors.Is(err, rlock.ErrTimeout) {
				err = nil
			}
			if err != nil {
				t.Error(err)
			}
			if err := first.Unlock(ctx); err != nil {
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
	ctx := context.Background()
	ca, cb, rdbA, rdbB := twoServers(t, rlock.Options{})
	other := cb.Lock("b")
	must(t, other.Lock(ctx))
	m := rlock.NewMultiLock(ca.Lock("a"), cb.Lock("b"))
	limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := m.Lock(limited); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	eventually(t, "the first part is released", func() bool {
		return slices.Equal(keys(t, rdbA, rdbB), []string{"b"})
	})
	must(t, other.Unlock(ctx))
	must(t, m.Do(ctx, func(context.Context) error { return nil }))
}
