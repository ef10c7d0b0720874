package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// MultiLock locks several locks as one: all of them or none. The parts may be of
// several kinds and of several clients, so also on several servers. Parts of several clients on
// one server must have several names: otherwise they wait for each other. It matches
// Redisson's RedissonMultiLock (RedissonClient.getMultiLock). Its only keys are the
// keys of its parts.
//
// A MultiLock acquires its parts in the order of their names, not of the arguments.
// So Go owners never wait for each other in a circle. Java owners lock in the order
// of their arguments. So an owner that holds parts waits for a further part only for
// a limited time. Then it releases them, waits for that part alone, and acquires the
// other parts after it.
//
// A crash of the holder costs the longest lease of a part. Parts on several servers
// are no majority vote: when one server is lost, the lock is lost. See Quorum.
type MultiLock struct{ parts []*Lock }

// Multi returns the lock of the given parts. It panics without locks.
func Multi(locks ...*Lock) *MultiLock { return &MultiLock{sorted("Multi", locks)} }

// sorted returns the locks by name. Locks of the same name keep their order.
func sorted(op string, locks []*Lock) []*Lock {
	if len(locks) == 0 {
		panic("rlock: " + op + " without locks")
	}
	if slices.Contains(locks, nil) {
		panic("rlock: " + op + " with a nil lock")
	}
	parts := slices.Clone(locks)
	slices.SortStableFunc(parts, func(a, b *Lock) int { return strings.Compare(a.name, b.name) })
	return parts
}

// Do is Client.Do for all parts. f's context ends as soon as a part can no longer be
// trusted.
func (m *MultiLock) Do(
	ctx context.Context, f func(context.Context) error, options ...Option,
) error {
	require("f", f != nil)
	h, err := m.Acquire(ctx, options...)
	if err != nil {
		return err
	}
	return h.do(ctx, f)
}

// Acquire is Lock.Acquire for all parts. Wait limits the time for all parts together.
// With Lease, the lease of every part starts again when the last part is locked. An
// Acquire that returns an error releases the parts that it has locked. If such a
// release fails, its error is joined, and the part is free when its lease ends. A release
// without an answer continues in the background after 100 ms.
//
// The hold is lost when one part is lost. The other parts stay held until Release.
func (m *MultiLock) Acquire(ctx context.Context, options ...Option) (*Hold, error) {
	requireContext(ctx)
	s, err := lockSettings(m.parts[0].name, options)
	if err != nil {
		return nil, err
	}
	r := round{order: slices.Clone(m.parts), settings: s, end: time.Now().Add(s.wait)}
	for {
		holds, err := r.run(ctx)
		if err == nil {
			list := make([]part, len(holds))
			for i, h := range holds {
				list[i].hold = h
			}
			return newWhole(holds[len(holds)-1].Context(), list, len(list)), nil
		}
		if !r.again || r.over() || ctx.Err() != nil {
			return nil, err
		}
	}
}

// round is one try to lock all parts.
type round struct {
	order []*Lock // of this round
	settings
	end   time.Time // of settings.wait
	tried bool      // a part was asked for
	held  []*Hold   // locked in this round

	again bool // after an error: another round may succeed
}

// partWait times the number of parts is how long a round waits for further parts
// after its first one. Redisson's rounds take as long.
const partWait = 1500 * time.Millisecond

// run locks all parts, or none, also if an observer panics.
func (r *round) run(ctx context.Context) (holds []*Hold, err error) {
	r.held = nil
	ended := false
	defer func() {
		if !ended {
			releaseParts(endedContext, r.held)
		}
	}()
	holds, err = r.lockAll(ctx)
	ended = true
	return holds, err
}

