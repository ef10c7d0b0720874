package rlock_test

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAdvanceOfTheServersClockTellsTheHoldsWhoseLeaseItEnded(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.AllowLeaks())
	ctx := t.Context()
	c := newClient(t, srv.Client(), rlock.Options{})
	other := newClient(t, srv.Client(), rlock.Options{ID: "worker one"})
	p := c.PermitSemaphore("p")
	must(t, p.SetPermits(ctx, 2))
	permit, err := p.Acquire(ctx, 2, rlock.Lease(time.Minute))
	must(t, err)
	short := []*rlock.Hold{
		permit.Hold,
		acquire(t, c.Lock("lock"), rlock.Lease(time.Minute)),
		acquire(t, c.FairLock("fair"), rlock.Lease(time.Minute)),
		acquire(t, c.RWLock("read").Read(), rlock.Lease(time.Minute)),
		acquire(t, c.RWLock("write").Write(), rlock.Lease(time.Minute)),
		acquire(t, other.Lock("other"), rlock.Lease(time.Minute)),
	}
	long := acquire(t, c.Lock("long"), rlock.Lease(time.Hour))
	srv.Advance(2 * time.Minute)
	for i, h := range short {
		select {
		case <-h.Lost():
			mustBe(t, rlock.ErrLockLost, h.Err())
		default:
			t.Errorf("hold %d is trusted after the end of its lease", i)
		}
	}
	must(t, long.Err())
	must(t, long.Release(ctx))
}
