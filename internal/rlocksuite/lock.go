package rlocksuite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) ALockExcludesAndCounts(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	n := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l := c.Lock("counter")
			for range 50 {
				if err := l.Lock(ctx); err != nil {
					t.Error(err)
					return
				}
				n++
				if err := l.Unlock(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	if n != 1000 {
		t.Fatalf("counted %d", n)
	}
	c.Close()
	if keys := allKeys(t, rdb); len(keys) != 0 {
		t.Fatalf("left over: %v", keys)
	}
}

func (on suite) ALockIsReentrantForItsOwnerOnly(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{ID: "me"})
	a, b := c.Lock("l"), c.Lock("l")
	must(t, a.Lock(ctx))
	must(t, a.Lock(ctx))
	if got := rdb.HGetAll(ctx, "l").Val(); len(got) != 1 || got["me:1"] != "2" {
		t.Fatalf("hash is %v", got)
	}
	if err := b.TryLock(ctx, 0, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	if err := b.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
	must(t, a.Unlock(ctx))
	if err := b.TryLock(ctx, 20*time.Millisecond, 0); !errors.Is(err, rlock.ErrTimeout) {
		t.Fatal(err)
	}
	must(t, a.Unlock(ctx))
	must(t, b.TryLock(ctx, 0, 0))
	must(t, b.Unlock(ctx))
}

func (on suite) AHoldIsLostWhenItsLeaseEnds(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	l := c.Lock("l")
	must(t, l.LockLease(ctx, 30*time.Millisecond))
	select {
	case <-l.Lost():
	case <-time.After(patience):
		t.Fatal("never lost")
	}
	if err := l.Unlock(ctx); !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	if err := l.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
}

func (on suite) TheWatchdogRenewsALockUntilItIsDeleted(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	renewed := make(chan rlock.Event, 100)
	c := newClient(t, rdb,
		rlock.Options{Lease: 600 * time.Millisecond,
			Observer: rlock.Observer{Renewed: func(e rlock.Event) {
				renewed <- e
			}}})
	l := c.Lock("l")
	err := l.Do(ctx, func(ctx context.Context) error {
		for range 6 {
			select {
			case <-renewed:
			case <-ctx.Done():
				t.Errorf("not kept: %v", context.Cause(ctx))
				return context.Cause(ctx)
			}
		}
		rdb.Del(ctx, "l")
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
}
