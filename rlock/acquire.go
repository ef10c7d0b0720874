package rlock

import (
	"context"
	"fmt"
	"time"
)

// acquire takes the lock and waits for it at most for wait: 0 is a single try,
// forever has no limit. A lease below 1 ms means the watchdog's.
func (l *Lock) acquire(ctx context.Context, wait, lease time.Duration) error {
	a := &attempt{
		l: l, start: time.Now(), waits: wait != 0,
		length: lease.Truncate(time.Millisecond), watched: lease < time.Millisecond,
	}
	if a.watched {
		a.length = l.c.opts.Lease
	}
	turnLimit := wait
	if wait == 0 {
		turnLimit = turnTimeout
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
		l.notify(f, Event{Waited: time.Since(a.start)})
	}
	return nil
}

// turnTimeout is how long a TryLock without a wait time waits for another
// operation of the same owner (see Lock.turn).
const turnTimeout = 100 * time.Millisecond

// takeTurn waits until no other operation of this owner is in progress: no other
// goroutine changes the hold, and every request that may change it is answered.
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

// attempt is one acquisition of a lock, tried until it is granted.
type attempt struct {
	l       *Lock
	start   time.Time
	length  time.Duration // of the requested lease
	watched bool          // the watchdog renews the lease
	waits   bool          // the caller waits if the lock is not free

	call      call // of the last try
	held      int  // hold count before the last try
	queued    bool // the owner may be in the lock's queue
	unknown   bool // the last try may have been granted on the server
	abandoned bool // the last try is still running; late cleans up after it
}

func (a *attempt) try(ctx context.Context) (grant, error) {
	err := ctx.Err()
	if err != nil {
		return grant{}, err
	}
	l := a.l
	if a.held, err = l.currentCount(ctx); err != nil {
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
	g, err := readGrant(o, l.kind.acquired)
	answered := time.Now()
	switch {
	case err != nil:
		a.unknown = g.ok || g.unknown
		return grant{}, err
	case g.notHeld:
		l.lose(errNotOwner)
		return g, fmt.Errorf("%w: %w", ErrLockLost, errNotOwner)
	case g.ok && !answered.Before(sent.Add(length)): // the reply took longer than the lease
		a.unknown = true
		return grant{}, fmt.Errorf("%w: %w", ErrLockLost, errLeaseExpired)
	case g.ok:
		if err := l.granted(length, a.watched, sent, answered, g.token); err != nil {
			a.unknown = true
			return grant{}, err
		}
	}
	return g, nil
}

func (a *attempt) send(ctx context.Context) (any, error) {
	return a.l.c.runSynced(ctx, a.call, true)
}

func (a *attempt) channel() (string, bool) { return a.l.kind.channel(a.l) }

func (a *attempt) contended() { a.l.notify(a.l.c.opts.Observer.Contended, Event{}) }

// fail ends an acquisition that was not granted. It removes what the acquisition
// left in Redis, in the background. It waits for that until ctx ends, at most for
// cleanUpWait.
func (a *attempt) fail(ctx context.Context) {
	if a.abandoned {
		return // late cleans up
	}
	if !a.unknown && !a.queued {
		a.l.giveTurn()
		return
	}
	done := make(chan struct{})
	if !a.l.c.goBackground(func() { a.cleanUp(); close(done) }) {
		a.cleanUp() // the client is closed: try once, without retries
		return
	}
	timer := time.NewTimer(cleanUpWait)
	defer timer.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// cleanUpWait is how long a failed acquisition waits for its cleanUp.
const cleanUpWait = 100 * time.Millisecond

// late receives the outcome of a try after its caller has stopped waiting.
func (a *attempt) late(o outcome) {
	g, _ := readGrant(o, a.l.kind.acquired)
	a.unknown = g.ok || g.unknown
	a.cleanUp()
}

// cleanUp undoes what may have been granted, leaves the queue and gives the turn
// back.
func (a *attempt) cleanUp() {
	l := a.l
	defer l.giveTurn()
	if a.unknown {
		latch := l.c.newLatchKey(l.name)
		l.sendLatched(a.length, latch, l.kind.undo(l, a.held, latch, a.length))
	}
	if a.queued {
		k, _ := l.kind.leave(l)
		l.send(l.c.opts.Lease, k)
	}
}

// sendLatched is send for a call with a latch, and deletes the latch afterwards.
func (l *Lock) sendLatched(limit time.Duration, latch string, k call) outcome {
	failed := 0
	k.failed = &failed
	o := l.send(limit, k)
	l.c.sweep(latch, failed, o.err)
	return o
}

// send runs k, and retries for at most limit until the server answers.
func (l *Lock) send(limit time.Duration, k call) outcome {
	return l.c.retryUntilAnswered(limit, func(ctx context.Context) (any, error) {
		return l.c.runSynced(ctx, k, true)
	})
}
