package faults

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// The suite sees rlock through the types of this file only.

// kind is a kind of lock.
type kind string

const (
	plainLock  kind = "lock"
	fairLock   kind = "fair"
	readLock   kind = "read"
	writeLock  kind = "write"
	spinLock   kind = "spin"
	fencedLock kind = "fenced"
	multiLock  kind = "multi"
	quorumLock kind = "quorum"
	semaphore  kind = "semaphore"
	permit     kind = "permit"
)

// clientOptions are rlock's options. Zero values mean rlock's defaults.
type clientOptions struct {
	lease, fairWait time.Duration
	synced          bool // wait for replicas on any topology
	unlockOnClose   bool

	// contended is called when an acquisition begins to wait. It may be nil.
	contended func(name, owner string)
}

// forever, as how.wait, means no limit.
const forever time.Duration = -1

// how says how to acquire.
type how struct {
	wait  time.Duration // 0: one try
	lease time.Duration // 0: renewed by the watchdog
}

// patient waits until ctx ends, with a renewed lease.
var patient = how{wait: forever}

// client is a process that uses rlock.
type client interface {
	// lock returns the lock of a kind. Each acquire is another owner. A multi-lock has
	// several names.
	lock(k kind, names ...string) locker
	// permits returns a semaphore or permit semaphore.
	permits(k kind, name string) permits
	// close returns rlock's error, if its Close has one.
	close(ctx context.Context) error
}

type locker interface {
	acquire(ctx context.Context, h how) (hold, error)
	// do is rlock's Do. Inside f, do with f's context enters again.
	do(ctx context.Context, f func(context.Context) error) error
}

// hold is what an acquisition returns.
type hold interface {
	// context is the context of the work. An acquire with it enters the lock again. It is
	// nil when the kind has no owners.
	context() context.Context
	lost() <-chan struct{} // nil when the kind reports no loss
	until() time.Time      // the end of the trust in the lease; zero when it has none
	release(ctx context.Context) error
	extend(ctx context.Context, lease time.Duration) error
	owner() string // "" when the kind has no owners
	token() int64
}

type permits interface {
	set(ctx context.Context, n int) error
	acquire(ctx context.Context, n int, h how) (hold, error)
	available(ctx context.Context) (int, error)
	// give releases permits of a semaphore that another process acquired.
	give(ctx context.Context, n int) error
}

// Errors of rlock that the suite distinguishes.
var (
	errTimeout   = rlock.ErrTimeout
	errNotSynced = rlock.ErrNotSynced
	errLost      = rlock.ErrLockLost
	errNotHeld   = rlock.ErrNotHeld
	errClosed    = rlock.ErrClosed
)

var (
	_ func(redis.UniversalClient, clientOptions) client   = newClient
	_ func([]redis.UniversalClient, clientOptions) client = newQuorum
)
