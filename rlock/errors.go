package rlock

import "errors"

// Errors that callers distinguish with errors.Is. The end of a context is
// reported as the context's own error.
var (
	// ErrTimeout tells that the lock, or the permit, could not be had within
	// the wait time.
	ErrTimeout = errors.New("rlock: not acquired within the wait time")

	// ErrNotHeld tells that the owner does not hold what it wants to release.
	ErrNotHeld = errors.New("rlock: not held by this owner")

	// ErrLockLost tells that a hold ended before it was released: its lease ran
	// out, it could not be renewed, or somebody deleted it. Others may have had
	// the lock since.
	ErrLockLost = errors.New("rlock: lock lost")

	// ErrNotSynced tells that no replica confirmed an acquisition in time. The
	// lock was released again. See Options.Sync.
	ErrNotSynced = errors.New("rlock: no replica confirmed the lock")

	// ErrClosed tells that the Client is closed.
	ErrClosed = errors.New("rlock: client is closed")
)
