package rlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// latchTime returns the time to live of a latch in ms, for a request that is retried
// for at most limit. The latch must exist longer than a retry can arrive.
func latchTime(limit time.Duration) int64 { return (limit + 20*time.Second).Milliseconds() }

// onlyOnce begins a script that may be sent several times but takes effect once.
// The latch is the script's last key, the latch's time its last argument. Later
// runs reply 0.
const onlyOnce = `
if not redis.call('set', KEYS[#KEYS], '1', 'px', ARGV[#ARGV], 'nx') then return 0 end
`

// sweep deletes the latch of a call that was answered. If an earlier send of the
// call failed, it keeps the latch: that send may still reach the server.
func (c *Client) sweep(latch string, failed int, err error) {
	if err == nil && failed == 0 {
		c.sweeper.add(latch)
	}
}

// Unlock lowers the hold count by one and releases the lock at 0. ErrNotHeld means
// that the owner does not hold the lock, ErrLockLost that the lock was lost before.
// When ctx ends, or has ended already, or the server does not answer, Unlock
// returns the error and retries the release in the background until the lease ends.
func (l *Lock) Unlock(ctx context.Context) error {
	err := l.takeTurn(ctx)
	switch {
	case err == nil:
		return l.unlockInTurn(ctx)
	case ctx.Err() != nil: // another request of this owner hangs: release after it
		l.c.goBackground(func() {
			if l.takeTurn(context.WithoutCancel(ctx)) == nil {
				_ = l.unlockInTurn(ctx)
			}
		})
	}
	return err
}

// unlockInTurn is Unlock for a caller that has the turn. It gives the turn back.
func (l *Lock) unlockInTurn(ctx context.Context) error {
	h, length, err := l.beginUnlock()
	if err != nil {
		if h == nil || !l.c.goBackground(func() { l.releaseLost(length) }) {
			l.giveTurn()
		}
		return err
	}
	u := &unlockRequest{l: l, h: h, length: length, latch: l.c.newLatchKey(l.name)}
	u.call = l.kind.release(l, u.latch, length)
	u.call.failed = &u.failed
	o, abandoned := l.c.await(ctx, u)
	switch {
	case abandoned:
		return o.err
	case answered(o.err):
		err = u.end(o)
		l.giveTurn()
		return err
	case !l.c.goBackground(func() { u.late(o) }):
		_ = u.end(o)
		l.giveTurn()
	}
	return o.err
}

// unlockRequest is one release in progress.
type unlockRequest struct {
	l      *Lock
	h      *hold         // nil for an owner of WithOwner that did not lock in this process
	length time.Duration // of the lease, which starts again if the lock stays held
	latch  string
	call   call

	failed int // number of failed sends of call
}

func (u *unlockRequest) send(ctx context.Context) (any, error) {
	return u.l.c.runSynced(ctx, u.call, true)
}

// late sends the release until it is answered, if o does not come from an answer,
// and gives the turn back.
func (u *unlockRequest) late(o outcome) {
	defer u.l.giveTurn()
	if !answered(o.err) {
		o = u.l.send(u.length, u.call)
	}
	_ = u.end(o)
}

// beginUnlock returns the hold and its lease. The hold is nil for an owner of
// WithOwner that did not lock in this process. For a lost hold it lowers the count
// and returns the hold's error; it returns the hold too if the count is then 0.
func (l *Lock) beginUnlock() (h *hold, length time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h = l.hold
	switch {
	case h == nil && l.privateOwner:
		return nil, 0, ErrNotHeld
	case h == nil:
		return nil, l.c.opts.Lease, nil
	case h.err != nil:
		if h.count--; h.count == 0 {
			l.hold = nil
			return h, h.length, h.err
		}
		return nil, 0, h.err
	case h.count == 1:
		l.c.watchdog.remove(&h.lease)
	}
	return h, h.length, nil
}

// releaseLost releases a lost hold that may still exist on the server, for example
// because its lease was not renewed in time. It keeps the turn until then, because
// otherwise it could release the owner's next hold.
func (l *Lock) releaseLost(length time.Duration) {
	defer l.giveTurn()
	for held := true; held; {
		latch := l.c.newLatchKey(l.name)
		o := l.sendLatched(length, latch, l.kind.release(l, latch, length))
		// A private owner has no other hold: release until the count is 0.
		held = o.reply == int64(0) && l.privateOwner
	}
}

// end records the outcome and returns Unlock's error. After an error the hold is
// released for the owner; on the server its lease ends it.
func (u *unlockRequest) end(o outcome) error {
	// Without a replica's confirmation a failover may restore the lock. It is then
	// free at the end of its lease.
	o.err = unlessNotSynced(o.err)
	l, h := u.l, u.h
	l.c.sweep(u.latch, u.failed, o.err)
	n, held := o.reply.(int64)
	l.mu.Lock()
	if h != nil {
		if h.count--; h.count == 0 || o.err == nil && !held {
			l.c.watchdog.remove(&h.lease)
			l.hold = nil
		}
	}
	l.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case !held && h == nil:
		return ErrNotHeld
	case !held:
		err := fmt.Errorf("%w: %w", ErrLockLost, errNotOwner)
		l.notify(l.c.opts.Observer.Lost, Event{Held: time.Since(h.since), Err: err})
		return err
	case n == 1 && h != nil && l.c.opts.Observer.Released != nil:
		l.notify(l.c.opts.Observer.Released, Event{Held: time.Since(h.since)})
	}
	return nil
}

// ForceUnlock deletes the lock, whichever owner holds it, and wakes the waiters. It
// reports whether the lock was held. The holder detects the loss at its next
// renewal.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	latch, failed := l.c.newLatchKey(l.name), 0
	k := l.kind.force(l, latch)
	k.failed = &failed
	reply, err := l.c.awaitCallSynced(ctx, k, true)
	if err != nil || reply != int64(1) {
		return false, err
	}
	l.c.sweep(latch, failed, nil)
	l.lose(errForced)
	return true, nil
}

var errForced = errors.New("unlocked by force")

// IsLocked reports whether any owner holds the lock.
func (l *Lock) IsLocked(ctx context.Context) (bool, error) {
	if k, ok := l.kind.locked(l); ok {
		reply, err := l.c.awaitCall(ctx, k, true)
		return reply == int64(1), err
	}
	reply, err := l.c.awaitRead(ctx, "exists", l.name)
	return reply == int64(1), err
}

// HeldByMe asks the server whether this owner holds the lock.
func (l *Lock) HeldByMe(ctx context.Context) (bool, error) {
	n, err := l.HoldCount(ctx)
	return n > 0, err
}

// HoldCount asks the server for this owner's hold count. It is 0 when the owner does
// not hold the lock.
func (l *Lock) HoldCount(ctx context.Context) (int, error) {
	reply, err := l.c.awaitRead(ctx, "hget", l.name, l.kind.field(l))
	if err != nil || reply == nil {
		return 0, err
	}
	text, _ := reply.(string)
	return strconv.Atoi(text)
}

// TTL returns the rest of the lock's lease, in milliseconds. It is 0 when the lock
// is free and negative when the lock has no lease.
func (l *Lock) TTL(ctx context.Context) (time.Duration, error) {
	reply, err := l.c.awaitRead(ctx, "pttl", l.name)
	ms, _ := reply.(int64)
	switch {
	case err != nil || ms == -2:
		return 0, err
	default:
		return time.Duration(ms) * time.Millisecond, nil
	}
}
