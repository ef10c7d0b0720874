package rlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// claim is what one Acquire asks for: a lock for an owner, or permits. Its calls
// may be sent any number of times and arrive in any order. They count once, because
// they share a latch: as soon as the claim is released or undone, an acquire call
// that arrives late is refused.
type claim interface {
	event() Event // its Kind, Name and Owner

	// acquire asks for the lock or the permits. If they are not free and waits is
	// true, a kind with a queue appends the owner. c is the kind of the first copy;
	// further copies are copyAgain.
	acquire(lease time.Duration, waits bool, c copyKind) sender.Call
	// granted reads acquire's reply.
	granted(reply any) (grant, error)
	// release ends the claim: it gives back what was granted, if anything was, and leaves
	// the queue.
	release() sender.Call
	// wasHeld reads release's reply.
	wasHeld(reply int64) bool
	// latchKey is the key that release sets.
	latchKey() string
	// queues reports whether acquire may leave a position in a queue.
	queues() bool
	// channel is the channel that announces when to try again, see hub.Join; ""
	// means to poll. shared is true when a message wakes others together with this one.
	channel() (name string, shared bool)
}

// copyKind tells an acquire script what it can leave out, see plain_acquire.lua.
type copyKind int

const (
	copyFirst copyKind = iota // no other copy can have been granted
	copyWoken                 // likewise, and the lock is probably held
	copyAgain
)

// arg returns c as an argument of a call. Constants need no allocation.
func (c copyKind) arg() any {
	switch c {
	case copyFirst:
		return "first"
	case copyWoken:
		return "woken"
	}
	return "again"
}

// renewable is a claim with a lease.
type renewable interface {
	claim
	// renew changes the lease. It replies 1, or 0 when the claim is not held, or 2 when it
	// changed nothing because a later change of this client has run.
	renew(ch leaseChange) sender.Call
}

// leaseChange is a change of a lease. Without a place it is an ordinary renewal. The other
// changes of a client are ordered by their places: a copy that arrives after a later
// change, or after the claim's release, changes nothing.
type leaseChange struct {
	lease   time.Duration // 0: change nothing
	shorten bool          // also if it ends earlier then
	place   string        // see Client.place
}

// placeArg returns the place as an argument of a call.
func (ch leaseChange) placeArg() any {
	if ch.place == "" {
		return "0"
	}
	return ch.place
}

// grant is the result of an acquire call.
type grant struct {
	ok    bool          // granted
	ttl   time.Duration // when !ok: the rest of the holder's lease; < 0: no end
	exact bool          // no earlier try than after ttl can be granted
	token int64
	more  bool // permits are left for other waiters
}

// acquisition is one Acquire: it is tried until it is granted. It is a waitOp.
type acquisition struct {
	c     *Client
	claim claim
	ctx   context.Context // the caller's
	settings

	start     time.Time
	sent      time.Time     // of the last try
	grantedAt time.Time     // when its reply arrived
	lease     time.Duration // to request
	undone    func()        // called after an error, when nothing is left to undo; may be nil

	asked   bool // the server has, or may have, run a try
	sending bool // a try is under way
	woken   bool // the lock was held at the last try
	strays  int  // copies of tries that may still arrive
	unsure  bool // the last try was granted, but the caller does not get it
	token   int64
}

// newAcquisition returns the acquisition of k. start is the time of the call.
func (c *Client) newAcquisition(
	ctx context.Context, k claim, s settings, start time.Time,
) *acquisition {
	lease := s.lease
	if s.watched() {
		lease = c.opts.Lease
	}
	return &acquisition{c: c, claim: k, ctx: ctx, settings: s, start: start, lease: lease}
}

// run waits until the claim is granted. After an error it takes back what the tries
// may have left on the server.
func (a *acquisition) run() error {
	waited := false
	defer func() {
		if !waited { // the observer or the context panicked
			a.abandon()
		}
	}()
	err := a.c.wait(a.ctx, a, a.start, a.wait)
	waited = true
	return a.end(err)
}

// abandon is undo after a panic, whose cause may be the caller's context.
func (a *acquisition) abandon() {
	a.ctx = context.Background()
	if a.sending {
		a.asked = true
		a.strays++
	}
	if a.asked {
		a.undo()
	} else if a.undone != nil {
		a.undone()
	}
}

// end ends an acquisition whose wait returned err. It tells the observer last, because
// that may panic.
func (a *acquisition) end(err error) error {
	o := &a.c.opts.Observer
	if err == nil {
		if o.Acquired != nil {
			a.acquired()
		}
		return nil
	}
	event := Event{Waited: time.Since(a.start)}
	if errors.Is(err, errLateGrant) && !a.over() {
		err = errClaimAgain
	}
	if a.unsure || a.strays > 0 || a.asked && a.claim.queues() && a.wait != 0 {
		a.undo()
	} else if a.undone != nil {
		a.undone()
	}
	event.Err = err
	switch {
	case errors.Is(err, errClaimAgain):
	case errors.Is(err, ErrTimeout):
		notify(a.ctx, o.TimedOut, a.claim, event)
	default:
		notify(a.ctx, o.Failed, a.claim, event)
	}
	return err
}

