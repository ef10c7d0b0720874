package lockredistest

import "time"

// Advance turns the server's clock forward by d. It stops at every deadline on the way, in
// order. At each one the clock reads that time, keys expire and their events go out, and
// blocking commands time out. Clients that were woken then run the commands that they have
// already sent. When Advance returns, all of that has happened.
//
// Advance does not move the timers of clients. A client that waits for a lock sleeps until
// the lock's release is announced, or until its own timer says that the lease is over. So
// when a lease ends, Advance publishes the message that the holder's release would have
// published: to the next owner in a fair lock's queue, else on the lock's channel. A Redis
// server publishes nothing then. Waiters for a permit or for a rate limit sleep on.
//
// Advance needs [ManualClock] and ends the test without it, or when d is negative. In a
// testing/synctest bubble, time.Sleep does the same for the server and its clients.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	switch {
	case s.clock == nil:
		s.t.Fatal("lockredistest: Advance needs a server started with " +
			"RunT(t, lockredistest.ManualClock()); this server follows the machine's clock, " +
			"or the synctest bubble's, which time.Sleep moves")
	case d < 0:
		s.t.Fatal("lockredistest: Advance(", d, "): the clock does not run backwards")
	}
	end := s.clock.Now().Add(d)
	for s.inside.Inspector.Step(s.clock, end, time.Now()) {
		s.inside.Settle()
	}
}
