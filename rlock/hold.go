package rlock

import (
	"context"
	"fmt"
	"time"
)

// hold is a lock's time in its owner's hands.
type hold struct {
	lease
	l     *Lock
	count int // locked that often; the server's count where Lock.known
	since time.Time
	token int64
	lost  chan struct{} // closed when the hold is lost
	err   error         // why, when lost is closed

	joints []*joint // of the MultiLocks that it is a part of
}

// leaseLength returns the lease to ask for: locking again does not shorten it.
func (l *Lock) leaseLength(a *attempt) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return a.length
	}
	return max(a.length, l.hold.length)
}

// heldCount returns how often the owner holds the lock by its own knowledge, or
// by the server's where others may act for it.
func (l *Lock) heldCount(ctx context.Context) (int, error) {
	count, err := l.ownCount()
	if err != nil || l.known {
		return count, err
	}
	return l.HoldCount(ctx)
}

// ownCount returns how often the owner holds the lock by its own knowledge, or why
// its hold was lost.
func (l *Lock) ownCount() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return 0, nil
	}
	return l.hold.count, l.hold.err
}

// granted notes a hold that a command began or counted up, from when it was sent
// and when it was answered. It returns ErrClosed, and does not, when the client is
// closed.
func (l *Lock) granted(length time.Duration, watched bool, sent, answered time.Time, token int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.hold; h != nil {
		h.count++
		h.token = token
		l.c.dog.replace(&h.lease, length, watched || h.watched, sent) // not if it is lost: Lost tells that
		return nil
	}
	h := &hold{l: l, count: 1, since: answered, token: token, lost: make(chan struct{})}
	h.lease = lease{of: h, length: length, watched: watched}
	if !l.c.dog.add(&h.lease, sent) {
		return ErrClosed
	}
	l.hold = h
	return nil
}

func (h *hold) renewal(length time.Duration) call { return h.l.kind.renew(h.l, length) }

func (h *hold) renewed() { h.l.tell(h.l.c.opts.Observer.Renewed, Event{Held: time.Since(h.since)}) }

// lose marks the present hold as lost.
func (l *Lock) lose(cause error) {
	l.mu.Lock()
	h := l.hold
	l.mu.Unlock()
	if h != nil && l.c.dog.remove(&h.lease) {
		h.lose(cause)
	}
}

// lose is called once, by whoever took the lease from the watchdog.
func (h *hold) lose(cause error) {
	l := h.l
	l.mu.Lock()
	h.err = fmt.Errorf("%w: %w", ErrLockLost, cause)
	close(h.lost)
	joints := h.joints
	h.joints = nil
	l.mu.Unlock()
	for _, j := range joints {
		j.lose(h.err)
	}
	l.tell(l.c.opts.Observer.Lost, Event{Held: time.Since(h.since), Err: h.err})
}

// Lost returns a channel that is closed when the present hold is lost: its lease
// is over, or the watchdog found that it could not be renewed. It is nil when
// the owner holds nothing.
func (l *Lock) Lost() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return nil
	}
	return l.hold.lost
}

// lossOf returns why the hold with the given channel was lost.
func (l *Lock) lossOf(lost <-chan struct{}) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil && l.hold.lost == lost && l.hold.err != nil {
		return l.hold.err
	}
	return ErrLockLost
}
