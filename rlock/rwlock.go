package rlock

import (
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// RWLock is a read-write lock: many owners may hold it for reading, or one for
// writing. It is Redisson's RReadWriteLock (RedissonReadWriteLock).
//
// The writer may also acquire the read lock, with the context of its write hold.
// When it then releases the write lock, it continues to hold the lock for reading,
// and no other owner can write in between. The opposite does not work: a reader
// that asks for the write lock would wait for itself. It gets ErrDeadlock.
//
// Waiters are served in no particular order. A waiting writer does not keep new
// readers out.
//
// After a reader's crash, writers wait for the rest of its lease. After a writer's
// crash, all owners do. Readers may have different leases: the lock is held until
// the longest of them ends.
type RWLock struct{ read, write *Lock }

// RWLock returns the read-write lock of the given name.
func (c *Client) RWLock(name string) *RWLock {
	return &RWLock{
		read:  &Lock{c: c, name: name, kind: reads{}},
		write: &Lock{c: c, name: name, kind: writes{}},
	}
}

// Read returns the lock for reading (RedissonReadLock).
//
// Its IsLocked reports whether any owner holds the read lock, also the writer. Its
// ForceUnlock ends the holds of all readers, and does nothing while the lock is held
// for writing.
func (rw *RWLock) Read() *Lock { return rw.read }

// Write returns the lock for writing (RedissonWriteLock). Its ForceUnlock also ends
// the writer's read holds, and does nothing while the lock is held for reading.
func (rw *RWLock) Write() *Lock { return rw.write }

// The lock is a hash. The field mode is "read" or "write", the field owner has the
// owner's read hold count and the field owner:write its write hold count. Each read
// hold also has a key, {name}:owner:rwlock_timeout:n, whose time to live is the lease
// of the hold. The time to live of the hash is the longest of them.
//
// In Redisson the message 0 wakes one waiter and 1 wakes all. Here both wake, in each
// client, all readers and the first writer.

// reads is the read half of an RWLock.
type reads struct{ plain }

// writes is the write half of an RWLock.
type writes struct{ plain }

func (reads) label() string { return "read" }
func (reads) mode() mode    { return reading }

func (reads) channel(name, _ string) (string, bool) { return lockkeys.RWChannel(name), true }

func (reads) acquire(k *lockClaim, lease time.Duration, _ bool, _ copyKind) sender.Call {
	return sender.NewCall(scripts.ReadAcquire, []string{k.name, k.latch, lockkeys.Braced(k.name)},
		lease.Milliseconds(), k.owner)
}

func (reads) release(k *lockClaim) sender.Call {
	keys := []string{k.name, lockkeys.RWChannel(k.name), k.latch, lockkeys.Braced(k.name)}
	return sender.NewCall(scripts.ReadRelease, keys,
		k.owner, k.c.sender.PublishCommand(), latchLife.Milliseconds())
}

func (reads) renew(k *lockClaim, ch leaseChange) sender.Call {
	return sender.NewCall(scripts.ReadRenew, []string{k.name, k.latch, lockkeys.Braced(k.name)},
		k.renewArgs(ch)...)
}

func (reads) force(l *Lock, latch string) sender.Call { return forceMode(l, latch, reading, 0) }

func (reads) locked(l *Lock) sender.Call { return sender.NewCall(scripts.ReadLocked, []string{l.name}) }

func (writes) label() string             { return "write" }
func (writes) mode() mode                { return writing }
func (writes) field(owner string) string { return owner + ":write" }

func (writes) channel(name, _ string) (string, bool) { return lockkeys.RWChannel(name), false }

func (writes) acquire(k *lockClaim, lease time.Duration, _ bool, _ copyKind) sender.Call {
	return sender.NewCall(scripts.WriteAcquire, []string{k.name, k.latch},
		lease.Milliseconds(), k.owner).LatchOptional()
}

func (writes) release(k *lockClaim) sender.Call {
	return sender.NewCall(scripts.WriteRelease, []string{k.name, lockkeys.RWChannel(k.name), k.latch},
		k.owner, k.c.sender.PublishCommand(), latchLife.Milliseconds())
}

func (writes) renew(k *lockClaim, ch leaseChange) sender.Call {
	return renewOneKey(scripts.WriteRenew, k, ch)
}

func (writes) force(l *Lock, latch string) sender.Call { return forceMode(l, latch, writing, 1) }

func (writes) locked(l *Lock) sender.Call {
	return sender.NewCall(scripts.WriteLocked, []string{l.name})
}

// forceMode deletes the lock if it is held in mode m.
func forceMode(l *Lock, latch string, m mode, message int) sender.Call {
	return sender.NewCall(scripts.RWForce, []string{l.name, lockkeys.RWChannel(l.name), latch},
		l.c.sender.PublishCommand(), latchLife.Milliseconds(), m.String(), message)
}
