package rlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// latchTime returns how long a latch keeps the answer of what is sent until it is
// answered, at the longest for limit: in ms, as scripts take it.
func latchTime(limit time.Duration) int64 { return (limit + 20*time.Second).Milliseconds() }

// onlyOnce begins a script that may be sent again but must not run again, whatever
// it answers: the latch is its last key, and the latch's time its last argument.
const onlyOnce = `
if not redis.call('set', KEYS[#KEYS], '1', 'px', ARGV[#ARGV], 'nx') then return 0 end
`

// sweep deletes the latch of a call that was answered, unless an earlier sending of
// it was not: that one may still be on its way to the server.
func (c *Client) sweep(latch string, failed int, err error) {
	if err == nil && failed == 0 {
		c.sweeper.add(latch)
	}
}

// Unlock releases the lock once. ErrNotHeld tells that the owner does not hold
// it, ErrLockLost that it was lost before. When ctx ends, or has ended already,
// or the server does not answer, Unlock returns the error and the release goes
// on in the background until the lease is over.
func (l *Lock) Unlock(ctx context.Context) error {
	err := l.takeTurn(ctx)
	switch {
	case err == nil:
		return l.unlockInTurn(ctx)
	case ctx.Err() != nil: // a command of this owner hangs: the release comes after it
		l.c.goBackground(func() {
			if l.takeTurn(context.WithoutCancel(ctx)) == nil {
				_ = l.unlockInTurn(ctx)
			}
		})
	}
	return err
}

// unlockInTurn is Unlock by the one whose turn it is, and gives the turn back.
func (l *Lock) unlockInTurn(ctx context.Context) error {
	h, length, err := l.beginUnlock()
	if err != nil {
		if h == nil || !l.c.goBackground(func() { l.releaseLost(length) }) {
			l.giveTurn()
		}
		return err
	}
	u := &unlocking{l: l, h: h, length: length, latch: l.c.latch(l.name)}
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

// unlocking is one release under way.
type unlocking struct {
	l      *Lock
	h      *hold         // nil for an owner that was set by hand and did not lock here
	length time.Duration // of the lease that it prolongs
	latch  string
	call   call

	failed int // sendings of call
}

func (u *unlocking) send(ctx context.Context) (any, error) { return u.l.c.runSynced(ctx, u.call, true) }

// late sends the release until it is answered, if o does not come from an answer,
// and gives the turn back.
func (u *unlocking) late(o outcome) {
	defer u.l.giveTurn()
	if !answered(o.err) {
		o = u.l.send(u.length, u.call)
	}
	_ = u.end(o)
}

// beginUnlock returns the hold, which is nil for an owner that was set by hand
// and did not lock here, and the lease that a release prolongs. It returns a hold
// with an error when that was lost, and this was its last unlock.
func (l *Lock) beginUnlock() (h *hold, length time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h = l.hold
	switch {
	case h == nil && l.known:
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
		l.c.dog.remove(&h.lease)
	}
	return h, h.length, nil
}

// releaseLost releases what the server may still take for held, a lease that
// could not be renewed in time, and gives the turn back: not before, because it
// would release the owner's next hold.
func (l *Lock) releaseLost(length time.Duration) {
	defer l.giveTurn()
	for again := true; again; {
		latch := l.c.latch(l.name)
		o := l.sendLatched(length, latch, l.kind.release(l, latch, length))
		again = o.reply == int64(0) && l.known // all of its holds are lost
	}
}

// end notes the outcome. After an error the hold counts as released: the lease
// ends it.
func (u *unlocking) end(o outcome) error {
	o.err = unlessNotSynced(o.err) // a failover may bring the lock back, for the rest of its lease
	l, h := u.l, u.h
	l.c.sweep(u.latch, u.failed, o.err)
	n, held := o.reply.(int64)
	l.mu.Lock()
	if h != nil {
		if h.count--; h.count == 0 || o.err == nil && !held {
			l.c.dog.remove(&h.lease)
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
		err := fmt.Errorf("%w: %w", ErrLockLost, errGone)
		l.tell(l.c.opts.Observer.Lost, Event{Held: time.Since(h.since), Err: err})
		return err
	case n == 1 && h != nil && l.c.opts.Observer.Released != nil:
		l.tell(l.c.opts.Observer.Released, Event{Held: time.Since(h.since)})
	}
	return nil
}

// ForceUnlock deletes the lock, whoever holds it, and wakes those who wait. It
// reports whether there was one. Its holder learns of it at the next renewal.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	latch, failed := l.c.latch(l.name), 0
	k := l.kind.force(l, latch)
	k.failed = &failed
	reply, err := l.c.orderSynced(ctx, k, true)
	if err != nil || reply != int64(1) {
		return false, err
	}
	l.c.sweep(latch, failed, nil)
	l.lose(errForced)
	return true, nil
}

var errForced = errors.New("unlocked by force")

// IsLocked reports whether anybody holds the lock.
func (l *Lock) IsLocked(ctx context.Context) (bool, error) {
	if k, ok := l.kind.locked(l); ok {
		reply, err := l.c.order(ctx, k, true)
		return reply == int64(1), err
	}
	reply, err := l.c.ask(ctx, "exists", l.name)
	return reply == int64(1), err
}

// HeldByMe reports whether this owner holds the lock, by the server's word.
func (l *Lock) HeldByMe(ctx context.Context) (bool, error) {
	n, err := l.HoldCount(ctx)
	return n > 0, err
}

// HoldCount returns how often this owner has locked the lock, by the server's
// word; 0 when it does not hold it.
func (l *Lock) HoldCount(ctx context.Context) (int, error) {
	reply, err := l.c.ask(ctx, "hget", l.name, l.kind.field(l))
	if err != nil || reply == nil {
		return 0, err
	}
	text, _ := reply.(string)
	return strconv.Atoi(text)
}

// TTL returns how long the lock will be held unless it is renewed, in steps of a
// millisecond. It is 0 when nobody holds it and negative when it has no lease.
func (l *Lock) TTL(ctx context.Context) (time.Duration, error) {
	reply, err := l.c.ask(ctx, "pttl", l.name)
	ms, _ := reply.(int64)
	switch {
	case err != nil || ms == -2:
		return 0, err
	default:
		return time.Duration(ms) * time.Millisecond, nil
	}
}
