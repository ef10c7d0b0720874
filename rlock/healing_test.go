package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// empty makes a server lose its data, as a restart does. The clients notice it.
func empty(srv *lockredistest.Server) {
	srv.FlushAll()
	srv.Cut(lockredistest.Connections{})
}

func TestAQuorumTakesALostPartAgain(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		h, err := q.Acquire(t.Context())
		must(t, err)
		time.Sleep(2 * time.Second)
		for range 2 {
			for i, srv := range q.servers {
				empty(srv)
				eventually(t, "the part is taken again", func() bool { return q.locked() == 3 })
				time.Sleep(6 * time.Second)
				if err := h.Err(); err != nil {
					t.Fatalf("server %d: %v", i, err)
				}
			}
		}
		time.Sleep(time.Hour) // the new parts are renewed
		if n := q.locked(); n != 3 {
			t.Errorf("%d parts are held", n)
		}
		if left := time.Until(h.Until()); left < 15*time.Second {
			t.Errorf("trusted for %s", left)
		}
		_, err = q.Acquire(t.Context(), rlock.Wait(0))
		mustBe(t, rlock.ErrTimeout, err)
		release(t, h)
		q.free(t)
	})
}

func TestAQuorumTakesAPartOfAServerThatWasAway(t *testing.T) {
	redistest.SkipWhenQuick(t)
	t.Parallel()
	eachOutage(t, func(t *testing.T, o outage) {
		q := newQuorum(t, rlock.Options{})
		for i, srv := range q.servers {
			end := o.begin(t, srv)
			h, err := q.Acquire(t.Context())
			must(t, err)
			time.Sleep(45 * time.Second)
			end()
			eventually(t, "the server has the lock", func() bool { return srv.Exists("l") })
			time.Sleep(time.Second)
			end = o.begin(t, q.servers[(i+1)%3])
			time.Sleep(5 * time.Minute)
			must(t, h.Err())
			end()
			release(t, h)
			q.free(t)
		}
	})
}

// Two servers lose their data. The first part is taken again before the client knows of the
// second loss: there was no majority meanwhile.
func TestAQuorumThatHadNoMajorityIsLostAlthoughItsPartsAreTakenAgain(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		h, err := q.Acquire(t.Context())
		must(t, err)
		time.Sleep(2 * time.Second)
		q.servers[1].FlushAll()
		empty(q.servers[0])
		select {
		case <-h.Lost():
		case <-time.After(5 * time.Second):
			t.Fatal("the hold is trusted")
		}
		mustBe(t, rlock.ErrLockLost, context.Cause(h.Context()))
		time.Sleep(time.Minute)
		mustBe(t, rlock.ErrLockLost, h.Err())
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
		q.free(t)
	})
}

// The verification of the second server is lost, so only its reply to the release tells.
func TestTheReleaseOfAQuorumThatHadNoMajorityTellsIt(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		h, err := q.Acquire(t.Context())
		must(t, err)
		time.Sleep(2 * time.Second)
		lost := q.servers[1].LoseReply(lockredistest.Match{
			Script: "plain_renew", Times: lockredistest.Always})
		q.servers[1].FlushAll()
		empty(q.servers[0])
		eventually(t, "the part is taken again", func() bool { return q.servers[0].Exists("l") })
		must(t, h.Err())
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
		lost.Clear()
		q.free(t)
	})
}

func TestAQuorumIsNotTakenAgainFromAnotherOwner(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		h, err := q.Acquire(t.Context())
		must(t, err)
		time.Sleep(2 * time.Second)
		other := newClient(t, q.servers[0].Client(), rlock.Options{}).Lock("l")
		got := make(chan *rlock.Hold, 1)
		go func() { got <- acquire(t, other) }()
		waitedFor(t, q.servers[0], "l", true)
		q.servers[0].FlushAll()
		q.servers[0].Publish("redisson_lock__channel:{l}", "0")
		theirs := <-got
		time.Sleep(time.Minute)
		must(t, h.Err())
		must(t, theirs.Err())
		release(t, theirs)
		eventually(t, "the part is taken again", func() bool { return q.locked() == 3 })
		release(t, h)
		q.free(t)
	})
}

