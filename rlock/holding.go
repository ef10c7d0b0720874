package rlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// holding is a lock or a set of permits that the server granted to this client. The
// Holds of one owner that re-enter a lock share it.
type holding struct {
	lease // guarded by watchdog.mu

	c      *Client
	ctx    context.Context // of the acquisition, for events
	claim  claim
	since  time.Time
	token  int64
	strays int // copies of the acquire request that may still arrive
	inDo   atomic.Bool
	back   atomic.Bool // takeBack was called
	next   *holding    // of the same name; guarded by holders.mu

	late atomic.Int32 // copies of changes of the lease that may still arrive

	handover handover // of the answer to the release

	mu    sync.Mutex // guards the fields below
	holds []*Hold    // not yet released
	err   error      // the reason of the loss
	ended bool       // the last hold was released
}

// join adds a hold that re-enters g. It returns nil if g is over.
func (g *holding) join(ctx context.Context) *Hold {
	h := &Hold{joined: true}
	h.begin(ctx, g)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended || g.err != nil {
		return nil
	}
	g.holds = append(g.holds, h)
	return h
}

// live reports whether g is held and not lost.
func (g *holding) live() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.ended && g.err == nil
}

// check marks g as lost if its lease has ended.
//
// The watchdog may have taken the lease already, and be busy with the losses before this one.
func (g *holding) check() {
	if l := g.c.watchdog.read(&g.lease); !l.over(time.Now()) {
		return
	}
	g.mu.Lock()
	ended := g.ended
	g.mu.Unlock()
	if !ended {
		g.c.watchdog.remove(&g.lease)
		g.lose(errLeaseExpired)
	}
}

// loseNow removes the lease from the watchdog and marks g as lost.
func (g *holding) loseNow(cause error) {
	if _, ok := g.c.watchdog.remove(&g.lease); ok {
		g.lose(cause)
	}
}

// lose marks g as lost and reports the loss. It is called after the lease was removed from
// the watchdog. Only the first call has an effect.
func (g *holding) lose(cause error) {
	if err := g.markLost(cause); err != nil {
		g.reportLoss(err)
	}
}

// markLost ends the contexts of g's holds. It returns the loss in the first call, which
// reportLoss must follow, and nil in others.
func (g *holding) markLost(cause error) (loss error) {
	g.mu.Lock()
	if g.err == nil {
		g.err = fmt.Errorf("%w: %w", ErrLockLost, cause)
		loss = g.err
	}
	err := g.err
	holds := slices.Clone(g.holds)
	g.mu.Unlock()
	for _, h := range holds {
		h.lose(err)
	}
	return loss
}

func (g *holding) reportLoss(err error) {
	if g.keptByOther() {
		g.c.goBackground(func() {
			g.takeBack(context.WithoutCancel(g.ctx), true, g.c.watchdog.read(&g.lease).length)
		})
	}
	g.notify(g.c.opts.Observer.Lost, err)
}

// keptByOther reports whether the owner's hold of the other half of an RWLock keeps the
// lock's hash, and with it this hold, which is lost.
func (g *holding) keptByOther() bool {
	k, ok := g.claim.(*lockClaim)
	if !ok {
		return false
	}
	switch k.kind.mode() {
	case writing:
		return g.c.holders.holds(k.owner, k.name, reading)
	case reading:
		return g.c.holders.holds(k.owner, k.name, writing)
	}
	return false
}

// notify calls f, which may be nil, with an event that may have an error.
func (g *holding) notify(f func(context.Context, Event), err error) {
	if f != nil {
		notify(g.ctx, f, g.claim, Event{Held: time.Since(g.since), Err: err})
	}
}

// release ends the hold h. The last one gives the lock back, also if the observer of a loss
// panics.
func (g *holding) release(ctx context.Context, h *Hold) error {
	checked := false
	defer func() {
		if !checked {
			_ = g.end(context.WithoutCancel(ctx), h)
		}
	}()
	g.check()
	checked = true
	return g.end(ctx, h)
}

// end is release after the check of the lease.
func (g *holding) end(ctx context.Context, h *Hold) error {
	g.mu.Lock()
	g.holds = slices.DeleteFunc(g.holds, func(other *Hold) bool { return other == h })
	last, lost := len(g.holds) == 0, g.err
	g.ended = g.ended || last
	g.mu.Unlock()
	if !last {
		return lost
	}
	length, _ := g.c.watchdog.remove(&g.lease)
	if err := g.c.enter(); err != nil {
		if lost == nil && !g.c.opts.UnlockOnClose {
			g.lose(err) // as Close does, which may not have come to g yet
			lost = g.lossError()
		}
		if lost != nil {
			return errors.Join(lost, err)
		}
		g.c.running.Add(1) // Close waits for this release
	}
	if lost != nil { // it may still exist on the server
		go func() {
			defer g.c.leave()
			g.takeBack(context.WithoutCancel(ctx), true, length)
		}()
		return lost
	}
	defer g.c.leave()
	o := g.takeBack(ctx, false, length)
	if o.Err == nil {
		return g.released(o)
	}
	if late := g.handover.leave(); late != nil {
		_ = g.released(*late)
	}
	return o.Err
}

