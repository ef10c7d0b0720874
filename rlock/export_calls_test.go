package rlock

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// The Send functions send a lock's calls directly, so that tests can repeat them.

func (l *Lock) SendAcquire(lease time.Duration, held int, waits bool) (any, error) {
	return l.sendCall(l.kind.acquire(l, lease, held, waits))
}

// unlockLatch returns the key of an unlock latch with a name given by a test.
func unlockLatch(l *Lock, latch string) string {
	return string(lockkeys.AppendUnlockLatch(nil, l.name)) + latch
}

func (l *Lock) SendUndo(held int, latch string) (any, error) {
	return l.sendCall(l.kind.undo(l, held, unlockLatch(l, latch), time.Minute))
}

func (l *Lock) SendRelease(latch string, lease time.Duration) (any, error) {
	return l.sendCall(l.kind.release(l, unlockLatch(l, latch), lease))
}

func (l *Lock) SendRenew(lease time.Duration) (any, error) {
	return l.sendCall(l.kind.renew(l, lease))
}

func (l *Lock) SendForce() (any, error) {
	return l.sendCall(l.kind.force(l, l.c.newLatchKey(l.name)))
}

func (l *Lock) SendLeave() (any, error) {
	k, _ := l.kind.leave(l)
	return l.sendCall(k)
}

func (l *Lock) sendCall(k call) (any, error) { return l.c.run(context.Background(), k, true) }
