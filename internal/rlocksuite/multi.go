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
	m := rlock.Multi(c.Lock("a"), c.Lock("b"), d.Lock("c"))
	h, err := m.Acquire(ctx)
	must(t, err)
	if got := locked(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("locked %v", got)
	}
	Release(t, h)

	other := Acquire(t, ctx, d.Lock("b"))
	_, err = m.Acquire(ctx, rlock.Wait(20*time.Millisecond))
	mustTimeOut(t, err)
	eventually(t, "after a timeout, only b is locked", func() bool { // a slow undo continues in the background
		return slices.Equal(locked(), []string{"b"})
	})
	waiting := start(func() error { h, err = m.Acquire(ctx); return err })
	listened(t, rdb, "redisson_lock__channel:{b}")
	Release(t, other)
	soon(t, waiting)
	if forced, err := d.Lock("b").ForceUnlock(ctx); !forced || err != nil {
		t.Fatal(forced, err)
	}
	if err := h.Release(ctx); !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	eventually(t, "no part is locked", func() bool { return locked() == nil })
}
