package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// MultiLock locks several locks as one: all of them or none. They may be of
// several clients, that is of several servers, and of several kinds. It matches
// Redisson's RedissonMultiLock (RedissonClient.getMultiLock), which keeps nothing
// in Redis beside the parts either.
//
// The parts are locked in the order given. An owner that has some and finds
// another taken waits only a little while, then releases what it has, waits for
// that one alone, and goes on from there. So two that lock the same parts in
// opposite orders, here or in a Java process, do not stand still. A MultiLock is
// reentrant as its parts are, and may be used by several goroutines that act as
// one owner.
//
// A crash costs what it costs each part; while a lock with a lease is being
// taken, that is the lease and at most 1.5 s a part more. Parts on several
// servers are no majority vote: one server that is lost makes the lock lost.
type MultiLock struct {
	parts []*Lock

	mu    sync.Mutex // guards the fields below
	count int        // locked that often
	hold  *joint     // nil: not held
}

// NewMultiLock returns a lock of all the given ones. Each must be an owner's own
// (see Lock); without any it panics.
func NewMultiLock(locks ...*Lock) *MultiLock {
	if len(locks) == 0 {
		panic("rlock: a MultiLock of no locks")
	}
	return &MultiLock{parts: append([]*Lock(nil), locks...)}
}

// joint is a MultiLock's time in its owner's hands.
type joint struct {
	once sync.Once
	lost chan struct{} // closed when a part is lost
	err  error         // why, when lost is closed
}

func (j *joint) lose(err error) {
	j.once.Do(func() {
		j.err = err
		close(j.lost)
	})
}

// Lock waits until all parts are locked, or ends with ctx. The watchdogs renew
// them until Unlock. After an error no part is locked; a release that failed
// too is joined to it, and the part's lease ends that.
func (m *MultiLock) Lock(ctx context.Context) error { return m.acquire(ctx, forever, 0) }

// LockLease is Lock with a lease that is not renewed. It begins, for all parts
// anew, when the last is locked. It is counted in milliseconds; 0 or less means
// the watchdogs'. A part that was locked before, by a watchdog or for longer,
// keeps that.
func (m *MultiLock) LockLease(ctx context.Context, lease time.Duration) error {
	return m.acquire(ctx, forever, lease)
}

// TryLock is LockLease, but waits no longer than wait for all parts together; 0
// or less means not at all. It ends with ErrTimeout then.
func (m *MultiLock) TryLock(ctx context.Context, wait, lease time.Duration) error {
	return m.acquire(ctx, max(wait, 0), lease)
}

// Unlock releases every part once, all at the same time. What fails is joined;
// the errors are those of Lock.Unlock. ErrNotHeld tells that this MultiLock is
// not locked.
func (m *MultiLock) Unlock(ctx context.Context) error {
	m.mu.Lock()
	if m.count == 0 {
		m.mu.Unlock()
		return ErrNotHeld
	}
	m.count--
	if m.count == 0 {
		for _, l := range m.parts {
			l.forget(m.hold)
		}
		m.hold = nil
	}
	m.mu.Unlock()
	return errors.Join(each(m.parts, func(_ int, l *Lock) error { return l.Unlock(ctx) })...)
}

// Do locks, runs f and unlocks, as Lock.Do does: f's context ends, with a cause
// that is ErrLockLost, the moment a part cannot be trusted any more.
func (m *MultiLock) Do(ctx context.Context, f func(context.Context) error) error {
	if err := m.Lock(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	hold := m.hold
	m.mu.Unlock()
	return doUntil(ctx, hold.lost, func() error { return hold.err }, f, m.Unlock)
}

// Lost returns a channel that is closed when a part is lost while all are held.
// The others stay held until Unlock. It is nil when the MultiLock is not locked.
func (m *MultiLock) Lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hold == nil {
		return nil
	}
	return m.hold.lost
}

// acquire tries rounds until one succeeds, wait is over (ErrTimeout), or fails
// otherwise.
func (m *MultiLock) acquire(ctx context.Context, wait, lease time.Duration) error {
	r := round{parts: slices.Clone(m.parts), wait: wait, end: time.Now().Add(wait), lease: lease.Truncate(time.Millisecond)}
	for r.patience = 20 * time.Millisecond; ; r.patience = min(2*r.patience, time.Duration(len(m.parts))*partWait) {
		err := r.run(ctx)
		if err == nil {
			m.locked()
			return nil
		}
		if !errors.Is(err, ErrTimeout) || !r.released || wait != forever && !time.Now().Before(r.end) {
			return err
		}
	}
}

