package rlock

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// Lock is a lock together with one owner, as a thread is in Redisson. It is
// reentrant: locking it again while it is held raises the hold count. So
// goroutines that must exclude each other need a Lock value each, from Client.Lock,
// FairLock, SpinLock, FencedLock or RWLock. Several goroutines may use one Lock
// value; they act as one owner.
//
// A lock that was lost must be unlocked before it can be locked again. Unlock then
// returns ErrLockLost.
type Lock struct {
	c            *Client
	name         string
	owner        string
	kind         kind
	privateOwner bool // no other client uses this owner, so hold.count is right

	// turn has capacity 1 and is full while an operation of this owner is in
	// progress. A request that was abandoned keeps it until its outcome is known.
	turn chan struct{}

	mu   sync.Mutex // guards hold
	hold *hold      // nil: not held
}

// LockOption is an option for making a lock.
type LockOption func(*Lock)

// WithOwner sets the lock's owner to "id:threadID" with the given number, to act
// for an owner that exists elsewhere. Another client may change the hold count of
// such an owner, so each acquisition first reads it from the server. Owners without
// WithOwner are numbered from 1. A client that uses both must pass numbers to
// WithOwner that the others do not reach.
func WithOwner(threadID int64) LockOption {
	return func(l *Lock) {
		l.owner = l.c.opts.ID + ":" + strconv.FormatInt(threadID, 10)
		l.privateOwner = false
	}
}

func (c *Client) newLock(name string, k kind, options []LockOption) *Lock {
	l := &Lock{c: c, name: name, kind: k, privateOwner: true, turn: make(chan struct{}, 1)}
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

// Lock waits until the lock is free and acquires it. It returns ctx's error when
// ctx ends first. The watchdog renews the lease (Options.Lease) until Unlock, Close
// or the end of the process.
func (l *Lock) Lock(ctx context.Context) error { return l.acquire(ctx, forever, 0) }

// LockLease is Lock with a lease that is not renewed: when it ends, the lock is
// lost. The lease is truncated to milliseconds. Less than 1 ms means a lease that
// the watchdog renews.
func (l *Lock) LockLease(ctx context.Context, lease time.Duration) error {
	return l.acquire(ctx, forever, lease)
}

// TryLock is LockLease, but waits at most for wait and then returns ErrTimeout. A
// wait of 0 or less means a single try.
func (l *Lock) TryLock(ctx context.Context, wait, lease time.Duration) error {
	return l.acquire(ctx, max(wait, 0), lease)
}

// Watchdog, as a lease argument, means Options.Lease, renewed by the watchdog until
// the lock is released.
const Watchdog time.Duration = 0

// forever, as a wait argument, means no limit.
const forever time.Duration = -1

func (l *Lock) notify(f func(Event), e Event) {
	if f != nil {
		e.Kind, e.Name, e.Owner = l.kind.label(), l.name, l.owner
		f(e)
	}
}
