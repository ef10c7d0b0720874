package rlocksuite

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

func (on suite) ReadersShareTheLockAndExcludeWriters(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	a, b, w := c.RWLock("l"), newClient(t, rdb, rlock.Options{}).RWLock("l"), c.RWLock("l")
	must(t, a.Read().Lock(ctx))
	must(t, b.Read().Lock(ctx))
	got := start(func() error { return w.Write().Lock(ctx) })
	listened(t, rdb, rwChannel)
	must(t, a.Read().Unlock(ctx))
	mustTimeOut(t, a.Write().TryLock(ctx, 0, 0))
	must(t, b.Read().Unlock(ctx))
	soon(t, got)
	mustTimeOut(t, a.Read().TryLock(ctx, 0, 0))
	must(t, w.Write().Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) AWritersReleaseWakesAllReaders(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	c := newClient(t, rdb, rlock.Options{})
	w := c.RWLock("l").Write()
	must(t, w.Lock(ctx))
	var in, out sync.WaitGroup
	in.Add(5)
	for range 5 {
		r := c.RWLock("l").Read()
		out.Go(func() {
			err := r.Do(ctx, func(context.Context) error {
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
	must(t, w.Unlock(ctx))
	out.Wait()
}

func (on suite) AReadLockHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	me := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l").Read()
	you := newClient(t, rdb, rlock.Options{ID: "you"}).RWLock("l").Read()
	must(t, me.LockLease(ctx, 10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	MustLive(t, rdb, "l", 10*time.Second)
	MustLive(t, rdb, timeoutKey("me:1", "1"), 10*time.Second)
	must(t, me.LockLease(ctx, 10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:2 mode:read]", timeoutKey("me:1", "1"): "1",
		timeoutKey("me:1", "2"): "1"})
	must(t, me.Unlock(ctx))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	must(t, you.LockLease(ctx, time.Minute))
	MustLive(t, rdb, "l", time.Minute)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read you:1:1]",
		timeoutKey("me:1", "1"): "1", timeoutKey("you:1", "1"): "1"})
	must(t, you.Unlock(ctx))
	MustLive(t, rdb, "l", 10*time.Second)
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	must(t, me.Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) AShorterReadLeaseDoesNotEndALongerOne(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	renewed := make(chan rlock.Event, 100)
	short := newClient(t, rdb, rlock.Options{ID: "short", Lease: 300 * time.Millisecond,
		Observer: rlock.Observer{Renewed: func(e rlock.Event) { renewed <- e }}})
	long := newClient(t, rdb, rlock.Options{ID: "long"})
	must(t, short.RWLock("l").Read().Lock(ctx))
	must(t, long.RWLock("l").Read().LockLease(ctx, time.Minute))
	<-renewed
	<-renewed
	MustLive(t, rdb, "l", time.Minute)
	MustLive(t, rdb, timeoutKey("short:1", "1"), 300*time.Millisecond)
	short.Close()
	eventually(t, "the short lease's end", func() bool {
		return rdb.Exists(ctx, timeoutKey("short:1", "1")).Val() == 0
	})
	mustTimeOut(t, long.RWLock("l").Write().TryLock(ctx, 0, 0))
}

func (on suite) AWriterWaitsUntilADeadReadersLeaseEnds(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	dead := newClient(t, rdb, rlock.Options{ID: "dead"}).RWLock("l").Read()
	c := newClient(t, rdb, rlock.Options{})
	r := c.RWLock("l").Read()
	must(t, dead.LockLease(ctx, 20*time.Millisecond))
	must(t, r.Lock(ctx))
	eventually(t, "the dead reader's lease is over", func() bool {
		return rdb.Exists(ctx, timeoutKey("dead:1", "1")).Val() == 0
	})
	got := start(func() error { return c.RWLock("l").Write().Lock(ctx) })
	listened(t, rdb, rwChannel)
	must(t, r.Unlock(ctx))
	soon(t, got)
}

func (on suite) UnlockingANestedReadHoldDoesNotShortenTheLease(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	r := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l").Read()
	must(t, r.LockLease(ctx, 10*time.Second))
	must(t, r.LockLease(ctx, time.Minute))
	MustLive(t, rdb, timeoutKey("me:1", "1"), 10*time.Second)
	must(t, r.Unlock(ctx))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	MustLive(t, rdb, timeoutKey("me:1", "1"), time.Minute)
	MustLive(t, rdb, "l", time.Minute)
}

func (on suite) AWriteLockHasRedissonsLayout(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	w := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l").Write()
	must(t, w.LockLease(ctx, 10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:write:1 mode:write]"})
	MustLive(t, rdb, "l", 10*time.Second)
	must(t, w.LockLease(ctx, 10*time.Second))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:write:2 mode:write]"})
	MustLive(t, rdb, "l", 20*time.Second)
	must(t, w.Unlock(ctx))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:write:1 mode:write]"})
	MustLive(t, rdb, "l", 10*time.Second)
	must(t, w.Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) AWriterMayKeepReadingAfterItsWriteUnlock(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l")
	you := newClient(t, rdb, rlock.Options{ID: "you"}).RWLock("l")
	must(t, rw.Write().LockLease(ctx, 10*time.Second))
	must(t, rw.Read().LockLease(ctx, time.Minute))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 me:1:write:1 mode:write]",
		timeoutKey("me:1", "1"): "1"})
	MustLive(t, rdb, "l", time.Minute)
	got := start(func() error { return you.Read().Lock(ctx) })
	listened(t, rdb, rwChannel)
	must(t, rw.Write().Unlock(ctx))
	soon(t, got)
	mustTimeOut(t, you.Write().TryLock(ctx, 0, 0))
	must(t, you.Read().Unlock(ctx))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	must(t, rw.Read().Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) AWriterThatStopsReadingKeepsTheWriteLock(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l")
	must(t, rw.Write().LockLease(ctx, time.Minute))
	must(t, rw.Read().LockLease(ctx, 10*time.Second))
	must(t, rw.Read().LockLease(ctx, 10*time.Second))
	must(t, rw.Read().Unlock(ctx))
	MustLive(t, rdb, "l", time.Minute)
	must(t, rw.Read().Unlock(ctx))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:write:1 mode:write]"})
	MustLive(t, rdb, "l", time.Minute)
	must(t, rw.Write().Unlock(ctx))
	MustHold(t, rdb, nil)
}

func (on suite) AReaderCannotBecomeTheWriter(t *testing.T) {
	rdb := on.connect(t)
	ctx := context.Background()
	rw := newClient(t, rdb, rlock.Options{ID: "me"}).RWLock("l")
	must(t, rw.Read().Lock(ctx))
	mustTimeOut(t, rw.Write().TryLock(ctx, 0, 0))
	mustTimeOut(t, rw.Write().TryLock(ctx, 20*time.Millisecond, 0))
	MustHold(t, rdb, map[string]string{"l": "map[me:1:1 mode:read]", timeoutKey("me:1", "1"): "1"})
	must(t, rw.Read().Unlock(ctx))
	must(t, rw.Write().TryLock(ctx, 0, 0))
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
	must(t, rw.Write().Lock(ctx))
	check("writing", false, true)
	must(t, rw.Read().Lock(ctx))
	check("both", true, true)
	must(t, rw.Write().Unlock(ctx))
	check("reading", true, false)
	if forced, err := other.Write().ForceUnlock(ctx); forced || err != nil {
		t.Fatal("forced a write lock that was not held", err)
	}
	if forced, err := other.Read().ForceUnlock(ctx); !forced || err != nil {
		t.Fatal("read lock not forced", err)
	}
	check("forced", false, false)
}

func (on suite) WithOwnerSetsTheOwnerOfBothHalvesOfAReadWriteLock(t *testing.T) {
	rw := newClient(t, on.connect(t), rlock.Options{ID: "me"}).RWLock("l", rlock.WithOwner(42))
	if r, w := rw.Read().Owner(), rw.Write().Owner(); r != "me:42" || w != "me:42" {
		t.Fatalf("owners %s and %s", r, w)
	}
}
