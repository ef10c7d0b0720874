package rlocksuite

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// Siblings are acquisitions with the context of one hold of another name. They may have
// that hold's owner, and they exclude each other as any two owners do.

func (on suite) SiblingsExcludeEachOther(t *testing.T) {
	for _, held := range Kinds() {
		for _, asked := range Kinds() {
			if held.Label == "read" && asked.Label == "read" {
				continue
			}
			t.Run(held.Label+" and "+asked.Label, func(t *testing.T) {
				rdb := on.connect(t)
				c := newClient(t, rdb, rlock.Options{})
				job := Acquire(t, context.Background(), c.Lock("job"))
				h := Acquire(t, job.Context(), held.Make(c, "l"))
				if h.Owner() != job.Owner() {
					t.Errorf("owner %s, not that of the job, %s", h.Owner(), job.Owner())
				}
				mustTimeOut(t, Try(job.Context(), asked.Make(c, "l")))
				mustTimeOut(t, Try(job.Context(), asked.Make(c, "l"), rlock.Wait(5*time.Millisecond)))
				must(t, h.Err())
				Release(t, h)
				must(t, Try(job.Context(), asked.Make(c, "l"), rlock.Wait(patience)))
				Release(t, job)
				if _, held := Contents(t, rdb)["l"]; held {
					t.Error("the lock is held")
				}
			})
		}
	}
}

func (on suite) AWriterWaitsForASiblingThatReads(t *testing.T) {
	rdb := on.connect(t)
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	job := Acquire(t, context.Background(), newClient(t, rdb, rlock.Options{}).Lock("job"))
	r := Acquire(t, job.Context(), rw.Read())
	got := Begin(job.Context(), rw.Write())
	listened(t, rdb, rwChannel)
	Release(t, r)
	Release(t, got.Hold(t), job)
	MustHold(t, rdb, nil)
}

func (on suite) AReaderThatOutlivesItsWriterExcludesASiblingThatWrites(t *testing.T) {
	rdb := on.connect(t)
	c := newClient(t, rdb, rlock.Options{})
	rw := c.RWLock("l")
	job := Acquire(t, context.Background(), c.Lock("job"))
	w := Acquire(t, job.Context(), rw.Write())
	r := Acquire(t, w.Context(), rw.Read())
	Release(t, w)
	mustTimeOut(t, Try(job.Context(), rw.Write()))
	must(t, Try(job.Context(), rw.Read()))
	must(t, r.Err())
	Release(t, r)
	must(t, Try(job.Context(), rw.Write()))
	Release(t, job)
	MustHold(t, rdb, nil)
}

// A hold of another name, with another owner, may be between the write hold and its reader.
func (on suite) AReaderInsideItsWriterHasTheWritersOwner(t *testing.T) {
	rdb := on.connect(t)
	c := newClient(t, rdb, rlock.Options{})
	rw, other := c.RWLock("l"), c.Lock("other")
	job := Acquire(t, context.Background(), c.Lock("job"))
	busy := Acquire(t, job.Context(), other, rlock.Lease(time.Minute)) // by the job's owner
	w := Acquire(t, job.Context(), rw.Write())
	got := Begin(w.Context(), other)
	listened(t, rdb, "redisson_lock__channel:{other}")
	Release(t, busy)
	between := got.Hold(t)
	if between.Owner() == w.Owner() {
		t.Fatal("the test needs two owners")
	}
	r := Acquire(t, between.Context(), rw.Read(), rlock.Wait(0))
	if r.Owner() != w.Owner() {
		t.Errorf("the reader's owner is %s, the writer's %s", r.Owner(), w.Owner())
	}
	Release(t, r, between, w, job)
	MustHold(t, rdb, nil)
}

func (on suite) EachReaderOfAWriteHoldHasAtLeastItsLease(t *testing.T) {
	rdb := on.connect(t)
	rw := newClient(t, rdb, rlock.Options{}).RWLock("l")
	w := Acquire(t, context.Background(), rw.Write())
	short := Acquire(t, w.Context(), rw.Read(), rlock.Lease(10*time.Second))
	long := Acquire(t, w.Context(), rw.Read(), rlock.Lease(time.Minute))
	MustLive(t, rdb, timeoutKey(w.Owner(), "1"), time.Minute)
	watched := Acquire(t, w.Context(), rw.Read())
	if left := time.Until(watched.Until()); left < 15*time.Second {
		t.Errorf("trusted for %s", left)
	}
	Release(t, short, long)
	must(t, watched.Err())
	Release(t, w)
	mustTimeOut(t, Try(context.Background(), rw.Write()))
	Release(t, watched)
	MustHold(t, rdb, nil)
}
