package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// FairLock returns a reentrant lock whose waiters acquire it in arrival order:
// Redisson's RLock of RedissonClient.getFairLock (RedissonFairLock).
//
// A crash of the holder costs the rest of the lease, as with Lock. A crash of the
// first waiter in the queue costs the waiters behind it Options.FairWait (Redisson's
// fairLockWaitTimeout) from when the lock is free. Then it is removed from the queue. So
// k dead waiters cost k times FairWait. It may be half of FairWait more when Redisson
// released the lock, or when its holder died too. A live waiter is removed when the
// holder renews the lock for that long. It then queues again at the end.
//
// The deadlines in the queue are on the server's clock. Redisson uses its own clock, so
// the clocks of Java clients should differ from the server's by much less than FairWait.
//
// An acquisition with Wait(0) does not queue. It acquires the lock only when no
// other owner is in the queue.
func (c *Client) FairLock(name string) *Lock { return &Lock{c: c, name: name, kind: fair{}} }

// fair is plain with a queue. The queue is a list of owners in arrival order, and a
// sorted set with each owner's deadline. An owner is removed after its deadline. Only
// the first owner in the queue may acquire the lock. A message on the owner's own
// channel wakes it when the lock is free.
type fair struct{ plain }

func (fair) label() string { return "fair" }
func (fair) queues() bool  { return true }

func (fair) channel(name, owner string) (string, bool) {
	return lockkeys.FairChannel(name, owner), false
}

func (fair) acquire(k *lockClaim, lease time.Duration, waits bool, _ copyKind) sender.Call {
	o := &k.c.opts
	keys := []string{k.name, k.latch, lockkeys.FairQueue(k.name), lockkeys.FairTimeouts(k.name),
		lockkeys.Channel(k.name)}
	return sender.NewCall(scripts.FairAcquire, keys, lease.Milliseconds(), k.owner, k.c.sender.PublishCommand(),
		o.FairWait.Milliseconds(), waits, o.Lease.Milliseconds())
}

func (fair) release(k *lockClaim) sender.Call {
	return sender.NewCall(scripts.FairRelease, fairReleaseKeys(k.name, k.latch), k.owner,
		k.c.sender.PublishCommand(), latchLife.Milliseconds(), k.c.opts.FairWait.Milliseconds())
}

func (fair) force(l *Lock, latch string) sender.Call {
	return sender.NewCall(scripts.FairForce, fairReleaseKeys(l.name, latch),
		l.c.sender.PublishCommand(), latchLife.Milliseconds(), l.c.opts.FairWait.Milliseconds())
}

func fairReleaseKeys(name, latch string) []string {
	return []string{name, lockkeys.Channel(name), latch,
		lockkeys.FairQueue(name), lockkeys.FairTimeouts(name)}
}
