package rlock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// quorumBed is a quorum of three servers.
type quorumBed struct {
	*rlock.QuorumLock
	servers []*lockredistest.Server
}

func newQuorum(t *testing.T, o rlock.Options) *quorumBed {
	t.Helper()
	q := &quorumBed{}
	var parts []*rlock.Lock
	for range 3 {
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), o)
		warm(t, c)
		q.servers = append(q.servers, srv)
		parts = append(parts, c.Lock("l"))
	}
	q.QuorumLock = rlock.Quorum(parts...)
	return q
}

// locked returns on how many servers the lock is held.
func (q *quorumBed) locked() (n int) {
	for _, srv := range q.servers {
		if srv.Exists("l") {
			n++
		}
	}
	return n
}

// free checks that the lock becomes free.
func (q *quorumBed) free(t *testing.T) {
	t.Helper()
	eventually(t, "all parts are free", func() bool { return q.locked() == 0 })
}

func TestAQuorumExcludes(t *testing.T) {
	q := newQuorum(t, rlock.Options{})
	n := 0
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 5 {
				err := q.Do(t.Context(), func(context.Context) error { n++; return nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n != 30 {
		t.Errorf("counted %d", n)
	}
	q.free(t)
}

func TestAQuorumWorksWithoutOneServer(t *testing.T) {
	eachOutage(t, func(t *testing.T, o outage) {
		q := newQuorum(t, rlock.Options{})
		for i, srv := range q.servers {
			end := o.begin(t, srv)
			start := time.Now()
			h, err := q.Acquire(t.Context())
			must(t, err)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("server %d: acquired after %v", i, took)
			}
			_, err = q.Acquire(t.Context(), rlock.Wait(50*time.Millisecond))
			mustBe(t, rlock.ErrTimeout, err)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			must(t, h.Err())
			must(t, h.Release(ctx))
			cancel()
			end()
			q.free(t)
		}
	})
}

func TestAQuorumFailsWithoutTwoServersAndLeavesNothing(t *testing.T) {
	eachOutage(t, func(t *testing.T, o outage) {
		q := newQuorum(t, rlock.Options{})
		first, last := o.begin(t, q.servers[0]), o.begin(t, q.servers[2])
		start := time.Now()
		h, err := q.Acquire(t.Context(), rlock.Wait(time.Second))
		if err == nil || h != nil {
			t.Fatal("acquired without a majority")
		}
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("failed after %v", took)
		}
		first()
		last()
		q.free(t)
	})
}

func TestAQuorumOfReadersOutlivesTheirWritersAndDoesNotWaitForItself(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		var reads, writes []*rlock.Lock
		for range 3 {
			rw := newClient(t, lockredistest.RunT(t).Client(), rlock.Options{}).RWLock("l")
			reads, writes = append(reads, rw.Read()), append(writes, rw.Write())
		}
		w, err := rlock.Quorum(writes...).Acquire(t.Context())
		must(t, err)
		r, err := rlock.Quorum(reads...).Acquire(w.Context())
		must(t, err)
		release(t, w)
		must(t, r.Context().Err())
		start := time.Now()
		for _, wait := range []time.Duration{0, time.Second, time.Hour} {
			_, err = rlock.Quorum(writes...).Acquire(r.Context(), rlock.Wait(wait))
			mustBe(t, rlock.ErrDeadlock, err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("ErrDeadlock after %s", took)
		}
		release(t, r)
		mustBe(t, context.Canceled, r.Context().Err())
	})
}

func TestAQuorumIsLostWithItsMajority(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{Lease: 300 * time.Millisecond})
		err := q.Do(t.Context(), func(ctx context.Context) error {
			q.servers[0].FlushAll() // a server that restarts without its data
			h := acquire(t, newClient(t, q.servers[0].Client(), rlock.Options{}).Lock("l"))
			renewed := time.NewTimer(400 * time.Millisecond)
			defer renewed.Stop()
			select {
			case <-ctx.Done():
				t.Error("lost with one part of three")
			case <-renewed.C:
			}
			q.servers[1].Del("l")
			select {
			case <-ctx.Done():
			case <-time.After(5 * time.Second):
				t.Error("held without a majority")
			}
			release(t, h)
			return nil
		})
		mustBe(t, rlock.ErrLockLost, err)
		q.free(t)
	})
}

func TestTheHoldOfAQuorumIsOneHold(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		h, err := q.Acquire(t.Context(), rlock.Lease(10*time.Second))
		must(t, err)
		if left := time.Until(h.Until()); left > 10*time.Second || left < 8*time.Second {
			t.Errorf("trusted for %v", left)
		}
		inner, err := q.Acquire(h.Context())
		must(t, err)
		release(t, inner)
		if n := q.locked(); n < 2 {
			t.Fatalf("%d parts are locked", n)
		}
		must(t, h.Extend(t.Context(), time.Minute))
		if left := time.Until(h.Until()); left > time.Minute || left < 55*time.Second {
			t.Errorf("trusted for %v", left)
		}
		release(t, h)
		mustBe(t, rlock.ErrNotHeld, h.Release(t.Context()))
		q.free(t)
	})
}

func TestQuorumPanicsForPartsThatAreNoQuorum(t *testing.T) {
	a, b := newClient(t, connect(t), rlock.Options{}), newClient(t, connect(t), rlock.Options{})
	for want, make := range map[string]func(){
		"Quorum without locks":       func() { rlock.Quorum() },
		"Quorum with a nil lock":     func() { rlock.Quorum(a.Lock("l"), nil) },
		"Multi with a nil lock":      func() { rlock.Multi(a.Lock("l"), nil) },
		"two locks of one client":    func() { rlock.Quorum(a.Lock("l"), a.Lock("l")) },
		`two names, "l" and "other"`: func() { rlock.Quorum(a.Lock("l"), b.Lock("other")) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("panic %q, want %q", text, want)
				}
			}()
			make()
		}()
	}
}
