package rlock

import (
	"context"
	"fmt"
	"time"
)

// hold is the time between an owner's first Lock and its last Unlock. Lock.mu
// guards its fields, watchdog.mu the fields of the lease.
type hold struct {
	lease
	l     *Lock
	count int // hold count; equal to the server's if Lock.privateOwner
	since time.Time
	token int64
	lost  chan struct{} // closed when the hold is lost
	err   error         // the reason, set before lost is closed

	multiHolds []*multiHold // of the MultiLocks with this lock as a part
}

// leaseLength returns the lease to request: locking again does not shorten it.
func (l *Lock) leaseLength(a *attempt) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return a.length
	}
	return max(a.length, l.hold.length)
}

// currentCount returns the owner's hold count. It asks the server if the owner is
// not private. It returns the hold's error if the hold was lost.
func (l *Lock) currentCount(ctx context.Context) (int, error) {
	count, err := l.localCount()
	if err != nil || l.privateOwner {
		return count, err
	}
	return l.HoldCount(ctx)
}

// localCount returns the hold count that this process knows, and the hold's error
// if the hold was lost.
func (l *Lock) localCount() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return 0, nil
	}
	return l.hold.count, l.hold.err
}

// granted begins a hold, or raises the count of the present one, after an acquire
// call was sent and answered at the given times. It returns ErrClosed when the
// client is closed; then there is no new hold.
func (l *Lock) granted(
	length time.Duration, watched bool, sent, answered time.Time, token int64,
) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.hold; h != nil {
		h.count++
		h.token = token
		// replace does nothing if the hold was lost; the caller learns that from Lost.
		l.c.watchdog.replace(&h.lease, length, watched || h.watched, sent)
		return nil
	}
	h := &hold{l: l, count: 1, since: answered, token: token, lost: make(chan struct{})}
	h.lease = lease{holder: h, length: length, watched: watched}
	if !l.c.watchdog.add(&h.lease, sent) {
		return ErrClosed
	}
	l.hold = h
	return nil
}

func (h *hold) renewal(length time.Duration) call { return h.l.kind.renew(h.l, length) }

func (h *hold) renewed() {
	h.l.notify(h.l.c.opts.Observer.Renewed, Event{Held: time.Since(h.since)})
}

// lose marks the present hold as lost.
func (l *Lock) lose(cause error) {
	l.mu.Lock()
	h := l.hold
	l.mu.Unlock()
	if h != nil && l.c.watchdog.remove(&h.lease) {
		h.lose(cause)
	}
}

// lose marks the hold as lost. It is called once, after the lease was removed from
// the watchdog.
func (h *hold) lose(cause error) {
	l := h.l
	l.mu.Lock()
	h.err = fmt.Errorf("%w: %w", ErrLockLost, cause)
	close(h.lost)
	multiHolds := h.multiHolds
	h.multiHolds = nil
	l.mu.Unlock()
	for _, m := range multiHolds {
		m.lose(h.err)
	}
	l.notify(l.c.opts.Observer.Lost, Event{Held: time.Since(h.since), Err: h.err})
}

// Lost returns a channel that is closed when the present hold is lost: its lease
// ended, a renewal found that the owner no longer holds the lock, ForceUnlock was
// called, or the client was closed. It is nil when the owner does not hold the
// lock.
func (l *Lock) Lost() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return nil
	}
	return l.hold.lost
}

// lossError returns why the hold with the given Lost channel was lost.
func (l *Lock) lossError(lost <-chan struct{}) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil && l.hold.lost == lost && l.hold.err != nil {
		return l.hold.err
	}
	return ErrLockLost
}
