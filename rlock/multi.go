package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// MultiLock locks several locks as one: all of them or none. The parts may be of
// several kinds and of several clients, so also on several servers. It matches
// Redisson's RedissonMultiLock (RedissonClient.getMultiLock). Like that, it stores
// nothing in Redis beside its parts.
//
// The parts are locked in the given order. When a part is not free, an owner that
// already holds other parts waits only a short time. It then releases them, waits
// for that part alone, and continues with the others. So two owners that lock the
// same parts in opposite orders do not deadlock, in Go or in Java. A MultiLock is
// reentrant like its parts. Several goroutines may use it; they act as one owner.
//
// A crash costs what it costs for each part. While LockLease or TryLock is
// acquiring the parts, a crash costs the lease and up to 1.5 s for each part more.
// Parts on several servers are no majority vote: when one server is lost, the lock
// is lost.
type MultiLock struct {
	parts []*Lock

	mu    sync.Mutex // guards the fields below
	count int        // hold count
	hold  *multiHold // nil: not held
}

// NewMultiLock returns a lock whose parts are the given locks. Each part must be a
// Lock value of this owner alone (see Lock). NewMultiLock panics without locks.
func NewMultiLock(locks ...*Lock) *MultiLock {
	if len(locks) == 0 {
		panic("rlock: NewMultiLock without locks")
	}
	return &MultiLock{parts: append([]*Lock(nil), locks...)}
}

// multiHold is the time between a MultiLock's first Lock and its last Unlock.
type multiHold struct {
	once sync.Once
	lost chan struct{} // closed when a part is lost
	err  error         // the reason, set before lost is closed
}

func (m *multiHold) lose(err error) {
	m.once.Do(func() {
		m.err = err
		close(m.lost)
	})
}

// Lock waits until all parts are locked. It returns ctx's error when ctx ends first.
// The watchdogs renew the parts until Unlock. After an error no part is locked by
// this call. If releasing a part failed too, its error is joined, and that part is
// free when its lease ends.
func (m *MultiLock) Lock(ctx context.Context) error { return m.acquire(ctx, forever, 0) }

// LockLease is Lock with a lease that is not renewed. When the last part is locked,
// the lease starts again for all parts. It is truncated to milliseconds; less than
// 1 ms means leases that the watchdogs renew. A part that was held before with a
// renewed or longer lease keeps that lease.
func (m *MultiLock) LockLease(ctx context.Context, lease time.Duration) error {
	return m.acquire(ctx, forever, lease)
}

// TryLock is LockLease, but waits at most for wait, for all parts together, and then
// returns ErrTimeout. A wait of 0 or less means a single try.
func (m *MultiLock) TryLock(ctx context.Context, wait, lease time.Duration) error {
	return m.acquire(ctx, max(wait, 0), lease)
}

// Unlock unlocks every part once, all at the same time, and joins the errors of
// their Unlock calls. ErrNotHeld means that this MultiLock is not locked.
func (m *MultiLock) Unlock(ctx context.Context) error {
	m.mu.Lock()
	if m.count == 0 {
		m.mu.Unlock()
		return ErrNotHeld
	}
	m.count--
	if m.count == 0 {
		for _, l := range m.parts {
			l.removeMultiHold(m.hold)
		}
		m.hold = nil
	}
	m.mu.Unlock()
	return errors.Join(forEach(m.parts, func(_ int, l *Lock) error { return l.Unlock(ctx) })...)
}

// Do locks, runs f and unlocks, as Lock.Do does. f's context is canceled as soon as
// a part can no longer be trusted; its cause is then ErrLockLost.
func (m *MultiLock) Do(ctx context.Context, f func(context.Context) error) error {
	if err := m.Lock(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	hold := m.hold
	m.mu.Unlock()
	return runWhileHeld(ctx, hold.lost, func() error { return hold.err }, f, m.Unlock)
}

// Lost returns a channel that is closed when a part is lost while the MultiLock is
// held. The other parts stay held until Unlock. It is nil when the MultiLock is not
// locked.
func (m *MultiLock) Lost() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hold == nil {
		return nil
	}
	return m.hold.lost
}

