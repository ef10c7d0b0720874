package rlock

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// Claim is a claim of one owner to a lock. Tests send its calls directly, in any order
// and any number of times.
type Claim struct{ k *lockClaim }

// NewClaim returns a claim of the owner "id:threadID". latch is the name of its latch.
func (l *Lock) NewClaim(threadID int64, latch string) *Claim {
	k := l.newLockClaim(string(lockkeys.AppendUnlockLatch(nil, l.name)) + latch)
	k.setOwner(l.c.ownerName(threadID))
	return &Claim{k}
}

func (c *Claim) Acquire(lease time.Duration, waits bool) (any, error) {
	return c.send(c.k.acquire(lease, waits, copyAgain))
}

func (c *Claim) Release() (any, error) { return c.send(c.k.release()) }

func (c *Claim) Renew(lease time.Duration) (any, error) {
	return c.send(c.k.renew(leaseChange{lease: lease}))
}

func (c *Claim) send(k sender.Call) (any, error) { return c.k.c.ask(context.Background(), k) }

// SendForce sends the call of ForceUnlock.
func (l *Lock) SendForce() (any, error) {
	return l.c.ask(context.Background(), l.kind.force(l, l.c.newLatch(l.name)))
}

// Watched returns how many leases the client's watchdog has.
func (c *Client) Watched() int {
	c.watchdog.mu.Lock()
	defer c.watchdog.mu.Unlock()
	return len(c.watchdog.queue)
}
