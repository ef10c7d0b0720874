package rlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// parts are the holds of a MultiLock or a QuorumLock.
type parts struct {
	need  int       // how many parts must be held
	began time.Time // since then they are held

	mu      sync.Mutex // guards the fields below
	list    []part
	healing *healing // takes parts again; nil: it ended, or there is none
	err     error    // why too few parts are or were held
}

// part is one lock of several. A part of a MultiLock stays lost.
type part struct {
	lock *Lock // of a QuorumLock, else nil
	hold *Hold // nil: not acquired
	lost bool
	inDo bool // Do keeps the client from closing
}

// held reports whether the part was held from a time until now.
func (p *part) held(from time.Time) bool {
	return p.hold != nil && !p.lost && !p.hold.holding.since.After(from)
}

// newWhole returns the hold of several locks. It is lost when fewer than need of the
// given parts are held. Its context descends from ctx.
func newWhole(ctx context.Context, list []part, need int) *Hold {
	p := &parts{need: need, list: list, began: time.Now()}
	w := &Hold{parts: p, base: ctx, parent: ctx}
	for _, h := range p.all() {
		h.partOf(w)
	}
	return w
}

// partOf makes w learn of the loss of h.
func (h *Hold) partOf(w *Hold) {
	h.mu.Lock()
	h.whole = w
	err := h.err
	h.mu.Unlock()
	if err != nil {
		w.parts.partLost(w, h, err)
	}
}

// errNoMajority is the reason of a loss that is known only later.
var errNoMajority = errors.New("for a time, too few servers had the lock")

// partLost records that h is lost, and makes healing take the part again. It marks w as
// lost if too few parts are held, or were held since h was held for certain.
func (p *parts) partLost(w, h *Hold, err error) {
	end := h.lastHeld(err)
	p.mu.Lock()
	if end.Before(p.began) {
		end = p.began
	}
	i := slices.IndexFunc(p.list, func(o part) bool { return o.hold == h })
	if i < 0 || p.list[i].lost {
		p.mu.Unlock()
		return
	}
	p.list[i].lost = true
	held, before := 0, 0
	for n := range p.list {
		if p.list[n].held(time.Now()) {
			held++
		}
		if p.list[n].held(end) {
			before++
		}
	}
	switch {
	case held < p.need:
		p.breakLocked(err)
	case before < p.need:
		err = fmt.Errorf("%w: %w", ErrLockLost, errNoMajority)
		p.breakLocked(err)
	case p.healing != nil && healable(err):
		p.healing.begin(i)
	}
	over := p.err
	p.mu.Unlock()
	if over != nil {
		w.lose(over)
	}
}

// breakLocked records why too few parts are held. The caller has locked p.mu.
func (p *parts) breakLocked(err error) {
	if p.err == nil {
		p.err = err
	}
	p.endHealingLocked()
}

// lastHeld returns until when a lost hold was held for certain. When the lease ended, that
// is its end: until then the server had the lock. Otherwise it is the last request to
// which the server answered that it had the lock.
func (h *Hold) lastHeld(loss error) time.Time {
	l := h.c.watchdog.read(&h.holding.lease)
	if now := time.Now(); errors.Is(loss, errLeaseExpired) {
		return minTime(l.until, now)
	}
	return l.confirmed
}

// all returns the holds of the parts.
func (p *parts) all() []*Hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	holds := make([]*Hold, 0, len(p.list))
	for i := range p.list {
		if h := p.list[i].hold; h != nil {
			holds = append(holds, h)
		}
	}
	return holds
}

// of returns the hold of the client's part of a QuorumLock, or nil.
func (p *parts) of(c *Client) *Hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		if l := p.list[i].lock; l != nil && l.c == c && !p.list[i].lost {
			return p.list[i].hold
		}
	}
	return nil
}

// enterDo is Hold.enterDo for every part, also for one that is acquired later.
func (p *parts) enterDo() (leave []func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		o := &p.list[i]
		c := o.client()
		if !c.opts.UnlockOnClose || c.enter() != nil {
			continue
		}
		leave = append(leave, c.leave)
		o.inDo = true
		if o.hold != nil {
			o.hold.holding.inDo.Store(true)
		}
	}
	return leave
}

func (p *part) client() *Client {
	if p.lock != nil {
		return p.lock.c
	}
	return p.hold.c
}

// check detects leases that ended.
func (p *parts) check() {
	for _, h := range p.all() {
		h.holding.check()
	}
}

// until returns until when enough parts can be trusted.
func (p *parts) until() time.Time {
	var ends []time.Time
	for _, h := range p.all() {
		if h.lossError() == nil {
			ends = append(ends, h.Until())
		}
	}
	if len(ends) < p.need {
		return time.Time{}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	return ends[p.need-1]
}

// release releases every part. It returns ErrLockLost if w is lost, or if the replies show
// that too few parts were held.
func (p *parts) release(ctx context.Context, w *Hold) error {
	p.endHealing()
	err := p.each(ctx, nil, func(h *Hold, ctx context.Context) error {
		err := h.Release(ctx)
		if errors.Is(err, ErrLockLost) {
			p.partLost(w, h, err)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// extend is Hold.Extend for every part. No part is taken again after it, because the
// watchdog does not renew the hold any more.
func (p *parts) extend(ctx context.Context, w *Hold, d time.Duration) error {
	p.endHealing()
	err := p.each(ctx, w.Lost(), func(h *Hold, ctx context.Context) error {
		return h.Extend(ctx, d)
	})
	if lost := w.Err(); lost != nil { // the leases may have ended before the replies
		return lost
	}
	return err
}

// partsGrace is how long the remaining parts may take when the result is certain.
const partsGrace = 50 * time.Millisecond

// each runs f for every part at the same time. It returns nil if as many as needed
// succeeded, and otherwise the errors. When the result is certain, the calls that are left
// continue in the background after partsGrace, also when ctx ends then. lost may be nil;
// when it is closed, each returns at once.
func (p *parts) each(
	ctx context.Context, lost <-chan struct{}, f func(*Hold, context.Context) error,
) error {
	holds := p.all()
	free, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	detach := context.AfterFunc(ctx, func() { cancel(ctx.Err()) })
	defer detach()
	results := make(chan error, len(holds))
	for _, h := range holds {
		go func() {
			err := f(h, free)
			if errors.Is(err, context.Canceled) && free.Err() != nil {
				err = context.Cause(free) // ctx's own error, a deadline perhaps
			}
			results <- err
		}()
	}
	var errs []error
	succeeded := 0
	var grace <-chan time.Time
	for waiting := true; waiting && succeeded+len(errs) < len(holds); {
		select {
		case err := <-results:
			if err != nil {
				errs = append(errs, err)
			} else {
				succeeded++
			}
		case <-grace:
			waiting = false
		case <-lost:
			waiting = false
		}
		if certain := succeeded >= p.need || len(holds)-len(errs) < p.need; certain && grace == nil {
			timer := time.NewTimer(partsGrace)
			defer timer.Stop()
			grace = timer.C
		}
	}
	if succeeded+len(errs) == len(holds) {
		cancel(nil)
	}
	switch {
	case succeeded >= p.need:
		return nil
	case len(errs) == 0: // too few parts are left
		return ErrLockLost
	}
	return errors.Join(errs...)
}