// acquire tries rounds until one succeeds, wait is over (ErrTimeout), or a round
// fails with another error.
func (m *MultiLock) acquire(ctx context.Context, wait, lease time.Duration) error {
	r := round{
		parts: slices.Clone(m.parts), wait: wait, end: time.Now().Add(wait),
		lease: lease.Truncate(time.Millisecond),
	}
	longest := time.Duration(len(m.parts)) * maxPartWait
	for r.partWait = 20 * time.Millisecond; ; r.partWait = min(2*r.partWait, longest) {
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
	partWait time.Duration // how long to wait for parts while others are held
	lease    time.Duration

	released bool // after a failure: all parts of this round are released
}

// maxPartWait is the longest partWait, divided by the number of parts.
const maxPartWait = 1500 * time.Millisecond

func (r *round) run(ctx context.Context) error {
	before := make([]time.Duration, len(r.parts))
	lease := r.lease
	if lease > 0 {
		lease += r.partWait // long enough for the round; restartLease then sets r.lease
	}
	// Two owners may block each other. A random wait makes one of them stop first.
	partWait := r.partWait - rand.N(r.partWait/2)
	var first time.Time
	for i, l := range r.parts {
		before[i] = l.holdLength()
		limit := r.remaining()
		if i > 0 {
			limit = minWait(limit, partWait-time.Since(first))
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
	err := errors.Join(forEach(r.parts, func(i int, l *Lock) error {
		return l.restartLease(ctx, max(r.lease, before[i]))
	})...)
	if err != nil {
		return r.fail(ctx, err, len(r.parts))
	}
	return nil
}

// remaining returns the rest of the wait.
func (r *round) remaining() time.Duration {
	if r.wait == 0 || r.wait == forever {
		return r.wait
	}
	return max(time.Until(r.end), 0)
}

// minWait returns the smaller of wait, which may be forever, and d, at least 0.
func minWait(wait, d time.Duration) time.Duration {
	if d = max(d, 0); wait == forever {
		return d
	}
	return min(wait, d)
}

// fail releases the first n parts after an error, and moves the part that was not
// free to the front of the next round. It returns err, joined with the errors of the
// releases. It leaves out a release of a lost part, and a release that continues in
// the background because ctx has ended.
func (r *round) fail(ctx context.Context, err error, n int) error {
	errs := []error{err}
	for _, e := range forEach(r.parts[:n], func(_ int, l *Lock) error { return l.Unlock(ctx) }) {
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

// locked records that all parts are held.
func (m *MultiLock) locked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count++; m.count > 1 {
		return
	}
	m.hold = &multiHold{lost: make(chan struct{})}
	for _, l := range m.parts {
		l.addMultiHold(m.hold)
	}
}

// forEach runs f for every part at the same time and returns the errors.
func forEach(parts []*Lock, f func(int, *Lock) error) []error {
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, l := range parts {
		wg.Go(func() { errs[i] = f(i, l) })
	}
	wg.Wait()
	return errs
}

// holdLength returns the length of the present hold's lease, 0 without a hold.
func (l *Lock) holdLength() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hold == nil {
		return 0
	}
	return l.hold.length
}

// restartLease starts the present hold's lease again with the given length, which
// may be shorter. A lease that the watchdog renews stays as it is.
func (l *Lock) restartLease(ctx context.Context, length time.Duration) error {
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
	k.args = append(k.args, "anew") // ARGV[3]: also shorten the lease
	reply, err := l.c.awaitCall(ctx, k, true)
	if err != nil {
		return err
	}
	l.mu.Lock()
	kept := reply == int64(1) && l.c.watchdog.replace(&h.lease, length, false, sent)
	l.mu.Unlock()
	if !kept {
		l.lose(errNotOwner)
		return l.lossError(h.lost)
	}
	return nil
}

// addMultiHold makes m lost when the present hold is lost.
func (l *Lock) addMultiHold(m *multiHold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch h := l.hold; {
	case h == nil:
		m.lose(ErrLockLost)
	case h.err != nil:
		m.lose(h.err)
	default:
		h.multiHolds = append(h.multiHolds, m)
	}
}

// removeMultiHold undoes addMultiHold.
func (l *Lock) removeMultiHold(m *multiHold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.hold; h != nil {
		h.multiHolds = slices.DeleteFunc(h.multiHolds, func(x *multiHold) bool { return x == m })
	}
}
