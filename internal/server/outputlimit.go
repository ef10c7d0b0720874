package server

import (
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
)

// This file has the limits of the output that a client has not read.

// maxUnauthOutput is how many unread bytes a client may have before AUTH. Redis with
// the fix of CVE-2025-21605 allows about as many.
const maxUnauthOutput = 16 << 10

// enforceOutputLimit disconnects a client that has too many unread bytes
// (client-output-buffer-limit). It is called inside the engine.
func (c *conn) enforceOutputLimit() {
	if c.out.exceeds(c.outputLimit(), c.server.clock.Now()) {
		c.server.log.Warn("client closed for overcoming of output buffer limits",
			"client", c.session.ID)
	}
}

// outputLimit returns the limit of unread bytes that applies to the client now.
func (c *conn) outputLimit() config.OutputLimit {
	switch {
	case c.needsPassword():
		return config.OutputLimit{Hard: maxUnauthOutput}
	case c.session.Follows():
		if c.session.Replica.State != command.Online {
			return config.OutputLimit{} // a file has a limit of its own: see internal/replication
		}
		return c.server.cfg.ReplicaLimit()
	case c.session.Subs.Any():
		return c.server.cfg.OutputLimits[config.PubSubClient]
	}
	return c.server.cfg.OutputLimits[config.NormalClient]
}

// leastLimit returns the least of the limits of unread output. A client with at most as many bytes
// exceeds no limit.
func leastLimit(cfg *config.Config) uint64 {
	least := uint64(maxUnauthOutput)
	for _, limit := range cfg.OutputLimits {
		for _, n := range [...]uint64{limit.Hard, limit.Soft} {
			if n != 0 {
				least = min(least, n)
			}
		}
	}
	return least
}

// within reports whether size unread bytes exceed neither limit. A limit of 0 does not apply.
func within(limit config.OutputLimit, size uint64) bool {
	return (limit.Hard == 0 || size <= limit.Hard) && (limit.Soft == 0 || size <= limit.Soft)
}

// exceeds reports whether the hard limit is exceeded, or the soft limit has been
// exceeded for too long. It then breaks the connection.
func (o *output) exceeds(limit config.OutputLimit, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := uint64(o.unread())
	if o.broken.Load() {
		return false
	}
	o.soft = limit.Soft
	over := limit.Hard > 0 && size > limit.Hard
	if soft := limit.Soft > 0 && size > limit.Soft; !soft {
		o.overSoft = time.Time{}
	} else {
		if o.overSoft.IsZero() {
			o.overSoft = now
		}
		left := time.Duration(limit.SoftSeconds)*time.Second - now.Sub(o.overSoft)
		if over = over || left < 0; !over {
			o.checkAfter(left + time.Millisecond)
		}
	}
	if over {
		o.fail()
	}
	return over
}

// checkAfter enforces the limit again after d. The soft limit's time also ends when no
// more output comes. The lock is held.
func (o *output) checkAfter(d time.Duration) {
	if o.check != nil {
		o.check.Reset(d)
		return
	}
	o.check = time.AfterFunc(d, o.enforce)
}
