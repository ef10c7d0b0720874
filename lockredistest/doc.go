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
// [Server.Dial]. Or they connect to a TCP port, which the first call of [Server.Addr] opens.
// In TestMain and in an example, which have no testing.T, [Run] replaces RunT.
//
// With the option [Cluster] the server is a cluster of one node, with [ClusterOf] the first of
// several nodes, for cluster clients such as [Server.ClusterClient]. [ClusterReplicas] adds replicas, which
// take over when their primaries end. [Primaries] starts independent servers, [Replicas] a primary and its
// replicas, and [Proxy] a server that refuses keys of several slots. With the option [Sentinel] three
// Sentinels monitor it, for clients such as [Server.FailoverClient].
//
// # Leaks
//
// The test fails at its end if it leaves a leak. In production a leak blocks other clients.
// Leaks are a held lock, a position in a fair lock's queue, an acquired permit, a client in a
// blocking command, and a subscription. The message names the holder or the client of the first
// 20, and counts the others. A subscription to the channel of a free lock, of a semaphore with a free
// permit or of a latch is no leak: Redisson keeps it when tryLock, tryAcquire or await times out while
// it subscribes.
// [AllowLeaks] turns the check off. [Server.Locks] returns the locks at any time.
//
// A lock is a hash that a script wrote. All its fields are owners in Redisson's form,
// <id>:<n> or <id>:<n>:write, with a hold count each; a read-write lock also has the field
// mode. rlock, Redisson and Redisson's ports write such hashes. The id is a UUID, or the id of
// an rlock client of this process that uses Client or Options. With another id, the hash is a
// lock only if a script that wrote it also named another key of the same lock. A hash that a
// plain HSET wrote is data, whatever its fields look like. So is a copy of a lock by COPY or
// RESTORE. A lock that RENAME, RENAMENX or MOVE moved is a lock under its new name. A key
// that MIGRATE moved to another node of a cluster is a lock if it looks like one, because the nodes do
// not tell each other who wrote a key.
//
// A lock is also a string with a TTL that SET with NX created, if its value is a random token or
// names the host and the id of this process. redislock, redsync and rueidislock write such strings.
// Without a TTL the string is a lock only if the key's name has "lock" or "mutex" in it. A permit is a
// member of a permit semaphore's sorted set. Semaphores, latches, rate limiters and Redisson's unlock latches name
// no holder and are never leaks. [LockKeys] and [DataKeys] say which keys are locks or data in
// spite of these rules.
//
// # Faults
//
// Some methods of Server make faults in requests, replies and messages, as a network or a
// failing server does. Examples are [Server.LoseReply], [Server.HoldRequest],
// [Server.DropMessage] and [Server.Hang]. See [Fault]. [Server.SetError] makes commands fail.
// [Server.Stop] and [Server.Restart] act as the end and the start of the server's process.
// With [Replicas], [Server.Lag] and [Server.Disconnect] make faults between nodes, and
// [Server.Failover] promotes a replica at once.
//
// # Time
//
// A test can end a lease or a wait in three ways without waiting for it.
//
// Inside a testing/synctest bubble, time.Sleep moves the server and its clients at once,
// because they all use the bubble's clock. Start the server inside the bubble and use it in
// memory, without Addr. A goroutine that waits for a socket is never durably blocked.
// Watchdogs and other timers of clients run as in production. Use a bubble to test renewal.
//
// With [ManualClock], [Server.Advance] turns the server's clock from deadline to deadline.
// Advance does not move the timers of clients. A watchdog does not renew. A waiter sleeps
// until its own timer says that the holder's lease is over. To wake that waiter, Advance
// publishes the message that the holder's release would have published. It also tells rlock
// clients of this process which of their leases ended. [Server.SetTime] sets the clock to any
// time, even an earlier one. [Server.AdvanceAll] and [Server.SetTimeAll] turn the clocks of all
// nodes of a cluster, or of all primaries, together.
//
// Both clocks stand still while a command or a script runs. A script that loops until TIME
// changes never ends.
//
// Without a bubble and without ManualClock, the clock is the machine's. Give the key a short
// life.
//
// # Coming from miniredis
//
// Most methods have the same names as in miniredis. docs/from-miniredis.md in this module has
// each call of miniredis with its twin. Keys expire by themselves here. FastForward is Advance
// and needs [ManualClock].
//
// The package starts goroutines only in RunT and the methods, and has no state of its own.
// Any number of servers and bubbles can run in one process.
package lockredistest