func (r *round) lockAll(ctx context.Context) (holds []*Hold, err error) {
	s := r.settings
	limit := time.Duration(len(r.order)) * partWait
	limit -= rand.N(limit / 2) // two owners that block each other stop at different times
	if s.lease > 0 {
		s.lease += limit // long enough for the round
	}
	var first time.Time
	inner := ctx
	for i, l := range r.order {
		if s.wait = r.remaining(); i > 0 {
			s.wait = minWait(s.wait, limit-time.Since(first))
		}
		h, err := l.acquire(inner, s)
		if err != nil {
			return nil, r.fail(ctx, err, holds, i)
		}
		if i == 0 {
			first = time.Now()
		}
		holds, inner = append(holds, h), h.Context()
		r.held = holds
	}
	if s.lease > 0 {
		if err := r.restartLeases(ctx, holds); err != nil {
			return nil, r.fail(ctx, err, holds, 0)
		}
	}
	for i, h := range holds {
		if err := h.Err(); err != nil {
			return nil, r.fail(ctx, err, holds, i)
		}
	}
	return holds, nil
}

// restartLeases makes the leases, which were longer for the round, begin now. A hold that
// re-entered another one keeps its lease.
func (r *round) restartLeases(ctx context.Context, holds []*Hold) error {
	limit := r.remaining()
	switch {
	case r.wait == 0:
		limit = singleTry
	case r.over():
		return ErrTimeout
	}
	return within(ctx, time.Now(), limit, func(ctx context.Context) error {
		return errors.Join(forEach(holds, func(h *Hold) error {
			if h.joined {
				return nil
			}
			return h.Extend(ctx, r.lease)
		})...)
	})
}

// remaining returns the rest of the wait, at least 1 ms, because a wait of 0 means a single try. If
// the wait is over before the first part is asked for, it begins again, see Client.wait.
func (r *round) remaining() time.Duration {
	if r.wait <= 0 {
		return r.wait
	}
	if !r.tried && r.over() {
		r.end = time.Now().Add(lateLimit(r.wait))
	}
	r.tried = true
	return max(time.Until(r.end), time.Millisecond)
}

// over reports whether the wait is over.
func (r *round) over() bool { return r.wait != forever && !time.Now().Before(r.end) }

// minWait returns the smaller of wait, which may be forever, and d. It counts d as at
// least 1 ms, because a wait of 0 means a single try.
func minWait(wait, d time.Duration) time.Duration {
	if d = max(d, time.Millisecond); wait == forever {
		return d
	}
	return min(wait, d)
}

// fail releases the holds of a round after the part at index n was not locked. It
// moves that part to the front of the next round.
func (r *round) fail(ctx context.Context, err error, holds []*Hold, n int) error {
	lost := slices.ContainsFunc(holds, func(h *Hold) bool { return h.Err() != nil })
	errs := releaseParts(ctx, holds)
	// A release without an answer continues in the background.
	r.again = !slices.ContainsFunc(errs, sender.Answered) && (lost || errors.Is(err, ErrTimeout))
	l := r.order[n]
	copy(r.order[1:n+1], r.order[:n])
	r.order[0] = l
	if len(errs) == 0 {
		return err
	}
	return errors.Join(append([]error{err}, errs...)...)
}

// releaseParts releases the holds of a failed acquisition and returns the errors. A release
// without an answer continues in the background after releaseGrace. releaseParts leaves
// that out, and ErrLockLost.
func releaseParts(ctx context.Context, holds []*Hold) (errs []error) {
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, releaseGrace)
	defer cancel()
	for _, err := range forEach(holds, func(h *Hold) error { return h.Release(limited) }) {
		continues := limited.Err() != nil && errors.Is(err, limited.Err())
		if err != nil && !errors.Is(err, ErrLockLost) && !continues {
			errs = append(errs, err)
		}
	}
	return errs
}

// forEach runs f for every hold at the same time and returns the errors.
func forEach(holds []*Hold, f func(*Hold) error) []error {
	errs := make([]error, len(holds))
	var wg sync.WaitGroup
	for i, h := range holds {
		wg.Go(func() { errs[i] = f(h) })
	}
	wg.Wait()
	return errs
}
