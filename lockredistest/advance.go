package lockredistest

import (
	"fmt"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/inspect"
)

// Advance turns the server's clock forward by d. It stops at every deadline on the way, in
// order. At each one the clock reads that time, keys expire and their events go out, and
// blocking commands time out. Clients that were woken then run the commands that they have
// already sent. When Advance returns, all of that has happened.
//
// Advance does not move the timers of clients. A waiter for a lock sleeps until the release
// message, or until its own timer says that the lease is over. So when a lease ends, Advance
// publishes the message that the holder's release would have published. It publishes to the
// next owner in a fair lock's queue, else on the lock's channel. A Redis server publishes no
// such message. Waiters for a permit or a rate limit are not woken.
//
// An rlock client of this process that uses Client or Options learns at once which of its
// leases ended. Its owners then find their locks lost. All other clients trust their leases
// until their own timers end them.
//
// Advance needs [ManualClock] and ends the test without it, when d is negative, or when the clock
// would pass the year 2261, where a server's clock ends. In a
// testing/synctest bubble, time.Sleep does the same for the server and its clients.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	switch {
	case s.clock == nil:
		s.t.Fatal("lockredistest: Advance needs a server started with " +
			"RunT(t, lockredistest.ManualClock()); this server follows the machine's clock, " +
			"or the synctest bubble's, which time.Sleep moves")
	case d < 0:
		s.t.Fatal(fmt.Sprintf("lockredistest: Advance(%v): the clock does not run backwards", d))
	}
	s.advance(s.clock.Now().Add(d))
}

// advance turns the clock forward to end.
func (s *Server) advance(end time.Time) {
	s.t.Helper()
	if !end.Before(expiry.End) {
		s.t.Fatal(fmt.Sprintf("lockredistest: the clock of a server ends with the year 2261, before %v", end))
		return
	}
	for more := true; more; {
		var ended []inspect.Lease
		ended, more = door(s).Inspector.Step(end, time.Now())
		s.tellOwners(ended)
		if more {
			door(s).Settle()
		}
	}
}

// SetTime sets the server's clock to t. If t is later, SetTime works as Advance. If t is
// earlier, no key expires, and all leases last longer, as when a machine's clock is set
// back. SetTime needs ManualClock and ends the test without it, or when t is in the first
// millisecond of 1970 or before, or after 2261.
func (s *Server) SetTime(t time.Time) {
	s.t.Helper()
	switch {
	case s.clock == nil:
		s.t.Fatal("lockredistest: SetTime needs a server started with " +
			"RunT(t, lockredistest.ManualClock())")
	case t.Before(time.UnixMilli(1)):
		s.t.Fatal(fmt.Sprintf("lockredistest: SetTime(%v): the clock of a Redis server begins in 1970", t))
	case t.Before(s.clock.Now()):
		s.clock.SetBack(t)
	default:
		s.advance(t)
	}
}
