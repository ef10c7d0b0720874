// Package rlock is a client for distributed locks in Redis, in the layout of
// Redisson: a Go process and a Java process with Redisson 3.52 to 4.7 exclude,
// queue and wake each other. It works over go-redis on a single server, a
// Sentinel set or a Cluster, of Redis 6.2 or later (a Cluster: 7.0), Valkey or
// lockredis.
//
//	c := rlock.New(rdb, rlock.Options{})
//	defer c.Close()
//
//	err := c.Lock("orders:42").Do(ctx, func(ctx context.Context) error {
//		return ship(ctx, 42)
//	})
//
// [Lock.Do] locks, runs the function, unlocks, and ends the function's context
// the moment the lock cannot be trusted any more.
//
// # Owners
//
// A [Lock] value is an owner, what a thread is to Redisson: it may lock what it
// holds again, and is excluded by every other value of the same name, in this
// process or elsewhere. So each goroutine makes its own, which costs nothing.
//
// # Kinds
//
// n is the name given. Prefixes and suffixes put it in braces, so that in a
// Cluster all keys of a lock are in one slot, unless it has braces already.
//
//	kind             keys                                  channel
//	Lock             hash n: owner → hold count            redisson_lock__channel:{n}
//	FairLock         as Lock,                              redisson_lock__channel:{n}:owner
//	                 list redisson_lock_queue:{n},
//	                 zset redisson_lock_timeout:{n}
//	RWLock           hash n: mode, owner → hold count,     redisson_rwlock:{n}
//	                 owner:write → hold count,
//	                 {n}:owner:rwlock_timeout:i
//	SpinLock         as Lock                               none: it asks again and again
//	FencedLock       as Lock, redisson_lock_token:{n}      as Lock
//	MultiLock        those of its parts                    those of its parts
//	Semaphore        string n                              redisson_sc:{n}
//	PermitSemaphore  string n, zset {n}:timeout            redisson_sc:{n}
//	CountDownLatch   string n                              redisson_countdownlatch__channel__{n}
//	RateLimiter      hash n, {n}:value, {n}:permits        none: it knows when to ask again
//
//	kind             guarantees, as long as Redis keeps   what a holder's crash costs
//	                 its data
//	Lock             one owner                            the rest of its lease
//	FairLock         one owner, in the order of asking    the rest of its lease; of one in the
//	                                                      queue, Options.FairWait
//	RWLock           one writer or any number of readers  the rest of its lease
//	SpinLock         one owner                            the rest of its lease
//	FencedLock       one owner, and tokens that grow      the rest of its lease
//	MultiLock        one owner of all parts               the rest of the longest lease
//	Semaphore        no more than n at a time             its permits, for ever
//	PermitSemaphore  no more than n at a time             the rest of its permits' leases
//	CountDownLatch   nobody passes before zero            its counting: others wait on
//	RateLimiter      no more than n in each interval      nothing
//
// Each lock and unlock of those that have owners may be sent to the server any
// number of times and counts once: the owner tells the script how often it holds
// the lock, and a latch, redisson_unlock_latch:{n}:request, keeps an unlock's
// answer. So go-redis may send them again when a reply is lost. The same holds of
// PermitSemaphore's and RateLimiter's acquisitions, and of what gives back or
// changes a permit: each permit and each request has a name.
//
// A sending whose connection broke may reach the server long after its repetition
// was answered. A late unlock finds its latch and does nothing. A late acquisition
// finds nothing that tells it: if the lock is free by then it takes it, for an owner
// that does not know of it, and the lock is free again after one lease.
//
// Where the layout does not name who asked, a second sending would count again.
// So these are sent once, and after an error that is no answer of the server
// nobody knows whether they ran: all changes of Semaphore and CountDownLatch,
// PermitSemaphore's TrySetPermits and Add, and RateLimiter's TrySetRate and
// Release.
//
// # Leases
//
// A lock has a lease, after which the server deletes it: [Options.Lease], which
// a watchdog starts anew every third of it, or one of the caller's, which is not
// renewed. Either way the owner counts it from before the command was sent, so
// that it gives up no later than the server does. [Lock.Lost] and Do tell when a
// lease is over, when the lock was deleted or taken, and when the server could
// not be reached for the length of the lease.
//
// That is as much as a lock with a lease can do. A process that stands still
// (garbage collection, a suspended machine) may go on writing after its lease
// until it looks; where that does damage, hand [Lock.Token] to the
// resource.
//
// # Waiting
//
// Who waits for a lock listens on its channel, one subscription for each channel
// of a client and one connection for all (in a Cluster, sharded pub/sub and one
// for each). It wakes when the lock is released, or when the holder's lease
// ends: that is what a lost message costs. The end of the context ends each call
// at once, on a connection that hangs too, and whatever the command may have
// done is taken back in the background.
//
// # Replicas
//
// Redis replicates asynchronously, so a failover may forget a lock that was just
// granted. With Sentinel and Cluster an acquisition therefore waits until
// replicas have it (WAIT, see [Options]) and fails with [ErrNotSynced], released
// again, if none has. That makes two holders after a failover rare, not
// impossible.
package rlock
