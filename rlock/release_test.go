package rlock_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAReleaseInTheBackgroundHasItsEvent(t *testing.T) {
	for _, want := range []string{"released me:1", "lost me:1"} {
		virtually(t, func(t *testing.T) {
			var w recorder
			srv := holding(t)
			c := newClient(t, srv.Client(), rlock.Options{ID: "me", Observer: w.observer()})
			h := acquire(t, c.Lock("l"), rlock.Lease(time.Minute))
			if want == "lost me:1" {
				srv.Del("l")
			}
			srv.Hang()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			mustBe(t, context.DeadlineExceeded, h.Release(ctx))
			if got := w.seen(); len(got) != 1 {
				t.Errorf("events %q before the answer", got)
			}
			srv.ClearFaults()
			time.Sleep(10 * time.Second)
			if got := w.seen()[1:]; !slices.Equal(got, []string{want}) {
				t.Errorf("events %q, want %q", got, want)
			}
		})
	}
}

func TestAReleaseThatTheServerRefusesHasAnEvent(t *testing.T) {
	var w recorder
	srv := holding(t)
	c := newClient(t, srv.Client(), rlock.Options{ID: "me", Observer: w.observer()})
	h := acquire(t, c.Lock("l"))
	srv.FailRequest(lockredistest.Match{Key: "l", Times: 1}, "NOPERM no")
	if err := h.Release(t.Context()); err == nil {
		t.Error("released")
	}
	if got := w.seen()[1:]; !slices.Equal(got, []string{"gave up me:1"}) {
		t.Errorf("events %q", got)
	}
}

func TestAReleaseWhileCloseLosesTheHoldsReportsTheLoss(t *testing.T) {
	virtually(t, func(t *testing.T) {
		var events atomic.Int32
		told, seen := make(chan string, 2), make(chan struct{})
		lost := func(_ context.Context, e rlock.Event) {
			first := events.Add(1) == 1
			told <- e.Name
			if first {
				<-seen // Close is at its first hold until then
			}
		}
		c := newClient(t, holding(t).Client(), rlock.Options{Observer: rlock.Observer{Lost: lost}})
		holds := map[string]*rlock.Hold{"a": acquire(t, c.Lock("a")), "b": acquire(t, c.Lock("b"))}
		closed := make(chan error)
		go func() { closed <- c.Close(context.Background()) }()
		delete(holds, <-told)
		for name, h := range holds { // the other one
			err := h.Release(t.Context())
			mustBe(t, rlock.ErrLockLost, err)
			mustBe(t, rlock.ErrClosed, err)
			if got := <-told; got != name {
				t.Errorf("lost %s, not %s", got, name)
			}
		}
		close(seen)
		must(t, <-closed)
	})
}

func TestAQuorumFailsAtOnceWithoutReplicasThatConfirm(t *testing.T) {
	for confirmed := range 4 {
		virtually(t, func(t *testing.T) {
			var parts []*rlock.Lock
			for i := range 3 {
				rdb := lockredistest.RunT(t).Client()
				r := &replicas{}
				r.n.Store(1)
				if i < confirmed {
					r.confirm.Store(1)
				}
				rdb.AddHook(r)
				parts = append(parts, newClient(t, rdb, rlock.Options{Sync: rlock.SyncOn}).Lock("l"))
			}
			start := time.Now()
			h, err := rlock.Quorum(parts...).Acquire(t.Context())
			if took := time.Since(start); took > time.Second {
				t.Errorf("%d servers have a replica: it took %v", confirmed, took)
			}
			if confirmed >= 2 {
				must(t, err)
				release(t, h)
				return
			}
			mustBe(t, rlock.ErrNotSynced, err)
		})
	}
}
