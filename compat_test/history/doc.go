// Package history checks rlock from outside. Generated programs lock, wait, let leases
// end and crash, with several clients at a time. Their results are compared with a
// sequential model of each kind. Rapid generates the programs. Porcupine searches for
// an order of the operations that the model allows. The package has tests only.
//
// # What runs
//
// A program has a few clients with a few workers each, and each worker a few steps. A
// step is one call of rlock, a pause, or a fault: all connections of the client are
// cut, or the client crashes. A crashed client neither releases nor renews. Its workers
// continue with a new client, as new owners. When all workers are done, all clients
// crash. After the longest lease one more client must be able to acquire everything:
// that finds what was left behind.
//
// By default the server and the clients run in a testing/synctest bubble. Time is
// virtual there and passes only while all goroutines wait. So leases cost no real time
// and end exactly, however busy the machine is. Goroutines still run in parallel. With
// a running server (LOCKREDIS_HISTORY_ADDR) time is real.
//
// # How expiry is modelled
//
// No client sees a lease end, but the bounds of its end are known. A call that set the
// lease began at B and returned at E. The server read its clock in between. So the
// lease ends between B+lease and E+lease, plus or minus the millisecond in which Redis
// counts. The recorder adds an operation "end" to the history, which runs from the one
// bound to the other. Porcupine may put its effect anywhere in it, and nowhere else.
// If a lock is granted to another owner before the bounds, or refused after them, no
// order fits.
//
// An end has the number of the operation that set the lease. It removes the hold from
// the model's state only if no later operation has set another lease. So ends of holds
// that were released or renewed do nothing. A lease of the watchdog has no end until
// its client crashes, or until the client itself says that the hold is lost. Then the
// end is not earlier than a lease after the last call that is known to have set it.
//
// # Owners
//
// An acquisition with the context of a hold of the same lock re-enters it. Any other
// acquisition is a new owner, with a name in Redis that Observer tells. A worker acquires
// with the context of its innermost hold, also if that is lost. A hold that re-entered
// costs no request. So the history has "enter" and "exit", which check that the owner may
// believe to hold the lock: it holds it, or it was ended by force, which the client of
// another process learns with its next renewal. The server's hold count is always 1.
// Owners of the option Owner, whose holds the server counts, are not in the programs.
//
// # Unknown outcomes
//
// A call that was cut short by the end of its context, a closed client or a closed
// connection may have happened or not. go-redis may have sent it twice, with other
// requests in between. So its operation may be left out of the order. It runs for some
// time longer (slack), because the request may still arrive. rlock undoes such an
// acquisition in the background: that is the operation "undo". After a crash it may be
// missing. In virtual time, requests of a client without cut connections take no time.
//
// A client trusts a lease for less time than the server keeps it (Hold.Until). So a
// client may say that a hold is lost before the lease ends on the server: "lost" is
// allowed from the lower bound on, in any state of the model. The client then releases
// in the background what the server may have: the operation "drop".
//
// # The models
//
//   - lock, spin, fenced, multi: the owner. A fenced lock's tokens grow with
//     each grant. A multi-lock is an operation on each of its parts. While it tries, it
//     may hold any of them for a moment, and other owners may be refused then.
//   - fair: a lock and a queue. An acquisition joins the queue with a separate operation,
//     "ask", which ends when the client reports contention. So two owners that are known
//     to have queued one after the other must be served in that order. A crashed waiter
//     may be removed FairWait after it queued.
//   - read-write: a writer and readers. A read hold inside a write hold has the writer's
//     name. Readers' leases end one by one. A writer's lease ends when its read holds
//     have ended too, because the server has one deadline for all.
//   - semaphore, permit semaphore, rate limiter: free permits, and the leases of the
//     acquired permits. A rate limiter's permits are free again an interval later.
//   - latch: a count.
//
// It is not checked whether a refused waiter could have had the lock at another moment
// of its wait: other tests check late wake-ups. The queue of a fair lock uses the
// clients' clocks. The allowance covers that when all clients are on one machine.
//
// # How to run it
//
// Plain go test checks a fixed list of programs. LOCKREDIS_HISTORY=10m checks new
// programs for that long, divided among the kinds. LOCKREDIS_HISTORY_SEED=n checks the
// program that a failure names. A seed repeats the program, not the scheduler's choices.
// LOCKREDIS_HISTORY_ADDR=host:port checks rlock on that server.
//
// Porcupine's search may take exponential time in the number of operations of unknown
// outcome. It stops early and counts the history as undecided. A test with too many
// undecided histories fails.
package history
