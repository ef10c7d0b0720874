package lockredistest

import (
	"sort"
	"time"

	"github.com/lockredis/lockredis/store"
)

// Advance turns the server's clock forward by d. It stops at every deadline on
// the way, in their order: the clock reads that time, keys expire and their
// events go out, blocking commands whose time is up are answered, and whoever
// was woken by that runs the commands that it has sent already. Then comes the
// next deadline. All of it has happened when Advance returns.
//
// A client that waits for a lock sleeps until it hears that the lock was
// released or its own timer says that the lease is over, and that timer is not
// moved; nor is that of a client that waits for a permit or a rate limit. So for a lock whose lease ended, and only here (a Redis server sends
// nothing then), the message goes out by which its holder would have released
// it: to the next in the queue of a fair lock, to everybody else on the lock's
// channel.
//
// Advance needs ManualClock and ends the test without it. In a testing/synctest
// bubble time.Sleep does the same for server and clients.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	switch {
	case s.clock == nil:
		s.t.Fatal("lockredistest: Advance turns the clock of a server that was started with RunT(t, lockredistest.ManualClock()); " +
			"this one follows the machine's, or the synctest bubble's, which time.Sleep moves")
	case d < 0:
		s.t.Fatal("lockredistest: Advance(", d, "): time does not run backwards")
	}
	end := s.clock.Now().Add(d)
	for s.step(end) {
		s.srv.Core().Settle()
	}
}

// step ends what ends next and reports true, or turns the clock to end when
// nothing ends before.
func (s *Server) step(end time.Time) (more bool) {
	s.engine.Outside(func() {
		at, ok := s.engine.NextDeadline()
		if !ok || at > end.UnixMilli() {
			s.clock.Set(end)
			return
		}
		more = true
		expiring := s.locksUntil(at)
		s.clock.Set(time.UnixMilli(at))
		s.engine.EndDue()
		for i := range expiring {
			s.announce(&expiring[i])
		}
	})
	return more
}

// locksUntil returns the locks whose lease is over at a time in Unix ms, the
// first to end first.
func (s *Server) locksUntil(at int64) (locks []Lock) {
	now := s.engine.Env().Space.Now()
	for _, l := range s.heldLocks() {
		if until := l.deadline(now); until > 0 && until <= at {
			locks = append(locks, l)
		}
	}
	sort.Slice(locks, func(i, j int) bool {
		a, b := &locks[i], &locks[j]
		if a.TTL != b.TTL {
			return a.TTL < b.TTL
		}
		return a.DB < b.DB || a.DB == b.DB && a.Name < b.Name
	})
	return locks
}

// announce sends the message by which the holder of l would have released it,
// if its lease is over indeed.
func (s *Server) announce(l *Lock) {
	if s.valueAt(l.DB, l.Name) != nil {
		return
	}
	channel, message := siblingKey("redisson_lock__channel", l.Name), "0"
	switch l.Kind {
	case Read:
		channel = siblingKey("redisson_rwlock", l.Name)
	case Write: // those who want to read may all go on
		channel, message = siblingKey("redisson_rwlock", l.Name), "1"
	case Fair:
		if next := s.nextInQueue(l); next != "" {
			channel += ":" + next
		} // else others may wait for it as for a plain lock
	}
	s.engine.Env().PubSub.Publish([]byte(channel), []byte(message), false)
}

// nextInQueue returns who is first in a fair lock's queue among those that have
// not overslept, "" when there is nobody. Clients measure that by their own clock,
// which is not moved.
func (s *Server) nextInQueue(l *Lock) string {
	timeouts, _ := s.valueAt(l.DB, siblingKey(timeoutPrefix, l.Name)).(*store.ZSet)
	now := float64(time.Now().UnixMilli())
	for _, owner := range l.Queue {
		if timeouts == nil {
			return owner
		}
		if until, ok := timeouts.Score([]byte(owner)); !ok || until > now {
			return owner
		}
	}
	return ""
}
