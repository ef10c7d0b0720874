package rlock

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// Lock is one owner's view of a lock: what a thread is to Redisson. Locking it
// again while it is held only counts (it is reentrant), so goroutines that are
// to exclude each other need a Lock each, from Client.Lock or its siblings. A
// Lock may be used by several goroutines that act as one owner.
//
// A lock that was lost is unlocked like any other, with ErrLockLost, before it
// can be locked again.
type Lock struct {
	c     *Client
	name  string
	owner string
	kind  kind
	known bool // the hold count is ours alone to change

	turn chan struct{} // capacity 1: held while a change of the hold is under way

	mu   sync.Mutex // guards hold
	hold *hold      // nil: not held
}

// LockOption changes how a lock is made.
type LockOption func(*Lock)

// WithOwner makes the lock's owner "id:threadID" with the given number, to act
// for a known owner. Such an owner's hold count is read before each acquisition
// because others may change it. Owners without WithOwner are numbered from 1: a
// client that has both kinds gives WithOwner numbers that those do not reach.
func WithOwner(threadID int64) LockOption {
	return func(l *Lock) {
		l.owner = l.c.opts.ID + ":" + strconv.FormatInt(threadID, 10)
		l.known = false
	}
}

func (c *Client) newLock(name string, k kind, options []LockOption) *Lock {
	l := &Lock{c: c, name: name, kind: k, known: true, turn: make(chan struct{}, 1)}
	for _, o := range options {
		o(l)
	}
	if l.owner == "" {
		l.owner = c.nextOwner()
	}
	return l
}

// Name returns the lock's name.
func (l *Lock) Name() string { return l.name }

// Owner returns the owner's name in Redis, "id:threadId".
func (l *Lock) Owner() string { return l.owner }

// Lock waits until the lock is free and takes it, or ends with ctx. The watchdog
// renews it (Options.Lease) until Unlock, Close, or the end of the process.
func (l *Lock) Lock(ctx context.Context) error { return l.acquire(ctx, forever, 0) }

// LockLease is Lock with a lease that is not renewed: after it the lock is lost.
// It is counted in milliseconds; 0 or less means the watchdog's.
func (l *Lock) LockLease(ctx context.Context, lease time.Duration) error {
	return l.acquire(ctx, forever, lease)
}

// TryLock is LockLease, but waits no longer than wait; 0 or less means not at
// all. It ends with ErrTimeout then.
func (l *Lock) TryLock(ctx context.Context, wait, lease time.Duration) error {
	return l.acquire(ctx, max(wait, 0), lease)
}

// Watchdog, for a lease, is Options.Lease, renewed until the lock is released.
const Watchdog time.Duration = 0

const forever time.Duration = -1

func (l *Lock) tell(f func(Event), e Event) {
	if f != nil {
		e.Kind, e.Name, e.Owner = l.kind.label(), l.name, l.owner
		f(e)
	}
}
