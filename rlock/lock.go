package rlock

import (
	"context"
	"fmt"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// Lock names a lock and its kind. It has no owner and no state, so goroutines may
// share it, and they exclude each other. Each acquisition has an owner of its own,
// as a thread is in Redisson.
//
// Ownership follows the context: an acquisition with the context of a hold of the
// same lock re-enters that hold. It costs no request, and the lock is free when
// both are released. An acquisition of another lock uses the owner of the
// context's hold, as one Java thread does that locks both.
type Lock struct {
	c    *Client
	name string
	kind kind
}

// Do acquires the lock of the given name (see Client.Lock), runs f and releases the
// lock. f's context ends as soon as the lock can no longer be trusted; its cause is
// then ErrLockLost. If the acquisition fails, Do returns that error and does not run
// f. Otherwise it returns the errors of f and of the release, joined: so it returns
// ErrLockLost if the lock was lost while f ran. When ctx has ended, Do waits at most
// 100 ms for the release, which then continues in the background.
func (c *Client) Do(
	ctx context.Context, name string, f func(context.Context) error, options ...Option,
) error {
	return c.Lock(name).Do(ctx, f, options...)
}

// Doer is what most programs need of a Client. A program that takes a Doer can be
// tested without a server.
type Doer interface {
	Do(ctx context.Context, name string, f func(context.Context) error, options ...Option) error
}

// Do is Client.Do for any kind of lock.
func (l *Lock) Do(ctx context.Context, f func(context.Context) error, options ...Option) error {
	require("f", f != nil)
	h, err := l.Acquire(ctx, options...)
	if err != nil {
		return err
	}
	return h.do(ctx, f)
}

// Acquire waits until the lock is free and acquires it. It returns ErrTimeout when
// Wait is over, and ctx's error when ctx ends first. While the server does not
// answer, it waits at most for Options.RetryFor and then returns the last error.
//
// The hold's context descends from ctx. So a deadline of ctx also ends the work;
// use Wait to limit only the waiting. The end of the context does not release the
// lock: the caller must call Release. A hold that outlives a request needs a context
// that does, see context.WithoutCancel.
func (l *Lock) Acquire(ctx context.Context, options ...Option) (*Hold, error) {
	requireContext(ctx)
	s, err := lockSettings(l.name, options)
	if err != nil {
		return nil, err
	}
	return l.acquire(ctx, s)
}

func (l *Lock) acquire(ctx context.Context, s settings) (*Hold, error) {
	if err := l.c.enter(); err != nil {
		return nil, err
	}
	defer l.c.leave()
	outer := l.c.holdOf(ctx)
	if h, err := l.reenter(ctx, outer, s); h != nil || err != nil {
		return h, err
	}
	start := time.Now()
	return retryLate(func() (*Hold, error) { return l.acquireAs(ctx, outer, s, start) })
}

// acquireAs makes a claim and acquires it.
func (l *Lock) acquireAs(
	ctx context.Context, outer *Hold, s settings, start time.Time,
) (*Hold, error) {
	h, k, turn, err := l.readInside(ctx, outer, s, start)
	switch {
	case h != nil || err != nil:
		return h, err
	case k == nil:
		k, turn = l.newClaim(outer)
	case s.wait == 0: // the wait for the turn was a part of it
		s.retryFor = max(s.tryLimit(l.c.opts)-time.Since(start), time.Millisecond)
	}
	a := l.c.newAcquisition(ctx, k, s, start)
	a.undone = turn
	if err := a.run(); err != nil {
		return nil, err
	}
	defer turn()
	return l.c.hold(a)
}

// firstHold is a holding with its first Hold. They are one allocation, because most holdings
// have one Hold.
type firstHold struct {
	holding holding
	hold    Hold
	list    [1]*Hold // holding.holds
}

// hold begins the hold of a granted acquisition. If the context or an observer panics, it
// releases the hold.
func (c *Client) hold(a *acquisition) (*Hold, error) {
	first := &firstHold{}
	begun, added := false, false
	defer func() {
		switch {
		case begun:
		case added:
			if a.undone != nil { // the release takes the owner's turn
				a.undone()
			}
			_ = releaseAfter(endedContext, first.hold.Release)
		default:
			a.abandon()
		}
	}()
	g, h := &first.holding, &first.hold
	g.c, g.ctx, g.claim, g.token, g.strays = c, a.ctx, a.claim, a.token, a.strays
	g.since = a.grantedAt
	g.lease = lease{holder: g, length: a.lease, watched: a.watched(), endless: a.noLease}
	first.list[0] = h
	g.holds = first.list[:]
	h.begin(a.ctx, g)
	if !c.watchdog.add(&g.lease, a.sent, g.since) {
		a.undo()
		begun = true
		return nil, ErrClosed
	}
	added = true
	if k, ok := a.claim.(*lockClaim); ok && c.holders.add(g, k, a.sent) {
		c.watchdog.verify()
	}
	begun = true
	return h, nil
}

// reenter returns a further hold of the lock if ctx descends from one, and nil
// otherwise. It returns ErrDeadlock if ctx descends from a hold that the acquisition
// would wait for: a read hold for a writer, or a hold of another kind of lock.
func (l *Lock) reenter(ctx context.Context, outer *Hold, s settings) (*Hold, error) {
	mode := l.kind.mode()
	for o, k := range outer.locks() {
		if k.name != l.name {
			continue
		}
		held := k.kind.mode()
		switch {
		case held == mode:
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if h := o.holding.join(ctx); h != nil {
				return h.lengthen(ctx, s, time.Now())
			}
		case held == writing && mode == reading: // a writer may also read
		default:
			return nil, fmt.Errorf("%w: acquire %q as %q: the context's hold of it is of kind %q",
				ErrDeadlock, l.name, l.kind.label(), k.kind.label())
		}
	}
	return nil, nil
}

// heldIn reports whether ctx descends from a hold of the lock.
func (l *Lock) heldIn(ctx context.Context) bool {
	for _, k := range l.c.holdOf(ctx).locks() {
		if k.name == l.name && k.kind.mode() == l.kind.mode() {
			return true
		}
	}
	return false
}

// lengthen makes the lease of a hold that re-entered at least as long as its
// acquisition asked for. After an error it releases h. The acquisition waits since start.
func (h *Hold) lengthen(ctx context.Context, s settings, start time.Time) (*Hold, error) {
	g, w := h.holding, h.c.watchdog
	l := w.read(&g.lease)
	switch {
	case s.watched():
		w.watch(&g.lease, h.c.opts.Lease)
	case !l.watched && l.until.Before(trustUntil(time.Now(), s.lease)):
		wait := s.wait
		if wait == 0 {
			wait = s.tryLimit(h.c.opts)
		}
		err := within(ctx, start, wait, func(ctx context.Context) error {
			return g.setLease(ctx, s.lease, false)
		})
		if err != nil {
			_ = h.Release(context.WithoutCancel(ctx))
			return nil, err
		}
	}
	return h, nil
}

// newClaim returns the claim of an acquisition and gives it an owner. turn gives
// the owner's turn back.
func (l *Lock) newClaim(outer *Hold) (k *lockClaim, turn func()) {
	k = l.newLockClaim(l.c.newLatch(l.name))
	if of := claimOf(outer); of != nil {
		k.act(of)
		if turn = l.c.takeFree(k); turn != nil {
			return k, turn
		}
		k = l.newLockClaim(k.latch)
	}
	k.setOwner(l.c.ownerName(l.c.owners.Add(1)))
	return k, func() {}
}

// claimOf returns the claim of the innermost lock that is held, or nil.
func claimOf(h *Hold) *lockClaim {
	for _, k := range h.locks() {
		return k
	}
	return nil
}

// readInside returns the claim of a reader inside a write hold of the same lock. It has
// the writer's owner, because another owner would wait for the writer. If that owner reads
// already, readInside returns a further hold of it. All results are nil if ctx does not
// descend from such a write hold.
func (l *Lock) readInside(
	ctx context.Context, outer *Hold, s settings, start time.Time,
) (h *Hold, k *lockClaim, turn func(), err error) {
	if l.kind.mode() != reading {
		return nil, nil, nil, nil
	}
	for {
		w := outer.writerOf(l.name)
		if w == nil {
			return nil, nil, nil, nil
		}
		k = l.newLockClaim(l.c.newLatch(l.name))
		k.act(w.holding.claim.(*lockClaim))
		err = within(ctx, start, s.wait, func(ctx context.Context) error {
			turn, err = l.c.awaitTurn(ctx, k, start, s)
			return err
		})
		if err != nil {
			return nil, nil, nil, err
		}
		g := l.c.holders.find(k)
		if g == nil {
			return nil, k, turn, nil
		}
		turn()
		if h := g.join(ctx); h != nil {
			h, err = h.lengthen(ctx, s, start)
			return h, nil, nil, err
		}
		// Its release, or its undo after a loss, is about to take the turn.
		err = within(ctx, start, s.wait, func(ctx context.Context) error {
			return l.c.pause(ctx, time.Millisecond)
		})
		if err != nil {
			return nil, nil, nil, err
		}
	}
}

// writerOf returns the innermost write hold of the name among h and the holds that its
// context descends from, or nil. h may be nil.
func (h *Hold) writerOf(name string) *Hold {
	for o, k := range h.locks() {
		if k.name == name && k.kind.mode() == writing {
			return o
		}
	}
	return nil
}

// Name returns the lock's name.
func (l *Lock) Name() string { return l.name }

// ForceUnlock deletes the lock, whichever owner holds it, and wakes the waiters. It
// reports whether the lock was held. Holders in this client learn of the loss at
// once, others at their next renewal.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	latch := l.c.newLatch(l.name)
	before := l.c.holders.of(l.name)
	n, err := l.c.change(ctx, l.kind.force(l, latch), latch)
	if err != nil || n != 1 {
		return false, err
	}
	defer l.c.watchdog.verify() // a hold granted meanwhile may be over too, or be valid
	for _, g := range before {
		if m := g.claim.(*lockClaim).kind.mode(); m == l.kind.mode() || l.kind.mode() == writing {
			g.loseNow(errForced)
		}
	}
	return true, nil
}

// IsLocked reports whether any owner holds the lock.
func (l *Lock) IsLocked(ctx context.Context) (bool, error) {
	n, err := sender.ReadInt(l.c.ask(ctx, l.kind.locked(l)))
	return n == 1, err
}

// HoldCount returns how often the owner, "id:threadId", holds the lock on the
// server. It is 0 when the owner does not hold it.
func (l *Lock) HoldCount(ctx context.Context, owner string) (int, error) {
	return l.c.askNumber(ctx, readKey(l.name, "hget", l.kind.field(owner)),
		l.c.opts.RetryFor)
}

// TTL returns the rest of the lock's lease, in milliseconds, at most 100 years. It is 0 when
// the lock is free and negative when the lock has no lease.
func (l *Lock) TTL(ctx context.Context) (time.Duration, error) {
	ms, err := sender.ReadInt(l.c.ask(ctx, readKey(l.name, "pttl")))
	if err != nil || ms == -2 {
		return 0, err
	}
	return fromMS(ms), nil
}