// round is one try to lock all parts.
type round struct {
	parts    []*Lock       // in the order of this round
	wait     time.Duration // until end; 0 and forever as in Lock.acquire
	end      time.Time
	patience time.Duration // how long to wait for a part while others are held
	lease    time.Duration

	released bool // after a failure: nothing of it is left
}

// partWait is the longest patience, for each part.
const partWait = 1500 * time.Millisecond

func (r *round) run(ctx context.Context) error {
	before := make([]time.Duration, len(r.parts))
	lease := r.lease
	if lease > 0 {
		lease += r.patience // enough for the round; the lease itself begins after it
	}
	// Of two who block each other one has to give up first.
	patience := r.patience - rand.N(r.patience/2)
	var first time.Time
	for i, l := range r.parts {
		before[i] = l.leased()
		limit := r.left()
		if i > 0 {
			limit = sooner(limit, patience-time.Since(first))
		}
		if err := l.acquire(ctx, limit, lease); err != nil {
			return r.fail(ctx, err, i)
		}
		if i == 0 {
			first = time.Now()
		}
	}
	if lease <= 0 {
		return nil
	}
	err := errors.Join(each(r.parts, func(i int, l *Lock) error {
		return l.relet(ctx, max(r.lease, before[i]))
	})...)
	if err != nil {
		return r.fail(ctx, err, len(r.parts))
	}
	return nil
}

// left returns what is left of the wait.
func (r *round) left() time.Duration {
	if r.wait == 0 || r.wait == forever {
		return r.wait
	}
	return max(time.Until(r.end), 0)
}

// sooner is the lesser of a wait, which may be forever, and a time.
func sooner(wait, d time.Duration) time.Duration {
	if d = max(d, 0); wait == forever {
		return d
	}
	return min(wait, d)
}

// fail releases the first n parts and has the next round begin with the one that
// was not to be had. Where that fails because the part is lost,
// or goes on in the background because ctx has ended, it is nothing to tell.
func (r *round) fail(ctx context.Context, err error, n int) error {
	errs := []error{err}
	for _, e := range each(r.parts[:n], func(_ int, l *Lock) error { return l.Unlock(ctx) }) {
		if e != nil && !errors.Is(e, ErrLockLost) && (ctx.Err() == nil || !errors.Is(e, ctx.Err())) {
			errs = append(errs, e)
		}
	}
	if r.released = len(errs) == 1; r.released {
		if n < len(r.parts) {
			l := r.parts[n]
			copy(r.parts[1:n+1], r.parts[:n])
			r.parts[0] = l
		}
		return err
	}
	return errors.Join(errs...)
}

// locked notes that all parts are held.
func (m *MultiLock) locked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count++; m.count > 1 {
		return
	}
	m.hold = &joint{lost: make(chan struct{})}
	for _, l := range m.parts {
		l.share(m.hold)
	}
}

// each runs f for every part at the same time and returns its errors.
func each(parts []*Lock, f func(int, *Lock) error) []error {
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, l := range parts {
		wg.Go(func() { errs[i] = f(i, l) })
	}
	wg.Wait()
	return errs
}

// leased returns the lease that the present hold has, 0 without one.
func (l *Lock) leased() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return 0
	}
	return l.hold.length
}

// relet starts the present hold's lease anew with the given length. A lease that
// the watchdog renews stays as it is.
func (l *Lock) relet(ctx context.Context, length time.Duration) error {
	if err := l.takeTurn(ctx); err != nil {
		return err
	}
	defer l.giveTurn()
	l.mu.Lock()
	h := l.hold
	watched := h != nil && h.watched
	l.mu.Unlock()
	switch {
	case h == nil:
		return ErrNotHeld
	case watched:
		return nil
	}
	sent := time.Now()
	k := l.kind.renew(l, length)
	k.args = append(k.args, "anew")
	reply, err := l.c.order(ctx, k, true)
	if err != nil {
		return err
	}
	l.mu.Lock()
	kept := reply == int64(1) && l.c.dog.replace(&h.lease, length, false, sent)
	l.mu.Unlock()
	if !kept {
		l.lose(errGone)
		return l.lossOf(h.lost)
	}
	return nil
}

// share has j told when the present hold is lost.
func (l *Lock) share(j *joint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch h := l.hold; {
	case h == nil:
		j.lose(ErrLockLost)
	case h.err != nil:
		j.lose(h.err)
	default:
		h.joints = append(h.joints, j)
	}
}

// forget ends share.
func (l *Lock) forget(j *joint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold != nil {
		l.hold.joints = slices.DeleteFunc(l.hold.joints, func(other *joint) bool { return other == j })
	}
}