// acquired tells the observer. If the observer panics, the claim is taken back.
func (a *acquisition) acquired() {
	told := false
	defer func() {
		if !told {
			a.abandon()
		}
	}()
	notify(a.ctx, a.c.opts.Observer.Acquired, a.claim, Event{Waited: time.Since(a.start)})
	told = true
}

// errClaimOver means that the claim's latch exists: another copy undid the claim.
var errClaimOver = errors.New("rlock: the acquisition was undone")

func (a *acquisition) try(ctx context.Context) (grant, error) {
	if err := ctx.Err(); err != nil {
		return grant{}, err
	}
	a.sent = time.Now()
	a.sending = true
	o := a.c.sender.Send(ctx, sender.Request{
		Call:       a.claim.acquire(a.lease, a.wait != 0, a.copyKind()),
		Replicated: !a.unsynced,
		Limit:      a.tryLimit(a.c.opts),
	})
	a.sending = false
	a.strays += o.Strays
	a.asked = a.asked || o.Strays > 0 || sender.Answered(o.Err)
	if o.Err != nil && !errors.Is(o.Err, ErrNotSynced) {
		a.unsure = sender.FailedInside(o.Err)
		return grant{}, o.Err
	}
	g, err := a.claim.granted(o.Reply)
	switch {
	case err != nil:
		return grant{}, err
	case !g.ok:
		a.woken = true
		if a.strays > 0 && !g.exact && (g.ttl < 0 || g.ttl > pollStrays) {
			g.ttl = pollStrays
		}
		return g, nil
	}
	a.unsure, a.grantedAt = true, time.Now()
	switch {
	case o.Err != nil: // no replica confirmed
		return grant{}, o.Err
	case !a.noLease && !a.grantedAt.Before(trustUntil(a.sent, a.lease)):
		return grant{}, errLateGrant
	case a.c.ctx.Err() != nil:
		return grant{}, ErrClosed
	}
	a.unsure = false
	a.token = g.token
	return g, nil
}

// errLateGrant means that the lock was granted, but its lease had ended when the reply
// arrived.
var errLateGrant = fmt.Errorf("%w: %w before the server's reply arrived",
	ErrLockLost, errLeaseExpired)

// errClaimAgain is the result of an acquisition with a late grant whose caller still
// waits: it begins again with a new claim.
var errClaimAgain = errors.New("rlock: granted too late")

// over reports whether the caller does not wait any longer.
func (a *acquisition) over() bool {
	return a.ctx.Err() != nil || a.wait != forever && time.Since(a.start) >= a.wait
}

// retryLate runs acquire, which makes a new claim, and again while the reply of the
// grant arrives too late. A single try is not repeated.
func retryLate[H any](acquire func() (H, error)) (H, error) {
	for {
		h, err := acquire()
		if !errors.Is(err, errClaimAgain) {
			return h, err
		}
	}
}

// copyKind returns the kind of the next copy.
func (a *acquisition) copyKind() copyKind {
	switch {
	case a.strays > 0:
		return copyAgain
	case a.woken:
		return copyWoken
	}
	return copyFirst
}

// pollStrays is how often an acquisition asks again while copies of its earlier
// tries may still arrive. Such a copy may be granted without a message to this
// waiter. It is not granted before the time that an exact reply tells.
const pollStrays = time.Second

func (a *acquisition) contended() {
	notify(a.ctx, a.c.opts.Observer.Contended, a.claim, Event{})
}

func (a *acquisition) channel() (string, bool) { return a.claim.channel() }

// endlessLimit is how long a request is sent again that gives back what would never
// expire.
const endlessLimit = time.Hour

// undoWait is how long a failed acquisition waits for its undo, if its context has
// not ended.
const undoWait = 100 * time.Millisecond

// undo takes back what the tries may have left on the server. It continues in the
// background after undoWait, or when the caller's context ends.
func (a *acquisition) undo() {
	limit := a.lease
	if a.claim.queues() {
		limit = max(limit, a.c.opts.FairWait)
	}
	if a.noLease {
		limit = endlessLimit
	}
	wait := undoWait
	if a.strays > 0 { // the server does not answer
		wait = 0
	}
	ctx, cancel := context.WithTimeout(a.ctx, wait)
	defer cancel()
	a.c.takeBack(ctx, a.claim, true, limit, a.strays, func(sender.Outcome) {
		if a.undone != nil {
			a.undone()
		}
	})
}

// takeBack sends the claim's release until it is answered, for at most limit and
// Options.RetryFor. With undo it is unknown whether the server has the claim. settled is called
// when the release is answered or given up.
func (c *Client) takeBack(
	ctx context.Context, k claim, undo bool, limit time.Duration, strays int,
	settled func(sender.Outcome),
) sender.Outcome {
	return c.sender.Send(ctx, sender.Request{
		Call: k.release(), Limit: limit + c.opts.RetryFor, Persistent: true, Undo: undo,
		Settled: func(o sender.Outcome) {
			defer settled(o)
			if o.Err != nil {
				defer notify(ctx, c.opts.Observer.GaveUp, k, Event{Err: o.Err})
			}
			o.Strays += strays
			c.sweep(k.latchKey(), o)
		},
	})
}
