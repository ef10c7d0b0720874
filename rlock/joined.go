package rlock

import (
	"encoding/hex"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/leases"
)

// joinServer joins a test server in this process that ends leases early, if rdb is a
// client of one (see package leases). leave is nil if it is not.
func (c *Client) joinServer(rdb redis.UniversalClient) (leave func()) {
	n, ok := rdb.(interface{ Options() *redis.Options })
	if !ok {
		return nil
	}
	s, ok := n.Options().Limiter.(leases.Server)
	if !ok {
		return nil
	}
	return s.JoinLeases(endedLeases{c, n.Options().DB})
}

// endedLeases is a leases.Client.
type endedLeases struct {
	c  *Client
	db int
}

func (e endedLeases) LeaseID() string { return e.c.opts.ID }

// LeaseEnded marks the hold of an owner, or of a permit, as lost.
func (e endedLeases) LeaseEnded(db int, name, owner string) {
	if db != e.db {
		return
	}
	for _, g := range e.c.holders.of(name) {
		if g.claim.(*lockClaim).owner == owner {
			g.loseNow(errLeaseExpired)
		}
	}
	for _, g := range e.c.watchdog.permits(name, owner) {
		g.loseNow(errLeaseExpired)
	}
}

// permits returns the holdings of a semaphore with a permit of the given id, in
// hexadecimal digits.
func (w *watchdog) permits(name, id string) (found []*holding) {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.queue {
		g := l.holder
		if k, ok := g.claim.(*permitClaim); ok && k.s.name == name && k.has(raw) {
			found = append(found, g)
		}
	}
	return found
}
