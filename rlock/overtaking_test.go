package rlock_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// holdUp delays every copy of the change of a lease to the given length.
func holdUp(srv *lockredistest.Server, length, delay time.Duration) *lockredistest.Fault {
	ms := strconv.FormatInt(length.Milliseconds(), 10)
	return srv.HoldRequest(lockredistest.Match{
		Script: "overtaken()", Times: lockredistest.Always,
		If: func(r lockredistest.Request) bool { return slices.Contains(r.Args, ms) },
	}, delay)
}

// eachHold runs f with a hold of each kind, in a bubble of its own. ttl returns the rest of
// the lease on the server.
func eachHold(t *testing.T, option rlock.Option,
	f func(t *testing.T, srv *lockredistest.Server, h *rlock.Hold, ttl func() time.Duration),
) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				c := newClient(t, srv.Client(), rlock.Options{})
				h := acquire(t, k.Make(c, "l"), option)
				rdb := srv.Client()
				f(t, srv, h, func() time.Duration { return rlocksuite.LeaseOf(t, rdb, k, h.Owner()) })
				release(t, h)
			})
		})
	}
	t.Run("permits", func(t *testing.T) {
		virtually(t, func(t *testing.T) {
			srv := lockredistest.RunT(t)
			p := newClient(t, srv.Client(), rlock.Options{}).PermitSemaphore("p")
			must(t, p.SetPermits(t.Context(), 2))
			h, err := p.Acquire(t.Context(), 2, option)
			must(t, err)
			f(t, srv, h.Hold, func() time.Duration {
				left, err := p.LeaseTime(t.Context(), h.IDs()[1])
				must(t, err)
				return left
			})
			release(t, h.Hold)
		})
	})
}

// mustTrust checks that h trusts its lease for at least the given time, and not longer than
// the server keeps it.
func mustTrust(t *testing.T, h *rlock.Hold, least, server time.Duration) {
	t.Helper()
	must(t, h.Err())
	if left := time.Until(h.Until()); left > server || left < least {
		t.Errorf("the hold trusts its lease for %v, the server keeps it for %v", left, server)
	}
}

func TestAnExtendThatWasOvertakenChangesNothing(t *testing.T) {
	t.Parallel()
	eachHold(t, rlock.Lease(time.Minute), func(
		t *testing.T, srv *lockredistest.Server, h *rlock.Hold, ttl func() time.Duration,
	) {
		must(t, h.Extend(t.Context(), time.Minute)) // so that the server has the script
		held := holdUp(srv, 19*time.Second, 300*time.Millisecond)
		first := make(chan error)
		go func() { first <- h.Extend(t.Context(), 19*time.Second) }()
		time.Sleep(100 * time.Millisecond)
		must(t, h.Extend(t.Context(), 1500*time.Millisecond))
		must(t, <-first)
		if held.Hits() == 0 {
			t.Fatal("no request was held up")
		}
		mustTrust(t, h, time.Second, ttl())

		go func() { first <- h.Extend(t.Context(), 19*time.Second) }()
		time.Sleep(100 * time.Millisecond)
		must(t, h.Extend(t.Context(), 40*time.Second))
		must(t, <-first)
		mustTrust(t, h, 39*time.Second, ttl())
	})
}

// The change that the reply confirms is not the last one that the server has applied.
func TestAReplyToAnExtendDoesNotOutliveALaterExtendWithoutAReply(t *testing.T) {
	eachHold(t, rlock.Lease(time.Minute), func(
		t *testing.T, srv *lockredistest.Server, h *rlock.Hold, ttl func() time.Duration,
	) {
		must(t, h.Extend(t.Context(), time.Minute))
		late := func(length time.Duration) (end chan error) {
			ms := strconv.FormatInt(length.Milliseconds(), 10)
			srv.DelayReply(lockredistest.Match{Script: "overtaken()", Times: lockredistest.Always,
				If: func(r lockredistest.Request) bool { return slices.Contains(r.Args, ms) },
			}, length/100)
			end = make(chan error, 1)
			go func() { end <- h.Extend(t.Context(), length) }()
			return end
		}
		first := late(19 * time.Second)
		time.Sleep(50 * time.Millisecond)
		second := late(21 * time.Second) // its reply comes after the first one's
		time.Sleep(160 * time.Millisecond)
		must(t, <-first)
		mustTrust(t, h, 18*time.Second, ttl())
		must(t, <-second)
		mustTrust(t, h, 20*time.Second, ttl())
	})
}

func TestManyExtendsAtOnceTrustTheLeaseOfTheServer(t *testing.T) {
	eachHold(t, rlock.Lease(time.Minute), func(
		t *testing.T, _ *lockredistest.Server, h *rlock.Hold, ttl func() time.Duration,
	) {
		for range 10 {
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if err := h.Extend(t.Context(), time.Duration(1+i*7%20)*time.Second); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			mustTrust(t, h, 0, ttl())
		}
	})
}

// An acquisition that re-enters makes the watchdog renew, while an Extend is under way. The
// renewal overtakes it.
func TestAnExtendThatARenewalOvertakesDoesNotEndTheRenewals(t *testing.T) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				l := k.Make(newClient(t, srv.Client(), rlock.Options{}), "l")
				h := acquire(t, l, rlock.Lease(10*time.Second))
				must(t, h.Extend(t.Context(), 10*time.Second))
				holdUp(srv, 45*time.Second, 300*time.Millisecond)
				extended := make(chan error)
				go func() { extended <- h.Extend(t.Context(), 45*time.Second) }()
				time.Sleep(100 * time.Millisecond)
				again := acquireIn(t, h.Context(), l)
				must(t, <-extended)
				ttl := rlocksuite.LeaseOf(t, srv.Client(), k, h.Owner())
				mustTrust(t, h, 20*time.Second, ttl)
				time.Sleep(5 * time.Minute)
				must(t, errors.Join(h.Err(), again.Err()))
				release(t, again, h)
			})
		})
	}
}

// Two acquisitions re-enter a hold at the same time. Both get the lease that they ask for.
func TestAnAcquisitionThatReentersDoesNotShortenTheLeaseOfAnother(t *testing.T) {
	for _, k := range rlocksuite.Kinds() {
		t.Run(k.Label, func(t *testing.T) {
			virtually(t, func(t *testing.T) {
				srv := lockredistest.RunT(t)
				l := k.Make(newClient(t, srv.Client(), rlock.Options{}), "l")
				h := acquire(t, l, rlock.Lease(10*time.Second))
				must(t, h.Extend(t.Context(), 10*time.Second))
				for _, lengths := range [][2]time.Duration{
					{30 * time.Second, 20 * time.Second}, {40 * time.Second, 50 * time.Second},
				} {
					holdUp(srv, lengths[0], 300*time.Millisecond)
					first := make(chan *rlock.Hold, 1)
					go func() {
						got, err := l.Acquire(h.Context(), rlock.Lease(lengths[0]))
						if err != nil {
							t.Error(err)
						}
						first <- got
					}()
					time.Sleep(100 * time.Millisecond)
					second := acquireIn(t, h.Context(), l, rlock.Lease(lengths[1]))
					one := <-first
					ttl := rlocksuite.LeaseOf(t, srv.Client(), k, h.Owner())
					mustTrust(t, h, max(lengths[0], lengths[1])-time.Second, ttl)
					release(t, one, second)
				}
				release(t, h)
			})
		})
	}
}
