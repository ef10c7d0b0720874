// Package simulation runs hundreds of model lock clients against the engine, without
// sockets, goroutines or real time. After every step it checks the invariants. The
// package has tests only.
//
// # What runs
//
// A world is an engine with a manual clock, and model clients of every kind of lock.
// Each lock has several clients, so it is always contended. The clients send rlock's
// own scripts, read from its files, and other commands: SUBSCRIBE, PTTL, HGET, DEL of
// latches, SCRIPT LOAD. They re-enter a hold as rlock does, in the client.
//
// A step is the next action of a client, or an event of the world. Time passes: a
// little, much, or up to the next deadline, a millisecond before or after it. The
// server's timer runs. Its clock is set back. A connection is killed. Messages are
// lost. The script cache is flushed. Expiry is lazy for a while. Clients crash, pause
// until after their lease, renew late, unlock locks that they do not hold, and unlock
// by force. Requests and replies are lost or late, so that clients send again. A late
// copy of a request may arrive at any time before its latch expires. Its retry may have
// been answered, its hold released, or its client crashed.
//
// A seed decides the setup of the world. Each step has its own random numbers and is
// valid in any state. So a course is a list of steps that can be repeated, and
// shortened when it fails.
//
// # Invariants
//
// The replies determine the model: which owner holds which lock until when
// (lock_test.go). The model is compared
//
//   - with the stored data, after every command: owners, counts, deadlines, and the
//     order of a fair lock's queue;
//   - with the replies: a lock that another owner holds is refused, a free lock is
//     granted, and a reply's wait time is right to the millisecond;
//   - with the trust of the clients, which measure leases from when they sent the
//     request. Two owners that exclude each other never both trust their lease. An
//     owner that trusts its lease is the stored owner;
//   - with the wishes of the clients. The owner of an idle client holds no lock. A
//     waiter whose late copy was granted asks again within a second. Each permit is
//     known to its client, or its client has crashed;
//   - with the waiters. After a command, every waiter that could have the lock has
//     been sent a message. After time has passed, no waiter sleeps beside a lock whose
//     lease has ended.
//
// The deadlines of all keys are recorded. After its deadline a key is invisible to
// every command. It is expired and published once and not early. Every thousand steps
// all data is checked. The Check functions of store, expiry, pubsub and engine then
// compare their indexes.
//
// The client of a counter repeats a request until the request's latch expires. A client
// without an answer by then counts as crashed.
//
// planted_test.go breaks scripts and the engine on purpose and expects a failure.
//
// # What is allowed
//
// After an unlock by force the holder may learn of its loss late. A read-write lock's
// longest lease may be given up early, or a holder may shorten its lease. Then the lock
// ends sooner than its waiters were told. They get no message, so they sleep for the time
// they were told, or until the release. In a fair lock's queue a waiter may also sleep
// behind another waiter that does not come.
//
// A crashed client's request may take a lock for its lease. An owner whose holds the
// server counts may lose them and leave them until their lease ends. The server cannot
// tell them from the owner's next holds.
//
// # How to run it
//
// Plain go test runs 20,000 steps, make check 100,000. LOCKREDIS_SIMULATION=n runs n steps, beginning
// with the seed LOCKREDIS_SIMULATION_SEED. A failure prints how to repeat it.
package simulation
