package rlock_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestSiblingsThatReadAndWriteNeverOverlap(t *testing.T) {
	c := newClient(t, connect(t), rlock.Options{})
	rw := c.RWLock("l")
	job := acquire(t, c.Lock("job"))
	var mu sync.Mutex // guards reading and writing
	reading, writing := 0, 0
	enter := func(n *int, by int) {
		mu.Lock()
		defer mu.Unlock()
		*n += by
		if writing > 1 || writing > 0 && reading > 0 {
			t.Errorf("%d write and %d read", writing, reading)
		}
	}
	var siblings sync.WaitGroup
	for range 4 {
		for l, n := range map[*rlock.Lock]*int{rw.Read(): &reading, rw.Write(): &writing} {
			siblings.Go(func() {
				for range 25 {
					err := l.Do(job.Context(), func(context.Context) error {
						enter(n, 1)
						enter(n, -1)
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	siblings.Wait()
	release(t, job)
}

func TestAReaderIsNotLostWithASiblingsLease(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rw := newClient(t, srv.Client(), rlock.Options{}).RWLock("l")
		w := acquire(t, rw.Write())
		short := acquireIn(t, w.Context(), rw.Read(), rlock.Lease(700*time.Millisecond))
		watched := acquireIn(t, w.Context(), rw.Read())
		time.Sleep(time.Minute)
		must(t, watched.Err())
		release(t, watched, short, w)
	})
}

func TestAReaderFollowsASiblingWhoseLeaseEnded(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		rw := newClient(t, srv.Client(), rlock.Options{}).RWLock("l")
		w := acquire(t, rw.Write())
		short := acquireIn(t, w.Context(), rw.Read(), rlock.Lease(700*time.Millisecond))
		<-short.Lost()
		r := acquireIn(t, w.Context(), rw.Read())
		mustBe(t, rlock.ErrLockLost, short.Release(t.Context()))
		time.Sleep(time.Minute)
		must(t, r.Err())
		release(t, w)
		mustBe(t, rlock.ErrTimeout, try(rw.Write()))
		release(t, r)
		must(t, try(rw.Write()))
	})
}

func TestReadersComeAndGoInsideTheirWriteHold(t *testing.T) {
	rw := newClient(t, connect(t), rlock.Options{}).RWLock("l")
	w := acquire(t, rw.Write())
	var siblings sync.WaitGroup
	for range 8 {
		siblings.Go(func() {
			for range 50 {
				if err := tryIn(w.Context(), rw.Read()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	siblings.Wait()
	release(t, w)
}

func TestAReadersTurnIsWaitedForWithinItsWait(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		rw := newClient(t, srv.Client(), rlock.Options{}).RWLock("l")
		w := acquire(t, rw.Write())
		defer srv.Hang().Clear()
		for wait, limit := range map[time.Duration]time.Duration{
			0: 2 * time.Second, 3 * time.Second: 4 * time.Second,
		} {
			for range 3 {
				start := time.Now()
				_, err := rw.Read().Acquire(w.Context(), rlock.Wait(wait))
				if took := time.Since(start); err == nil || took > limit {
					t.Errorf("Wait(%s): %v after %s", wait, err, took)
				}
			}
		}
	})
}
