package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// A goroutine may not run for the whole of its wait. It sends one request then, and waits for the
// reply as long again.
func TestATryAfterTheEndOfTheWaitTakesNoLongerThanTheWait(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		for kind, acquire := range waitsFor(t, c, rlock.Wait(10*time.Millisecond)) {
			hang := srv.Hang()
			began := time.Now()
			err := acquire(slow{t.Context()})
			if took := time.Since(began); err == nil || took > 250*time.Millisecond {
				t.Errorf("%s: after %v the error is %v", kind, took, err)
			}
			hang.Clear()
			time.Sleep(time.Minute)
		}
	})
}

// The reader has the writer's owner, so it waits until an earlier request of this owner is answered.
func TestAReaderInsideAWriteHoldWaitsNoLongerForItsTurnAndItsRequestThanItsWait(t *testing.T) {
	for limit, o := range map[time.Duration]rlock.Option{
		time.Second:             rlock.Wait(0),
		1200 * time.Millisecond: rlock.Wait(1200 * time.Millisecond),
	} {
		virtually(t, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			c := newClient(t, srv.Client(), rlock.Options{})
			rw := c.RWLock("l")
			w := acquire(t, rw.Write())
			far(srv, 900*time.Millisecond)
			earlier := make(chan *rlock.Hold, 1)
			go func() { earlier <- acquireIn(t, w.Context(), rw.Read(), rlock.Lease(10*time.Second)) }()
			time.Sleep(50 * time.Millisecond)
			began := time.Now()
			_, err := rw.Read().Acquire(w.Context(), o, rlock.Lease(time.Hour))
			if took := time.Since(began); err == nil || took > limit+10*time.Millisecond {
				t.Errorf("after %v the error is %v", took, err)
			}
			srv.ClearFaults()
			time.Sleep(time.Minute)
			release(t, w)
			_ = (<-earlier).Release(context.Background()) // its lease has ended
		})
	}
}

// When the earlier request of the owner fails, the reader sends its own.
func TestAReaderInsideAWriteHoldWaitsASecondForItsTurnAndItsAnswer(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		far(srv, 10*time.Millisecond) // so a request has one copy
		for range 2 {
			release(t, acquire(t, c.RWLock("warm").Read()))
			release(t, acquire(t, c.RWLock("warm").Write()))
		}
		rw := c.RWLock("l")
		w := acquire(t, rw.Write())
		srv.ClearFaults()
		srv.HoldRequest(lockredistest.Match{Command: "evalsha", Times: 1}, time.Minute)
		srv.DelayReply(lockredistest.Match{Command: "evalsha", Nth: 2, Times: lockredistest.Always},
			900*time.Millisecond)
		go func() { _, _ = rw.Read().Acquire(w.Context(), rlock.Wait(900*time.Millisecond)) }()
		time.Sleep(50 * time.Millisecond)
		began := time.Now()
		_, err := rw.Read().Acquire(w.Context(), rlock.Wait(0))
		if took := time.Since(began); err == nil || took > 1010*time.Millisecond {
			t.Errorf("after %v the error is %v", took, err)
		}
		srv.ClearFaults()
	})
}
