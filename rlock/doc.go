// Package rlock is a client for distributed locks in Redis. It uses Redisson's
// keys and channels, so Go processes and Java processes with Redisson 3.52 to 4.7
// can share a lock: they exclude, queue and wake each other. It works over
// go-redis on a single server, a Sentinel set or a Cluster. The server is Redis
// 6.2 or later (7.0 for a Cluster), Valkey or lockredis.
//
//	c := rlock.New(rdb, rlock.Options{})
//	defer c.Close()
//
//	err := c.Lock("orders:42").Do(ctx, func(ctx context.Context) error {
//		return ship(ctx, 42)
//	})
//
// [Lock.Do] locks, runs the function and unlocks. It cancels the function's
// context as soon as the lock can no longer be trusted.
//
// # Owners
//
// A [Lock] value is one owner, as a thread is in Redisson. The owner may lock
// again while it holds the lock. Every other Lock value with the same name is
// excluded, in this process and in others. So each goroutine makes its own Lock
// value; that costs no request.
//
// # Kinds
//
// n is the name given. Keys with a prefix or suffix put the name in braces, so
// that in a Cluster all keys of a lock are in one slot. A name that already has
// braces is used as it is.
//
//	kind             keys                                  channel
//	Lock             hash n: owner → hold count            redisson_lock__channel:{n}
//	FairLock         as Lock,                              redisson_lock__channel:{n}:owner
//	                 list redisson_lock_queue:{n},
//	                 zset redisson_lock_timeout:{n}
//	RWLock           hash n: mode, owner → hold count,     redisson_rwlock:{n}
//	                 owner:write → hold count,
//	                 {n}:owner:rwlock_timeout:i
//	SpinLock         as Lock                               none: waiters poll
//	FencedLock       as Lock, redisson_lock_token:{n}      as Lock
//	MultiLock        the keys of its parts                 the channels of its parts
//	Semaphore        string n                              redisson_sc:{n}
//	PermitSemaphore  string n, zset {n}:timeout            redisson_sc:{n}
//	CountDownLatch   string n                              redisson_countdownlatch__channel__{n}
//	RateLimiter      hash n, {n}:value, {n}:permits        none: the reply has the wait time
//
//	kind             guarantee while Redis keeps its      cost of a holder's crash
//	                 data
//	Lock             one owner                            the rest of its lease
//	FairLock         one owner, in request order          the rest of its lease; for a waiter
//	                                                      in the queue, Options.FairWait
//	RWLock           one writer or any number of readers  the rest of its lease
//	SpinLock         one owner                            the rest of its lease
//	FencedLock       one owner, increasing tokens         the rest of its lease
//	MultiLock        one owner of all parts               the rest of the longest lease
//	Semaphore        at most n permits at a time          its permits, for ever
//	PermitSemaphore  at most n permits at a time          the rest of its permits' leases
//	CountDownLatch   waiters return at zero               its count-downs: the waiters wait on
//	RateLimiter      at most n permits in each interval   nothing
//
// # Retries
//
// A lock or unlock request of a kind with owners may be sent any number of times
// and counts once. For a lock, the script gets the hold count that the owner
// knows. For an unlock, an unlock latch, redisson_unlock_latch:{n}:request, keeps
// the reply. So go-redis may send the request again when a reply is lost. The same
// is true for acquisitions of PermitSemaphore and RateLimiter, and for requests
// that release or change a permit: each permit and each request has an id.
//
// When a connection breaks, a request may reach the server long after its retry
// was answered. A late unlock finds its latch and does nothing. A late acquisition
// cannot be recognized. If the lock is free, the script takes it for an owner that
// does not know of it. The lock is then free again after one lease.
//
// Where Redisson's layout has no id for the caller, a second run would count
// again. These requests are sent only once: all changes of Semaphore and
// CountDownLatch, PermitSemaphore's TrySetPermits and Add, and RateLimiter's
// TrySetRate and Release. After an error that is not a reply of the server (a
// broken connection, a timeout) it is unknown whether they ran.
//
// # Leases
//
// The server deletes a lock when its lease ends. Without a lease given by the
// caller, the lease is [Options.Lease] and a watchdog renews it every third of
// that time. A lease given by the caller is not renewed. In both cases the owner
// measures the lease from before the request was sent, so the owner stops trusting
// the lock no later than the server deletes it. [Lock.Lost] and Do report three
// losses: the lease ended, another client deleted or took the lock, or the server
// was unreachable for the length of the lease.
//
// A lease cannot stop a process that is paused (garbage collection, a suspended
// machine). After its lease the process may continue to write until it checks the
// lock. Where that does damage, use a FencedLock and pass [Lock.Token] to the
// resource.
//
// # Waiting
//
// A waiter listens on the lock's channel. A client has one subscription for each
// channel and one connection for all of them. In a Cluster it uses sharded pub/sub
// with a connection for each channel. A waiter wakes when the lock is released, or
// when the holder's lease ends, so a lost message costs at most the lease. Each
// call returns as soon as its context ends, even when the connection hangs. The
// client then undoes in the background what the request may have done.
//
// # Replicas
//
// Redis replicates asynchronously, so a failover may lose a lock that was just
// granted. With Sentinel and Cluster, an acquisition therefore waits until
// replicas have it (WAIT, see [Options]). If none has it in time, the lock is
// released again and the acquisition fails with [ErrNotSynced]. That makes two
// holders after a failover rare, not impossible.
package rlock