// released tells the observer what the answer to the release says, and returns it.
func (g *holding) released(o sender.Outcome) error {
	if n, _ := o.Reply.(int64); !g.claim.wasHeld(n) {
		err := fmt.Errorf("%w: %w", ErrLockLost, errNotOwner)
		g.notify(g.c.opts.Observer.Lost, err)
		return err
	}
	g.notify(g.c.opts.Observer.Released, nil)
	return nil
}

// takeBack sends the release until it is answered. With undo it is unknown whether
// the server has the lock still. A second call does nothing: the owner may have acquired
// the lock again.
func (g *holding) takeBack(ctx context.Context, undo bool, length time.Duration) sender.Outcome {
	if g.back.Swap(true) {
		return sender.Outcome{Reply: int64(-1)}
	}
	k, ok := g.claim.(*lockClaim)
	if !ok || !k.known {
		return g.sendBack(ctx, undo, length, nil)
	}
	return g.sendBack(ctx, undo, length, g.c.takeTurn(k))
}

// sendBack is takeBack in the owner's turn. settled, which may be nil, gives the turn back.
func (g *holding) sendBack(
	ctx context.Context, undo bool, length time.Duration, settled func(),
) sender.Outcome {
	if _, ok := g.claim.(*lockClaim); ok {
		g.c.holders.remove(g)
	}
	limit := length
	if length == 0 {
		limit = endlessLimit
	}
	strays := g.strays + int(g.late.Load())
	return g.c.takeBack(ctx, g.claim, undo, limit, strays, func(o sender.Outcome) {
		if settled != nil {
			defer settled()
		}
		if o.Err == nil && !undo && g.handover.arrived(o) {
			_ = g.released(o)
		}
	})
}

// setLease makes the lease end length from now, without renewals. Without shorten it makes
// the lease at least that long, and leaves the renewals as they are.
func (g *holding) setLease(ctx context.Context, length time.Duration, shorten bool) error {
	if err := g.c.enter(); err != nil {
		return err
	}
	defer g.c.leave()
	g.late.Add(1)
	defer g.late.Add(-1)
	w, until := g.c.watchdog, trustUntil(time.Now(), length)
	number, ok := w.beginChange(&g.lease, until, shorten)
	if !ok {
		return g.lossError()
	}
	k := g.claim.(renewable)
	ch := leaseChange{length, shorten, g.c.place(number)}
	o := g.c.sender.Send(ctx, sender.Request{Call: k.renew(ch), Limit: g.c.opts.RetryFor})
	g.late.Add(int32(o.Strays))
	switch n, _ := o.Reply.(int64); {
	case o.Err != nil:
		return o.Err
	case n == 1 && w.endChange(&g.lease, number, length, until, shorten):
		return nil
	case n == 2 && !shorten: // the later change may have made the lease shorter
		return g.setLease(ctx, length, false)
	case n == 2 && g.live(): // the later change has replaced this one
		return nil
	case n == 0:
		g.loseNow(errNotOwner)
	}
	return g.lossError()
}

// endContexts ends the contexts of the holds, because the client closes.
func (g *holding) endContexts() {
	g.mu.Lock()
	holds := slices.Clone(g.holds)
	g.mu.Unlock()
	for _, h := range holds {
		if g.inDo.Load() {
			h.endContext(ErrClosed) // Do releases it
		} else {
			h.lose(fmt.Errorf("%w: %w", ErrLockLost, ErrClosed))
		}
	}
}

// releaseAll releases every hold.
func (g *holding) releaseAll(ctx context.Context) error {
	g.mu.Lock()
	holds := slices.Clone(g.holds)
	g.mu.Unlock()
	var errs []error
	for _, h := range holds {
		errs = append(errs, h.Release(ctx))
	}
	return errors.Join(errs...)
}

// lossError returns why the lease is over.
func (g *holding) lossError() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return g.err
	}
	return ErrNotHeld
}

// The watchdog calls the following methods.

func (g *holding) key() string { return g.claim.event().Name }

// renewal is called while watchdog.mu is locked.
func (g *holding) renewal(ch leaseChange) sender.Call { return g.claim.(renewable).renew(ch) }

// verification is a renewal that changes nothing.
func (g *holding) verification() sender.Call {
	return g.claim.(renewable).renew(leaseChange{})
}

func (g *holding) renewed() { g.notify(g.c.opts.Observer.Renewed, nil) }

func (g *holding) renewalFailed(err error) { g.notify(g.c.opts.Observer.RenewalFailed, err) }
