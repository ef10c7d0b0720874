package rlock

import "errors"

// Errors that callers distinguish with errors.Is. When a call's context ends, the
// call returns the context's own error.
var (
	// ErrTimeout means that the lock or permit was not free within the wait time.
	ErrTimeout = errors.New("rlock: not acquired within the wait time")

	// ErrNotHeld means that the owner does not hold the lock or permit that it
	// wants to release.
	ErrNotHeld = errors.New("rlock: not held by this owner")

	// ErrLockLost means that a hold ended before it was released: its lease
	// ended, the watchdog could not renew it, or another client deleted the lock.
	// Another owner may have held the lock since.
	ErrLockLost = errors.New("rlock: lock lost")

	// ErrNotSynced means that no replica confirmed an acquisition in time. The
	// lock was released again. See Options.Sync.
	ErrNotSynced = errors.New("rlock: no replica confirmed the lock")

	// ErrClosed means that the Client is closed.
	ErrClosed = errors.New("rlock: client is closed")
)
