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
	s.advanceBy("Advance", d, s)
}

// AdvanceAll turns the clocks of all Nodes forward by d. It does at each of them what Advance does, and
// stops at the deadlines of all nodes in their order. At a deadline all clocks have been turned equally
// far, to the millisecond: a client that has been woken finds the same time at every node. At the same
// millisecond the nodes take turns in the order of Nodes. What the clocks were apart before, they stay.
// AdvanceAll ends the test when Advance does.
func (s *Server) AdvanceAll(d time.Duration) {
	s.t.Helper()
	s.advanceBy("AdvanceAll", d, s.nodes...)
}

func (s *Server) advanceBy(method string, d time.Duration, nodes ...*Server) {
	s.t.Helper()
	switch {
	case s.clock == nil:
		s.t.Fatal("lockredistest: " + method + " needs a server started with " +
			"RunT(t, lockredistest.ManualClock()); this server follows the machine's clock, " +
			"or the synctest bubble's, which time.Sleep moves")
	case d < 0:
		s.t.Fatal(fmt.Sprintf("lockredistest: %s(%v): the clock does not run backwards", method, d))
	}
	s.advance(nodes, func(n *Server) time.Time { return n.clock.Now().Add(d) })
}

// advance turns the clocks of nodes forward, each to its end.
func (s *Server) advance(nodes []*Server, end func(*Server) time.Time) {
	s.t.Helper()
	hands := make([]inspect.Clock, len(nodes))
	for i, n := range nodes {
		hands[i] = inspect.Clock{Inspector: door(n).Inspector, From: n.clock.Now(), To: end(n)}
		if !hands[i].To.Before(expiry.End) {
			s.t.Fatal(fmt.Sprintf("lockredistest: the clock of a server ends with the year 2261, before %v", hands[i].To))
			return
		}
	}
	inspect.TurnTogether(hands, func(i int, to time.Time) (more, ok bool) {
		if nodes[i].hasJoined() {
			var ended []inspect.Lease
			ended, more = hands[i].Step(to, time.Now())
			nodes[i].tellOwners(ended)
		} else { // Step looks at all locks
			more = hands[i].Turn(to, true, time.Now()).More
		}
		if more {
			door(nodes[i]).Settle()
		}
		return more, true
	})
}

// SetTime sets the server's clock to t. If t is later, SetTime works as Advance. If t is
// earlier, no key expires, and all leases last longer, as when a machine's clock is set
// back. SetTime needs ManualClock and ends the test without it, or when t is in the first
// millisecond of 1970 or before, or after 2261.
func (s *Server) SetTime(t time.Time) {
	s.t.Helper()
	s.setTime("SetTime", t, s)
}

// SetTimeAll sets the clocks of all Nodes to t. Clocks that show a later time are set back first. The
// others are turned together, as AdvanceAll does. SetTimeAll ends the test when SetTime does.
func (s *Server) SetTimeAll(t time.Time) {
	s.t.Helper()
	s.setTime("SetTimeAll", t, s.nodes...)
}

func (s *Server) setTime(method string, t time.Time, nodes ...*Server) {
	s.t.Helper()
	switch {
	case s.clock == nil:
		s.t.Fatal("lockredistest: " + method + " needs a server started with " +
			"RunT(t, lockredistest.ManualClock())")
	case t.Before(time.UnixMilli(1)):
		s.t.Fatal(fmt.Sprintf("lockredistest: %s(%v): the clock of a Redis server begins in 1970", method, t))
	}
	var behind []*Server
	for _, n := range nodes {
		if t.Before(n.clock.Now()) {
			n.clock.SetBack(t)
		} else {
			behind = append(behind, n)
		}
	}
	s.advance(behind, func(*Server) time.Time { return t })
}