func TestAPartThatACallerEndedIsNotTakenAgain(t *testing.T) {
	virtually(t, func(t *testing.T) {
		var locks []*rlock.Lock
		for range 3 {
			c := newClient(t, lockredistest.RunT(t).Client(), rlock.Options{})
			locks = append(locks, c.Lock("l"))
		}
		h, err := rlock.Quorum(locks...).Acquire(t.Context())
		must(t, err)
		for i, l := range locks[:2] {
			must(t, h.Err())
			if ok, err := l.ForceUnlock(t.Context()); !ok || err != nil {
				t.Fatal(i, ok, err)
			}
			time.Sleep(time.Minute)
		}
		mustBe(t, rlock.ErrLockLost, h.Err())
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
	})
}

func TestAQuorumWithALeaseOfItsOwnIsNotTakenAgain(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		extended, err := q.Acquire(t.Context())
		must(t, err)
		must(t, extended.Extend(t.Context(), time.Hour))
		empty(q.servers[0])
		time.Sleep(time.Minute)
		if n := q.locked(); n != 2 {
			t.Errorf("%d parts are held", n)
		}
		release(t, extended)
		leased, err := q.Acquire(t.Context(), rlock.Lease(time.Hour))
		must(t, err)
		empty(q.servers[1])
		time.Sleep(time.Minute)
		if n := q.locked(); n != 2 {
			t.Errorf("%d parts are held", n)
		}
		release(t, leased)
		q.free(t)
	})
}

func TestAnInnerHoldOfAQuorumEntersThePartsThatWereTakenAgain(t *testing.T) {
	virtually(t, func(t *testing.T) {
		q := newQuorum(t, rlock.Options{})
		must(t, q.Do(t.Context(), func(ctx context.Context) error {
			time.Sleep(2 * time.Second)
			for _, srv := range q.servers {
				return q.Do(ctx, func(inner context.Context) error {
					empty(srv)
					eventually(t, "the part is taken again", func() bool { return q.locked() == 3 })
					time.Sleep(time.Minute)
					start := time.Now()
					must(t, q.Do(inner, func(context.Context) error { return nil }))
					if took := time.Since(start); took > 10*time.Millisecond {
						t.Errorf("entered again after %s", took)
					}
					if n := q.locked(); n != 3 {
						t.Errorf("%d parts are held", n)
					}
					return inner.Err()
				})
			}
			return ctx.Err()
		}))
		q.free(t)
	})
}

func TestCloseReleasesThePartsThatWereTakenAgainAfterDo(t *testing.T) {
	virtually(t, func(t *testing.T) {
		var servers []*lockredistest.Server
		var clients []*rlock.Client
		var locks []*rlock.Lock
		for range 3 {
			srv := lockredistest.RunT(t)
			c := newClient(t, srv.Client(), rlock.Options{UnlockOnClose: true})
			servers, clients, locks = append(servers, srv), append(clients, c), append(locks, c.Lock("l"))
		}
		in, end, ended := make(chan bool), make(chan bool), make(chan error, 1)
		go func() {
			ended <- rlock.Quorum(locks...).Do(t.Context(), func(context.Context) error {
				close(in)
				<-end
				return nil
			})
		}()
		<-in
		time.Sleep(2 * time.Second)
		empty(servers[0])
		eventually(t, "the part is taken again", func() bool { return servers[0].Exists("l") })
		closed := make(chan error, 3)
		for _, c := range clients {
			go func() { closed <- c.Close(context.Background()) }()
		}
		time.Sleep(time.Second)
		for i, srv := range servers {
			if !srv.Exists("l") {
				t.Errorf("server %d: released before Do ended", i)
			}
		}
		close(end)
		must(t, <-ended)
		for range clients {
			must(t, <-closed)
		}
		for i, srv := range servers {
			if srv.Exists("l") {
				t.Errorf("server %d: not released", i)
			}
		}
	})
}
