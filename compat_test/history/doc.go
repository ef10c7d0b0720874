// Package history checks rlock from outside: generated programs lock, wait,
// let leases run out and crash, several clients at a time, and what they saw is
// compared with a sequential model of each kind. Rapid generates the programs,
// porcupine looks for an order of the operations that the model allows. The
// package has tests only.
//
// # What runs
//
// A program has a few clients with a few workers each, and each worker a few
// steps. A step is one call of rlock, or a pause, or a mishap: all connections
// of the client are cut, or the client crashes. A crashed client neither unlocks
// nor renews any more; its workers go on with a new client, as new owners.
// When all workers are done all clients crash, and after the longest lease one more
// client must get everything: that finds what was left behind.
//
// Without further settings server and clients run in a testing/synctest bubble.
// Time is virtual there and passes only while everybody waits, so leases cost no
// real time and end neither early nor late, however busy the machine is. Goroutines
// still run side by side. With a foreign server (LOCKREDIS_HISTORY_ADDR) time is
// real.
//
// # How expiry is modelled
//
// Nobody sees a lease end, but when it must have ended is known within bounds. A
// call that set the lease began at B and returned at E; the server read its
// clock in between. So the lease ends between B+lease and E+lease, give or take
// the millisecond that Redis counts in. The recorder adds an operation "end" to
// the history which is under way from the one to the other: porcupine may put its
// effect anywhere in it, and nowhere else. A lock that is given to another before the
// bounds, or is refused after them, has no order that fits.
//
// An end carries the number of the operation that set the lease. It takes the
// hold from the model's state only if no later operation has set another one; so ends
// of holds that were released or prolonged do nothing. A lease of the watchdog has
// no end until its client crashes, or until the client itself says that the hold
// is lost; then it has one, not before a lease after the last call that is known
// to have set it.
//
// # What nobody knows
//
// A call that was cut short by the end of its context, a closed client or a
// connection's end may have happened or not, and go-redis may have sent it twice,
// with others in between. Its operation may be left out of
// the order, and is under way for a while longer (slack), because the command may
// still arrive. An acquisition of that sort is taken back by rlock in the background:
// that is the operation "undo". After a crash it may be missing.
//
// A client counts a lease from before the command was sent, the server from later
// on. So a client may say that a hold is lost shortly before the server thinks
// so: "lost" and "not held" are allowed from the lower bound on, whatever the state
// of the model is.
//
// # The models
//
//   - lock, spin, fenced, multi: owner and hold count; a fenced lock's tokens grow
//     with each grant. A multi-lock is an operation on each of its parts, and while it
//     tries it may hold any of them for a moment: others may be refused then.
//   - fair: a lock and a queue. An acquisition joins the queue with an operation of
//     its own, "ask", which is over when the client reports contention; so two who are
//     known to have come one after the other must be served in that order. The
//     place of a crashed waiter may be given up FairWait after it was taken.
//   - read-write: a writer and readers. Readers' leases end one by one; a writer's
//     ends when nothing that the writer reads is left either, because the server
//     keeps one deadline for all.
//   - semaphore, permit semaphore, rate limiter: free permits, and leases of the
//     ones that are out. A rate limiter's permits come back an interval later.
//   - latch: a count.
//
// That a refused waiter could not have had the lock at some other moment of its
// wait is not checked: lateness of wake-ups is the business of other tests. The
// queue of a fair lock counts by the clients' clocks; the allowance covers that where
// all of them are one machine's.
//
// # How to run it
//
// Plain go test checks a fixed list of programs. LOCKREDIS_HISTORY=10m checks new
// ones for that long, divided among the kinds; LOCKREDIS_HISTORY_SEED=n the one
// that a failure names. A seed repeats the program, not the scheduler's choices.
// LOCKREDIS_HISTORY_ADDR=host:port checks rlock on that server.
//
// Porcupine looks for an order in time that may be exponential in the number of
// operations of unknown outcome. It gives up soon and counts the history as
// undecided; a test with too many of these fails.
package history
