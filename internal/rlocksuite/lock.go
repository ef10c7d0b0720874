package rlocksuite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/stall"
	"github.com/lockredis/lockredis/rlock"
)

func (on suite) ALockExcludesAndCounts(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	l := c.Lock("counter")
	n := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 50 {
				h, err := l.Acquire(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				n++
				if err := h.Release(ctx); err != nil {
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
	must(t, c.Close(ctx))
	MustHold(t, rdb, nil)
	if n := len(allKeys(t, rdb)); n > 300 { // not most of 1000, see maxLatches
		t.Fatalf("%d latches are left over", n)
	}
}

func (on suite) ALockIsReentrantForItsOwnerOnly(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	l := newClient(t, rdb, rlock.Options{ID: "me"}).Lock("l")
	outer := Acquire(t, ctx, l)
	inner := Acquire(t, outer.Context(), l)
	if got := rdb.HGetAll(ctx, "l").Val(); len(got) != 1 || got["me:1"] != "1" {
		t.Fatalf("hash is %v", got)
	}
	mustTimeOut(t, Try(ctx, l))
	Release(t, inner)
	mustTimeOut(t, Try(ctx, l, rlock.Wait(20*time.Millisecond)))
	Release(t, outer)
	must(t, Try(ctx, l))
}

func (on suite) AHoldIsLostWhenItsLeaseEnds(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	l := newClient(t, rdb, rlock.Options{}).Lock("l")
	h := Acquire(t, ctx, l, rlock.Lease(30*time.Millisecond))
	select {
	case <-h.Lost():
	case <-time.After(patience):
		t.Fatal("never lost")
	}
	if err := h.Release(ctx); !errors.Is(err, rlock.ErrLockLost) {
		t.Fatal(err)
	}
	if err := h.Release(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		t.Fatal(err)
	}
}

func (on suite) TheWatchdogRenewsALockUntilItIsDeleted(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	const lease = 600 * time.Millisecond
	renewed := make(chan rlock.Event, 100)
	c := newClient(t, rdb,
		rlock.Options{Lease: lease,
			Observer: rlock.Observer{Renewed: func(_ context.Context, e rlock.Event) {
				renewed <- e
			}}})
	l := c.Lock("l")
	stall.Undisturbed(t, lease/3, func() error {
		kept := false
		err := l.Do(ctx, func(ctx context.Context) error {
			for range 6 {
				select {
				case <-renewed:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			kept = true
			rdb.Del(ctx, "l")
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if kept && errors.Is(err, rlock.ErrLockLost) {
			return nil
		}
		return fmt.Errorf("kept %v, then %w", kept, err)
	})
}
