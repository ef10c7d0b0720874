package rlock_test

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// The server deletes a key at a whole millisecond, so a lease may be almost 1 ms shorter there.
func TestAShortLeaseIsTrustedNoLongerThanTheServerKeepsIt(t *testing.T) {
	t.Parallel()
	const step = 50 * time.Microsecond
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		c := newClient(t, srv.Client(), rlock.Options{})
		for i := range 6 * 20 {
			lease := time.Duration(1+i/20) * time.Millisecond
			offset := time.Duration(i%20) * step
			for _, extended := range []bool{false, true} {
				next := time.Now().Truncate(time.Second).Add(time.Second + offset)
				time.Sleep(time.Until(next))
				first := lease
				if extended {
					first = time.Minute
				}
				h := acquire(t, c.Lock("l"), rlock.Lease(first))
				if extended {
					must(t, h.Extend(t.Context(), lease))
				}
				until := h.Until()
				for srv.Exists("l") {
					time.Sleep(step)
				}
				if gone := time.Now(); until.After(gone) {
					t.Errorf("a lease of %v, %v after a full millisecond, extended %v: "+
						"trusted for %v after its end", lease, offset, extended, until.Sub(gone))
				}
			}
		}
	})
}

func TestTheShortestLeaseOfTheWatchdogIsRenewed(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		srv := holding(t)
		for _, o := range []rlock.Options{{Lease: 1}, {Lease: time.Millisecond}} {
			h := acquire(t, newClient(t, srv.Client(), o).Lock("l"))
			time.Sleep(time.Second)
			release(t, h)
		}
	})
}
