// Package simulation runs hundreds of model lock clients against the engine, without
// sockets, goroutines or real time. After every step it checks the invariants. The
// package has tests only.
//
// # What runs
//
// A world is an engine with a manual clock, and model clients of every kind of lock.
// Each lock has several clients, so it is always contended. The clients send rlock's
// own scripts, read from its source, and Redisson's other commands: SUBSCRIBE,
// PUBLISH, PTTL, HGET, DEL of latches, SCRIPT LOAD.
//
// A step is the next action of a client, or an event of the world. Time passes: a
// little, far, or up to the next deadline, a millisecond before or after it. The
// server's timer runs. Its clock is set back. A connection is killed. Messages are
// lost. The script cache is flushed. Expiry is lazy for a while. Clients crash, pause
// until after their lease, renew late, unlock what they do not hold, and unlock by
// force. Requests and replies are lost or late, so that clients send again. A late
// copy of a request arrives before its client sends anything else. After a crash of
// its client it may arrive at any time.
//
// A seed decides the setup of the world. Each step has its own random numbers and is
// valid in any state. So a course is a list of steps that can be repeated, and
// shortened when it fails.
//
// # Invariants
//
// From the replies follows which client holds what and until when (lock_test.go).
// That is compared
//
//   - with the stored data, after every command: owners, counts, deadlines, and the
//     order of a fair lock's queue;
//   - with the replies themselves: no lock is granted that another owner holds, no
//     free lock is refused, and a reply's wait time is right to the millisecond;
//   - with the beliefs of the clients, which measure leases from when they sent the
//     request: two owners that exclude each other never both trust their lease, and
//     an owner that trusts its lease is the stored owner;
//   - with the waiters: after a command, every waiter that could have the lock has
//     been sent a message. After time has passed, no waiter sleeps beside a lock whose
//     lease has ended.
//
// The deadlines of all keys are recorded. After its deadline a key is invisible to
// every command, and it is expired and published once and not early. Every thousand
// steps all data is checked, and the indexes of store, expiry, pubsub and engine are
// compared with each other (their Check).
//
// planted_test.go breaks scripts and the engine on purpose and expects a failure.
//
// # What is allowed
//
// After an unlock by force the holder may learn of its loss late. When the longest
// lease of a read-write lock is given up early, the lock ends sooner than its waiters
// were told. As in Redisson they get no message, so they sleep for the time they were
// told. In a fair lock's queue a waiter may do so too, behind another waiter that does
// not come.
//
// # How to run it
//
// Plain go test runs 100,000 steps. LOCKREDIS_SIMULATION=n runs n steps, beginning
// with the seed LOCKREDIS_SIMULATION_SEED. A failure prints how to repeat it.
package simulation
