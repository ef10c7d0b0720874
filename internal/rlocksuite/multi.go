package rlocksuite

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// In a cluster the parts of this MultiLock are in different slots.
func (on suite) AMultiLockTakesAllOrNoneOfItsSlots(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c, d := newClient(t, rdb, rlock.Options{}), newClient(t, rdb, rlock.Options{})
	locked := func() (names []string) {
		for _, key := range allKeys(t, rdb) {
			if len(key) == 1 {
				names = append(names, key)
			}
		}
		slices.Sort(names)
		return names
	}
	m := rlock.NewMultiLock(c.Lock("a"), c.Lock("b"), d.Lock("c"))
	must(t, m.Lock(ctx))
	if got := locked(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("locked %v", got)
	}
	must(t, m.Unlock(ctx))

	other := d.Lock("b")
	must(t, other.Lock(ctx))
	mustTimeOut(t, m.TryLock(ctx, 20*time.Millisecond, 0))
	if got := locked(); !slices.Equal(got, []string{"b"}) {
		t.Fatalf("after a timeout, locked are %v", got)
	}
	waiting := start(func() error { return m.Lock(ctx) })
	listened(t, rdb, "redisson_lock__channel:{b}")
	must(t, other.Unlock(ctx))
	soon(t, waiting)
	if forced, err := other.ForceUnlock(ctx); !forced || err != nil {
		t.Fatal(forced, err)
	}
	if err := m.Unlock(ctx); !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	if got := locked(); got != nil {
		t.Fatalf("still locked are %v", got)
	}
}
