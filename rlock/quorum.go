package rlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/retry"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// QuorumLock locks one name on several independent servers (the Redlock algorithm).
// It is held while more than half of the servers have it. So it survives the loss of
// fewer than half of the servers. The parts are locks of several clients. Each client
// has a server of its own, without replication between the servers.
//
// The majority's leases decide until when the lock can be trusted. Each lease is
// shortened for clocks that run at different speeds, as for every lock of this
// package.
//
// While the watchdog renews a hold, it takes parts again that are lost, and parts that
// were not acquired. So a hold survives the restarts of all servers, one after the other.
// A part that is taken again counts from the grant on. A hold that had no majority for a
// time is lost, and stays lost, also if that is known only later. A part whose server says
// that it is gone counts until the last answer that confirmed it. A hold with Lease or
// after Extend takes no parts again, and no part that ForceUnlock or Close ended.
//
// A server that restarts without its data may give its part to a second owner at once.
// If the first owner has no majority without that part, the second owner may get one
// before the first is told. Let the server stay down for the longest lease, or use
// persistence with fsync.
//
// A crash of the holder costs the rest of its leases.
type QuorumLock struct {
	parts []*Lock
	down  []atomic.Int64 // by part: it gave no answer and is tried last until this Unix ns
}

// Quorum returns the lock of the given parts, which have one name. It panics without
// locks, with a nil lock, with locks of two names, and with two locks of one client.
func Quorum(locks ...*Lock) *QuorumLock {
	parts := sorted("Quorum", locks)
	for i, l := range parts {
		if slices.ContainsFunc(parts[:i], func(other *Lock) bool { return other.c == l.c }) {
			panic("rlock: Quorum: two locks of one client")
		}
		if l.name != parts[0].name {
			panic(fmt.Sprintf("rlock: Quorum: locks of two names, %q and %q", parts[0].name, l.name))
		}
	}
	return &QuorumLock{parts: parts, down: make([]atomic.Int64, len(parts))}
}

const (
	// quorumAnswer is how long a server may take to answer. After that its part
	// counts as not acquired.
	quorumAnswer = 500 * time.Millisecond

	// quorumDown is how long a server that did not answer is tried last.
	quorumDown = 5 * time.Second

	// quorumGrace is how long the remaining parts may take after a majority is
	// acquired.
	quorumGrace = 50 * time.Millisecond
)

// Do is Lock.Do for the majority. f's context ends as soon as the trusted parts are no
// majority.
func (q *QuorumLock) Do(
	ctx context.Context, f func(context.Context) error, options ...Option,
) error {
	require("f", f != nil)
	h, err := q.Acquire(ctx, options...)
	if err != nil {
		return err
	}
	return h.do(ctx, f)
}

// Acquire waits until more than half of the parts are locked. While fewer servers
// answer, it waits at most for Options.RetryFor of the first part's client. It fails at once
// when there is no majority because a server refuses its part, or has a replica that does
// not confirm it (ErrNotSynced), or because ctx descends from a hold of a part that it would
// wait for (ErrDeadlock). An Acquire that returns an error releases the parts that it
// has locked.
func (q *QuorumLock) Acquire(ctx context.Context, options ...Option) (*Hold, error) {
	requireContext(ctx)
	s, err := lockSettings(q.parts[0].name, options)
	if err != nil {
		return nil, err
	}
	r := round{settings: s, end: time.Now().Add(s.wait)}
	silent := time.Now() // no majority has answered since
	for {
		h, err := q.tryOnce(ctx, &r)
		if err == nil {
			return h, nil
		}
		if errors.Is(err, ErrTimeout) {
			silent = time.Now()
		}
		gaveUp := time.Since(silent) >= q.parts[0].c.opts.RetryFor
		if !r.again || gaveUp || r.over() || ctx.Err() != nil {
			return nil, err
		}
		retry.Sleep(ctx, 10*time.Millisecond+rand.N(50*time.Millisecond))
	}
}

