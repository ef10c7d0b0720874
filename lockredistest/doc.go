// Package lockredistest gives a Go test a Redis server of its own: fresh, in
// the test's process, gone with the test.
//
//	func TestOrders(t *testing.T) {
//		srv := lockredistest.RunT(t)
//		rdb := srv.Client() // go-redis, in memory
//		…
//	}
//
// The server is a complete lockredis: scripts, pub/sub, blocking commands, keys
// that expire by themselves. Clients reach it in memory, through [Server.Client],
// [Server.Options] or [Server.Dial], or through a TCP port, which [Server.Addr]
// opens when it is first asked for. [Run] is RunT for TestMain and other places
// that have no test.
//
// # Leaks
//
// When the test ends it fails if something was left over that would block others
// in production: a lock that is held, a place in a fair lock's queue, a client
// that still waits in a blocking command, a subscription. The message says who
// holds it. [AllowLeaks] turns that off. [Server.Locks] shows the locks at any
// time.
//
// A lock is a hash that a script wrote, all of whose fields are owners in
// Redisson's form, <uuid>:<n> or <uuid>:<n>:write, with a hold count each; a
// read-write lock has the field mode besides. rlock, Redisson and its ports
// write them so; owners whose client id is no UUID (rlock.Options.ID) are not
// recognised. What a
// plain HSET wrote is data, whatever it looks like. Semaphores, latches, rate
// limiters and Redisson's unlock latches name no holder and are never leaks.
//
// # Time
//
// There are three ways to make a lease or a wait end without waiting for it.
//
// Inside a testing/synctest bubble, time.Sleep moves the server and its clients
// at once: the machine's clock is the bubble's there. Start the server inside the
// bubble and use it in memory, without Addr: whoever waits for a socket is never
// durably blocked. Watchdogs and other timers of clients run as they do in
// production. This is the way to test renewal.
//
// With [ManualClock], [Server.Advance] turns the server's clock from deadline to
// deadline. It does not move a client's own timers: a watchdog does not renew,
// and a waiter who sleeps until the holder's lease ends sleeps on. So that such a
// waiter goes on, Advance publishes the message by which the holder would have
// released the lock.
//
// Both clocks stand still while a command or a script runs: a script that loops
// until TIME has gone on never ends.
//
// Or give the key a short life: the clock is the machine's otherwise.
//
// # Coming from miniredis
//
// RunT, Addr, FlushAll and the setters and getters of [Keyspace] have the names
// they have there. Keys expire by themselves; FastForward is Advance and needs
// [ManualClock].
//
// The package starts goroutines only in RunT and what it calls, and has no state
// of its own: any number of servers and bubbles live in one process.
package lockredistest
