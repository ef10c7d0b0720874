// Package lockredistest gives a Go test a Redis server of its own. The server runs in the
// test's process, begins empty, and is closed when the test ends.
//
//	func TestOrders(t *testing.T) {
//		srv := lockredistest.RunT(t)
//		rdb := srv.Client() // go-redis, in memory
//		…
//	}
//
// The server is a complete lockredis: scripts, pub/sub, blocking commands, keys that expire
// on time. Clients connect in memory, through [Server.Client], [Server.Options] or
// [Server.Dial], or through a TCP port, which [Server.Addr] opens when it is first called.
// In TestMain, and wherever else there is no test, [Run] replaces RunT.
//
// # Leaks
//
// The test fails at its end if it left something behind that would block others in
// production: a lock that is held, a place in a fair lock's queue, a client that waits in a
// blocking command, a subscription. The message names the holder or the client.
// [AllowLeaks] turns the check off. [Server.Locks] returns the locks at any time.
//
// A lock is a hash that a script wrote. All its fields are owners in Redisson's form,
// <uuid>:<n> or <uuid>:<n>:write, with a hold count each; a read-write lock also has the
// field mode. rlock, Redisson and its ports write locks so. An owner whose client id is not
// a UUID (rlock.Options.ID) is not recognised. A hash that a plain HSET wrote is data,
// whatever its fields look like. Semaphores, latches, rate limiters and Redisson's unlock
// latches name no holder and are never leaks.
//
// # Time
//
// A test can end a lease or a wait in three ways without waiting for it.
//
// Inside a testing/synctest bubble, time.Sleep moves the server and its clients at once,
// because the machine's clock is the bubble's there. Start the server inside the bubble and
// use it in memory, without Addr: a goroutine that waits for a socket is never durably
// blocked. Watchdogs and other timers of clients run as in production. Use this way to test
// renewal.
//
// With [ManualClock], [Server.Advance] turns the server's clock from deadline to deadline.
// Advance does not move the timers of clients. A watchdog does not renew, and a waiter that
// sleeps until the holder's lease ends sleeps on. To wake that waiter, Advance publishes the
// message that the holder's release would have published.
//
// Both clocks stand still while a command or a script runs. A script that loops until TIME
// changes never ends.
//
// Without either, the clock is the machine's: give the key a short life.
//
// # Coming from miniredis
//
// RunT, Addr, FlushAll and the methods of [Keyspace] have the names that they have in
// miniredis. Keyspace has the methods that tests of locks use. For other commands there is
// [Keyspace.Do] or a client. Keys expire by themselves. FastForward is Advance here and
// needs [ManualClock].
//
// The package starts goroutines only in RunT and the methods, and has no state of its own.
// Any number of servers and bubbles can run in one process.
package lockredistest