// tryOnce acquires the first part that answers, then the remaining parts. All owners
// begin with the same part, so they wait for it. They do not each hold a part that
// another owner needs.
func (q *QuorumLock) tryOnce(ctx context.Context, r *round) (*Hold, error) {
	s := r.settings
	s.retryFor = quorumAnswer
	need := len(q.parts)/2 + 1
	var holds []*Hold
	var errs []error
	rest := q.order(ctx)
	for len(holds) == 0 && len(rest) >= need {
		s.wait = r.remaining()
		h, err := q.acquirePart(ctx, rest[0], s)
		rest = rest[1:]
		switch {
		case err == nil:
			holds = append(holds, h)
		case ctx.Err() != nil, errors.Is(err, ErrTimeout), errors.Is(err, ErrClosed):
			r.again = errors.Is(err, ErrTimeout)
			return nil, err
		default:
			errs = append(errs, err)
		}
	}
	if len(holds) > 0 {
		s.wait = minWait(r.remaining(), partWait)
		more, failed := q.acquireRest(ctx, rest, s, need-1)
		holds, errs = append(holds, more...), append(errs, failed...)
	}
	if len(holds) >= need {
		w := newWhole(ctx, q.list(holds), need)
		w.parent = holds[0].parent // a reader outlives its writer
		if w.Err() == nil {
			if s.watched() {
				w.heal(s)
			}
			return w, nil
		}
		errs = append(errs, ErrLockLost)
	}
	r.again = !slices.ContainsFunc(errs, permanent)
	return nil, errors.Join(append(errs, releaseParts(ctx, holds)...)...)
}

// list returns the parts with the given holds.
func (q *QuorumLock) list(holds []*Hold) []part {
	list := make([]part, len(q.parts))
	for i, l := range q.parts {
		list[i].lock = l
		if at := slices.IndexFunc(holds, func(h *Hold) bool { return h.c == l.c }); at >= 0 {
			list[i].hold = holds[at]
		}
	}
	return list
}

// permanent reports whether a further try would fail too: a server replied with an error, no
// replica confirmed the part, as for a single lock, a client is closed, or the owner would wait
// for itself.
func permanent(err error) bool {
	return errors.Is(err, ErrClosed) || errors.Is(err, ErrNotSynced) || errors.Is(err, ErrDeadlock) ||
		sender.IsServerError(err) && sender.Answered(err)
}

// order returns the indices of the parts. The parts that ctx holds already come first,
// the parts that gave no answer come last.
func (q *QuorumLock) order(ctx context.Context) []int {
	now := time.Now().UnixNano()
	var held, free, silent []int
	for i, l := range q.parts {
		switch {
		case l.heldIn(ctx):
			held = append(held, i)
		case q.down[i].Load() > now:
			silent = append(silent, i)
		default:
			free = append(free, i)
		}
	}
	return slices.Concat(held, free, silent)
}

func (q *QuorumLock) acquirePart(ctx context.Context, i int, s settings) (*Hold, error) {
	h, err := q.parts[i].acquire(ctx, s)
	if err != nil && !sender.Answered(err) && ctx.Err() == nil && !errors.Is(err, ErrTimeout) {
		q.down[i].Store(time.Now().Add(quorumDown).UnixNano())
	}
	return h, err
}

// acquireRest acquires parts at the same time. When enough parts are acquired, the
// remaining ones have quorumGrace.
func (q *QuorumLock) acquireRest(
	ctx context.Context, indices []int, s settings, enough int,
) (holds []*Hold, errs []error) {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, i := range indices {
		wg.Go(func() {
			h, err := q.acquirePart(ctx, i, s)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			if holds = append(holds, h); len(holds) == enough {
				time.AfterFunc(quorumGrace, cancel)
			}
		})
	}
	wg.Wait()
	cancel()
	return holds, errs
}
