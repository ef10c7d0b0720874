package rlock

import (
	"errors"
	"time"
)

// kind is what differs between the locks of this package. Its calls name
// everything they need, so that they can be sent again.
type kind interface {
	label() string // Event.Kind

	// acquire takes the lock once more for an owner that holds it held times,
	// or finds that an earlier sending of the same call has done it. When it
	// cannot and waits is set, the owner takes its place in the queue, in kinds
	// that have one.
	acquire(l *Lock, lease time.Duration, held int, waits bool) call
	// acquired reads acquire's reply.
	acquired(reply any) (grant, error)
	// undo takes back an acquire for held, if it has happened, and is sent for
	// lease at the longest. The latch keeps another sending from taking back what
	// was acquired since.
	undo(l *Lock, held int, latch string, lease time.Duration) call
	// release unlocks once and answers 1 for released, 0 for still held and nil
	// for not held; a latch keeps the answer for another sending.
	release(l *Lock, latch string, lease time.Duration) call
	// force deletes the lock whoever holds it, and answers 1 if there was one. The
	// latch keeps another sending from deleting its successor.
	force(l *Lock, latch string) call
	// renew answers 1, or 0 when the owner does not hold the lock.
	renew(l *Lock, lease time.Duration) call
	// field is where the lock's hash has the owner's hold count.
	field(l *Lock) string
	// locked answers 1 when anybody holds the lock; ok is false for kinds that are
	// held while their hash exists.
	locked(l *Lock) (k call, ok bool)
	// leave takes the owner out of the queue after a wait in vain; ok is false
	// for kinds without a queue.
	leave(l *Lock) (k call, ok bool)
	// channel is where a release is announced; "" means that waiters poll.
	channel(l *Lock) (name string, all bool)
}

// grant is an answer to acquire.
type grant struct {
	ok    bool          // with an error: no replica has it
	lost  bool          // nobody knows whether it was granted: the answer is lost
	gone  bool          // the owner holds it no longer, against its belief
	ttl   time.Duration // when !ok: how long the holder may have it; < 0: for ever
	token int64
	more  bool // something is left that others may get
}

// judge reads what an acquisition came to. A grant with an error is one to take
// back.
func judge(o outcome, read func(reply any) (grant, error)) (grant, error) {
	err := unlessNotSynced(o.err)
	if err != nil {
		return grant{lost: !answered(err) && !errors.Is(err, ErrClosed)}, err
	}
	g, err := read(o.reply)
	if err == nil && g.ok {
		err = o.err
	}
	return g, err
}
