package rlocksuite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/stall"
	"github.com/lockredis/lockredis/rlock"
)

func (on suite) ReadersShareTheLockAndExcludeWriters(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	a := newClient(t, rdb, rlock.Options{}).RWLock("l")
	b := newClient(t, rdb, rlock.Options{}).RWLock("l")
	readA, readB := Acquire(t, ctx, a.Read()), Acquire(t, ctx, b.Read())
	got := Begin(ctx, a.Write())
	listened(t, rdb, rwChannel)
	Release(t, readA)
	mustTimeOut(t, Try(ctx, a.Write()))
	Release(t, readB)
	w := got.Hold(t)
	mustTimeOut(t, Try(ctx, a.Read()))
	Release(t, w)
	MustHold(t, rdb, nil)
}

func (on suite) AWritersReleaseWakesAllReaders(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	w := Acquire(t, ctx, rw.Write())
	var in, out sync.WaitGroup
	in.Add(5)
	for range 5 {
		out.Go(func() {
			err := rw.Read().Do(ctx, func(context.Context) error {
				in.Done()
				in.Wait()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	listened(t, rdb, rwChannel)
	Release(t, w)
	out.Wait()
}

func (on suite) AReadLockHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	lease := rlock.Lease(10 * time.Second)
	me := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l").Read()
	you := newClient(t, rdb, rlock.Options{ID: "you"}).RWLock("l").Read()
	mine := Acquire(t, ctx, me, lease)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	MustLive(t, rdb, "l", 10*time.Second)
	MustLive(t, rdb, timeoutKey("me:1", "1"), 10*time.Second)
	yours := Acquire(t, ctx, you, rlock.Lease(time.Minute))
	MustLive(t, rdb, "l", time.Minute)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read you:1:1]",
		timeoutKey("me:1", "1"): "1", timeoutKey("you:1", "1"): "1"})
	Release(t, yours)
	MustLive(t, rdb, "l", 10*time.Second)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	Release(t, mine)
	MustHold(t, rdb, nil)
}

func (on suite) AShorterReadLeaseDoesNotEndALongerOne(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	const lease = 300 * time.Millisecond
	renewed := make(chan rlock.Event, 100)
	short := newClient(t, rdb, rlock.Options{ID: "short", Lease: lease,
		Observer: rlock.Observer{Renewed: func(_ context.Context, e rlock.Event) { renewed <- e }}})
	long := newClient(t, rdb, rlock.Options{ID: "long"})
	Acquire(t, ctx, long.RWLock("l").Read(), rlock.Lease(time.Minute))
	var key string
	stall.Undisturbed(t, lease/3, func() error {
		h := Acquire(t, ctx, short.RWLock("l").Read())
		key = timeoutKey(h.Owner(), "1")
		for range 2 {
			select {
			case <-renewed:
			case <-h.Lost():
				return h.Err()
			}
		}
		return nil
	})
	MustLive(t, rdb, "l", time.Minute)
	MustLive(t, rdb, key, lease)
	must(t, short.Close(ctx))
	eventually(t, "the short lease's end", func() bool { return rdb.Exists(ctx, key).Val() == 0 })
	mustTimeOut(t, Try(ctx, long.RWLock("l").Write()))
}

func (on suite) AWriterWaitsUntilADeadReadersLeaseEnds(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	dead := newClient(t, rdb, rlock.Options{ID: "dead"}).RWLock("l").Read()
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	Acquire(t, ctx, dead, rlock.Lease(20*time.Millisecond))
	r := Acquire(t, ctx, rw.Read())
	eventually(t, "the dead reader's lease is over", func() bool {
		return rdb.Exists(ctx, timeoutKey("dead:1", "1")).Val() == 0
	})
	got := Begin(ctx, rw.Write())
	listened(t, rdb, rwChannel)
	Release(t, r)
	got.Hold(t)
}

func (on suite) AWriteLockHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	w := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l").Write()
	h := Acquire(t, ctx, w, rlock.Lease(10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:write:1 mode:write]"})
	MustLive(t, rdb, "l", 10*time.Second)
	Release(t, h)
	MustHold(t, rdb, nil)
}

func (on suite) AWriterMayKeepReadingAfterItReleasesTheWriteLock(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l")
	you := newClient(t, rdb, rlock.Options{ID: "you"}).RWLock("l")
	w := Acquire(t, ctx, rw.Write(), rlock.Lease(10*time.Second))
	r := Acquire(t, w.Context(), rw.Read(), rlock.Lease(time.Minute))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 me:1:write:1 mode:write]",
		timeoutKey("me:1", "1"): "1"})
	MustLive(t, rdb, "l", time.Minute)
	got := Begin(ctx, you.Read())
	listened(t, rdb, rwChannel)
	Release(t, w)
	must(t, r.Context().Err())
	yours := got.Hold(t)
	mustTimeOut(t, Try(ctx, you.Write()))
	Release(t, yours)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	must(t, r.Err())
	Release(t, r)
	MustHold(t, rdb, nil)
}

func (on suite) AWriterThatStopsReadingKeepsTheWriteLock(t *testing.T) {
	rdb := on.connect(t)
	rw := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l")
	w := Acquire(t, context.Background(), rw.Write(), rlock.Lease(time.Minute))
	outer := Acquire(t, w.Context(), rw.Read(), rlock.Lease(10*time.Second))
	inner := Acquire(t, outer.Context(), rw.Read(), rlock.Lease(10*time.Second))
	Release(t, inner)
	MustLive(t, rdb, "l", time.Minute)
	Release(t, outer)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:write:1 mode:write]"})
	MustLive(t, rdb, "l", time.Minute)
	Release(t, w)
	MustHold(t, rdb, nil)
}

func (on suite) AReaderThatAsksForTheWriteLockGetsErrDeadlock(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l")
	r := Acquire(t, ctx, rw.Read())
	if err := Try(r.Context(), rw.Write(), rlock.Wait(time.Hour)); !errors.Is(err, rlock.ErrDeadlock) {
		t.Error(err)
	}
	mustTimeOut(t, Try(ctx, rw.Write()))
	mustTimeOut(t, Try(ctx, rw.Write(), rlock.Wait(20*time.Millisecond)))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	Release(t, r)
	must(t, Try(ctx, rw.Write()))
}

func (on suite) IsLockedTellsReadFromWrite(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	other := newClient(t, rdb, rlock.Options{}).RWLock("l")
	check := func(what string, reading, writing bool) {
		t.Helper()
		r, err := other.Read().IsLocked(ctx)
		must(t, err)
		w, err := other.Write().IsLocked(ctx)
		must(t, err)
		if r != reading || w != writing {
			t.Fatalf("%s: read %v, written %v", what, r, w)
		}
	}
	check("free", false, false)
	w := Acquire(t, ctx, rw.Write())
	check("writing", false, true)
	Acquire(t, w.Context(), rw.Read())
	check("both", true, true)
	Release(t, w)
	check("reading", true, false)
	if forced, err := other.Write().ForceUnlock(ctx); forced || err != nil {
		t.Fatal("forced a write lock that was not held", err)
	}
	if forced, err := other.Read().ForceUnlock(ctx); !forced || err != nil {
		t.Fatal("read lock not forced", err)
	}
	check("forced", false, false)
}
