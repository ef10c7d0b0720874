package rlock

import (
	"errors"
	"time"
)

// kind is what differs between the locks of this package: the scripts and their
// arguments. The calls can be sent several times and take effect once.
type kind interface {
	label() string // Event.Kind

	// acquire raises the owner's hold count from held to held+1. If an earlier
	// run of the same call has done that already, it only reports success. If the
	// lock is not free and waits is true, a kind with a queue appends the owner.
	acquire(l *Lock, lease time.Duration, held int, waits bool) call
	// acquired reads acquire's reply.
	acquired(reply any) (grant, error)
	// undo undoes an acquire with the same held, if that took effect. It may be
	// retried for the length of lease. With the latch it takes effect once, so a
	// second run does not undo a later acquisition.
	undo(l *Lock, held int, latch string, lease time.Duration) call
	// release unlocks once. It replies 1 for released, 0 for still held and nil
	// for not held. The latch keeps the reply for a second run.
	release(l *Lock, latch string, lease time.Duration) call
	// force deletes the lock, whichever owner holds it, and replies 1 if it
	// existed. With the latch, a second run does not delete a newer lock.
	force(l *Lock, latch string) call
	// renew replies 1, or 0 when the owner does not hold the lock.
	renew(l *Lock, lease time.Duration) call
	// field is the field of the lock's hash that has the owner's hold count.
	field(l *Lock) string
	// locked replies 1 when any owner holds the lock. ok is false for kinds that
	// are held exactly while their hash exists.
	locked(l *Lock) (k call, ok bool)
	// leave removes the owner from the queue when it stops waiting. ok is false
	// for kinds without a queue.
	leave(l *Lock) (k call, ok bool)
	// channel is the channel on which a release is published; "" means that
	// waiters poll. all is true when a message wakes every waiter.
	channel(l *Lock) (name string, all bool)
}

// grant is the result of an acquire call.
type grant struct {
	ok      bool          // granted; with an error: granted, but no replica has it
	unknown bool          // the reply is lost: the call may have been granted
	notHeld bool          // the owner's earlier hold is gone on the server
	ttl     time.Duration // when !ok: the rest of the holder's lease; < 0: no end
	token   int64
	more    bool // permits are left for other waiters
}

// readGrant reads the outcome of an acquire call. A grant that is ok but comes
// with an error must be undone.
func readGrant(o outcome, read func(reply any) (grant, error)) (grant, error) {
	err := unlessNotSynced(o.err)
	if err != nil {
		return grant{unknown: !answered(err) && !errors.Is(err, ErrClosed)}, err
	}
	g, err := read(o.reply)
	if err == nil && g.ok {
		err = o.err
	}
	return g, err
}
