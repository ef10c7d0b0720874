package rlock

import (
	"context"
	"fmt"
	"time"
)

// acquire takes the lock, waiting as long as wait; lease 0 is the watchdog's.
func (l *Lock) acquire(ctx context.Context, wait, lease time.Duration) error {
	a := &attempt{l: l, start: time.Now(), length: lease.Truncate(time.Millisecond), watched: lease < time.Millisecond, waits: wait != 0}
	if a.watched {
		a.length = l.c.opts.Lease
	}
	turnLimit := wait
	if wait == 0 {
		turnLimit = turnTime
	}
	if err := within(ctx, a.start, turnLimit, l.takeTurn); err != nil {
		return err
	}
	if err := l.c.wait(ctx, a, a.start, wait); err != nil {
		a.fail(ctx)
		return err
	}
	l.giveTurn()
	if f := l.c.opts.Observer.Acquired; f != nil {
		l.tell(f, Event{Waited: time.Since(a.start)})
	}
	return nil
}

// turnTime is how long one who does not wait for the lock waits for another
// goroutine of the same owner that is just changing the hold.
const turnTime = 100 * time.Millisecond

// takeTurn waits until no other goroutine changes this owner's hold, and no
// command that may change it is without an answer.
func (l *Lock) takeTurn(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.c.ctx.Done():
		return ErrClosed
	}
}

func (l *Lock) giveTurn() { <-l.turn }

// attempt is one acquisition, tried until it is granted.
type attempt struct {
	l       *Lock
	start   time.Time
	length  time.Duration // of the lease asked for
	watched bool
	waits   bool

	call      call // of the last try
	held      int  // before
	queued    bool // the owner may stand in the queue
	unknown   bool // nobody knows whether the last try was granted
	abandoned bool // the last try is still under way, and cleans up itself
}

func (a *attempt) try(ctx context.Context) (grant, error) {
	err := ctx.Err()
	if err != nil {
		return grant{}, err
	}
	l := a.l
	if a.held, err = l.heldCount(ctx); err != nil {
		return grant{}, err
	}
	if a.waits {
		_, a.queued = l.kind.leave(l)
	}
	length := l.leaseLength(a)
	sent := time.Now()
	a.call = l.kind.acquire(l, length, a.held, a.waits)
	o, abandoned := l.c.await(ctx, a)
	if abandoned {
		a.abandoned = true
		return grant{}, o.err
	}
	g, err := judge(o, l.kind.acquired)
	answered := time.Now()
	switch {
	case err != nil:
		a.unknown = g.ok || g.lost
		return grant{}, err
	case g.gone:
		l.lose(errGone)
		return g, fmt.Errorf("%w: %w", ErrLockLost, errGone)
	case g.ok && !answered.Before(sent.Add(length)): // the answer took longer than the lease
		a.unknown = true
		return grant{}, fmt.Errorf("%w: %w", ErrLockLost, errLeaseOver)
	case g.ok:
		if err := l.granted(length, a.watched, sent, answered, g.token); err != nil {
			a.unknown = true
			return grant{}, err
		}
	}
	return g, nil
}

func (a *attempt) send(ctx context.Context) (any, error) { return a.l.c.runSynced(ctx, a.call, true) }

func (a *attempt) channel() (string, bool) { return a.l.kind.channel(a.l) }

func (a *attempt) contended() { a.l.tell(a.l.c.opts.Observer.Contended, Event{}) }

// fail ends an acquisition in vain: it leaves no trace in Redis. Where ctx has
// not ended and the server answers, it waits for that.
func (a *attempt) fail(ctx context.Context) {
	if a.abandoned {
		return // late does it
	}
	if !a.unknown && !a.queued {
		a.l.giveTurn()
		return
	}
	done := make(chan struct{})
	if !a.l.c.goBackground(func() { a.cleanUp(); close(done) }) {
		a.cleanUp() // closed: one try is all there is
		return
	}
	patience := time.NewTimer(cleanUpTime)
	defer patience.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-patience.C:
	}
}

// cleanUpTime is how long a failed acquisition waits for its traces to be
// removed.
const cleanUpTime = 100 * time.Millisecond

// late gets the outcome of a try that nobody waits for any more.
func (a *attempt) late(o outcome) {
	g, _ := judge(o, a.l.kind.acquired)
	a.unknown = g.ok || g.lost
	a.cleanUp()
}

// cleanUp takes back what may have been granted, leaves the queue, and gives the
// turn back.
func (a *attempt) cleanUp() {
	l := a.l
	defer l.giveTurn()
	if a.unknown {
		latch := l.c.latch(l.name)
		l.sendLatched(a.length, latch, l.kind.undo(l, a.held, latch, a.length))
	}
	if a.queued {
		k, _ := l.kind.leave(l)
		l.send(l.c.opts.Lease, k)
	}
}

// sendLatched is send of what a latch keeps from running twice.
func (l *Lock) sendLatched(limit time.Duration, latch string, k call) outcome {
	failed := 0
	k.failed = &failed
	o := l.send(limit, k)
	l.c.sweep(latch, failed, o.err)
	return o
}

// send runs k until it is answered, at the longest for limit.
func (l *Lock) send(limit time.Duration, k call) outcome {
	return l.c.persist(limit, func(ctx context.Context) (any, error) { return l.c.runSynced(ctx, k, true) })
}
