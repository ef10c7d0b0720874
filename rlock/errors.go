package rlock

import (
	"errors"
	"fmt"
)

// Errors that callers distinguish with errors.Is. When a call's context ends, the
// call returns the context's own error.
var (
	// ErrTimeout means that the lock or permit was not free within the time of
	// Wait.
	ErrTimeout = errors.New("rlock: not acquired within the wait time")

	// ErrNotHeld means that the hold or permit to release is not held: it was
	// released before.
	ErrNotHeld = errors.New("rlock: not held")

	// ErrLockLost means that a hold ended before it was released: its lease
	// ended, the watchdog could not renew it, or another client deleted the lock.
	// Another owner may have held the lock since.
	ErrLockLost = errors.New("rlock: lock lost")

	// ErrDeadlock means that the acquisition would wait for a hold of its own context.
	// Examples are the write lock inside the read lock, and a Lock inside an RWLock of
	// the same name.
	ErrDeadlock = errors.New("rlock: the owner would wait for itself")

	// ErrNotSynced means that too few replicas confirmed an acquisition in time. The
	// lock was released again. See Options.Sync.
	ErrNotSynced = errors.New("rlock: too few replicas confirmed the lock")

	// ErrClosed means that the Client is closed.
	ErrClosed = errors.New("rlock: client is closed")
)

// The reasons of a loss, joined with ErrLockLost.
var (
	errLeaseExpired = errors.New("lease expired")
	errSuspended    = errors.New("the machine was suspended")
	errNotOwner     = errors.New("lock deleted, or acquired by another owner")
	errForced       = errors.New("unlocked by force")
)

// maxCount is the highest number that a script can count with: Lua's numbers are
// exact to 2^53.
const maxCount int64 = 1 << 53

// checkCount returns an error if n, an argument of the operation op on the object of
// the given name, is not in least to maxCount.
func checkCount(op, name string, n int, least int64) error {
	if n := int64(n); n < least || n > maxCount {
		return fmt.Errorf("rlock: %s %q: %d is not in %d to %d", op, name, n, least, maxCount)
	}
	return nil
}
