// Package rlock is a client for distributed locks in Redis. It uses Redisson's keys
// and channels. So Go processes and Java processes with Redisson 3.52 to 4.7 can share
// a lock: they exclude, queue and wake each other. It works over go-redis on a single
// server, a Sentinel set or a Cluster. The server is Redis 6.2 or later (7.0 for a
// Cluster), Valkey or lockredis.
//
//	c := rlock.New(rdb, rlock.Options{})
//	defer c.Close(ctx)
//
//	err := c.Do(ctx, "orders:42", func(ctx context.Context) error {
//		return ship(ctx, 42)
//	}, rlock.Wait(2*time.Second))
//
// [Client.Do] acquires the lock, runs the function and releases the lock. The
// function's context ends as soon as the lock can no longer be trusted. [Wait] limits
// the waiting, not the work. Where a function does not fit, [Lock.Acquire] returns a
// [Hold], and the caller releases it. A nil context, function, client or logger is a
// mistake of the program: the call panics before it changes anything.
//
// # Ownership
//
// Ownership follows the context. A [Lock] value names a lock and has no owner.
// Goroutines may share it, and they exclude each other.
//
//   - Each acquisition is by a new owner, as by a new thread in Redisson. Only the
//     context of a hold changes that. No option gives an owner: two processes or
//     goroutines of one owner would share a lease that one of them releases, and every
//     script would have to count their holds. A Go program passes the hold's context
//     instead.
//   - With the context of a hold of the same name, an acquisition re-enters the hold.
//     That sends no request. The lock is free when both holds are released.
//   - With the context of a hold of another name, an acquisition has that hold's
//     owner, as when one Java thread locks both names.
//   - Goroutines that a function starts with its own context all belong to its hold.
//     They exclude each other under any other name, but not under the hold's name.
//
// # Kinds
//
// n is the lock's name. Keys with a prefix or suffix have the name in braces, so in a
// Cluster all keys of a lock are in one slot. A name with braces gets no further ones. So
// in a Cluster a name must not be empty, and its first braces must enclose a text: "{}",
// "a{b" and "a}b" are errors there, as they are CROSSSLOT errors with Redisson.
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
//	Multi, Quorum    the keys of their parts               the channels of their parts
//	Semaphore        string n                              redisson_sc:{n}
//	PermitSemaphore  string n, zset {n}:timeout            redisson_sc:{n}
//	CountDownLatch   string n                              redisson_countdownlatch__channel__{n}
//	RateLimiter      hash n, {n}:value, {n}:permits        none: the reply has the wait time
//	all of them      redisson_unlock_latch:{n}:request     none
//
//	kind             guarantee while Redis keeps its      cost of a holder's crash
//	                 data
//	Lock             one owner                            the rest of its lease
//	FairLock         one owner, in request order          the rest of its lease; a waiter in the
//	                                                      queue: FairWait after the lock is free
//	RWLock           one writer or any number of readers  the rest of its lease
//	SpinLock         one owner                            the rest of its lease
//	FencedLock       one owner, increasing tokens         the rest of its lease
//	Multi            one owner of all parts               the rest of the longest lease
//	Quorum           one owner, also without the data     the rest of its leases
//	                 of fewer than half of the servers
//	Semaphore        at most n permits at a time          its permits, for ever
//	PermitSemaphore  at most n permits at a time          the rest of its permits' leases
//	CountDownLatch   waiters return at zero               its count-downs: waiters keep waiting
//	RateLimiter      at most n permits in each interval   nothing
//
// # The life of a hold
//
//	   Acquire
//	      |
//	      v     granted          a third of the lease is over: renew
//	+--> try -----------> held ------------------------------------> asked
//	|     |               ^  |   a connection broke: verify            |
//	|     | refused       |  |                                         |
//	|     v               +--|-------------- confirmed ----------------+
//	+--- wait                |                                         |
//	wake  | Wait or the      | Release    another owner, or no answer  |
//	      | context ends,    |            until the lease ends         v
//	      | error, Close     |                                       lost
//	      v                  v                                         |
//	    undo              release <----------- Release ----------------+
//	      |                  |         (returns ErrLockLost at once)
//	      v                  v
//	over: a latch on the server refuses late copies of the acquisition
//
// ForceUnlock and Close also lead from held to lost. With [Options.UnlockOnClose],
// Close then releases.
//
// # Requests
//
// One sender sends every request by the same rules. It repeats a request until the
// server answers. A caller waits for the answer at most [Options.RetryFor]. go-redis's
// own retries are off. A request counts once, however often it is sent. A copy may
// arrive after its retry was answered, or after the lock was released:
//
//   - An acquisition is a claim with an id. Its release or undo writes a latch with
//     that id. A copy that finds the latch does not acquire or queue.
//   - Every change of a counter has a latch too. The latch of a release or a change
//     keeps the first reply. A copy gets that reply and changes nothing.
//   - A renewal needs no latch. It has no effect if the owner does not hold the lock,
//     and never shortens a lease. The changes of a lease by [Hold.Extend] are numbered
//     in each client; the claim's latch keeps each client's last number. A copy that
//     arrives after a later change, or after the release, has no effect, and its reply
//     says so. No clock orders changes: changes of several clients count as they arrive.
//
// The client deletes latches in batches, after 50 ms. When a reply was lost, or an Extend
// was under way at the release, it keeps the latch, because a copy may still arrive. The
// latch expires after five minutes; the latch of a change of a counter after 65 minutes.
//
// A call returns as soon as its context ends, even when the connection hangs. The
// client then undoes the acquisition in the background. A release or a change of a
// counter continues there.
//
// # Leases
//
// The server deletes a lock when its lease ends. Without the option [Lease] the lease
// is [Options.Lease], and a watchdog renews it every third of that time. A lease given
// by the caller is not renewed; [Hold.Extend] sets another one.
//
// The owner trusts its lease for a shorter time than the server keeps it. The time
// counts from before the request was sent. The margin is one hundredth of the lease,
// at least 5 ms and at most half of the lease. Both the monotonic clock and the wall
// clock count, because the monotonic clock stands still while a machine is suspended.
// When a connection breaks, the client asks the server at once whether it still has
// the holds.
//
// [Hold.Context] and [Hold.Lost] report a loss, and [Hold.Release] and Do return it.
// A hold is lost when its lease ends, or when the lock was deleted or has another
// owner. It is also lost when the server gives no answer for the length of the lease,
// or when the client is closed.
//
// A lease cannot stop a process that is paused (garbage collection, a suspended
// machine). After its lease the process may continue to write until it checks the
// lock. Where that does damage, use a [FencedLock] and pass its token to the
// resource.
//
// # Waiting
//
// A waiter listens on the lock's channel. A client has one subscription for each
// channel. All subscriptions share one connection, in a Cluster one for each master. A
// waiter wakes when the lock is released, or when the holder's lease ends. So a lost
// message costs at most the lease.
//
// # Replicas
//
// Redis replicates asynchronously, so a failover may lose a lock that was just
// granted. With Sentinel and Cluster, an acquisition therefore waits until a replica
// has it (WAIT, see [Options]). If none has it in time, the lock is released again and
// the acquisition fails with [ErrNotSynced]. No other request waits for replicas. That
// makes two holders after a failover rare, not impossible; [Quorum] needs no
// replicas.
//
// # The end
//
// [Client.Close] ends every call that waits, and undoes the acquisitions under way.
// The remaining holds are lost. Close does not wait for the functions of Do, so end
// the work first.
package rlock
