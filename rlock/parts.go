package rlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// parts are the holds of a MultiLock or a QuorumLock.
type parts struct {
	need int // how many holds must be held

	mu    sync.Mutex // guards the fields below
	holds []part
}

// part is the hold of one lock.
type part struct {
	hold *Hold
	lost bool
}

// newWhole returns the hold of several locks. It is lost when fewer than need of the
// given holds are held. Its context descends from ctx.
func newWhole(ctx context.Context, holds []*Hold, need int) *Hold {
	p := &parts{need: need, holds: make([]part, len(holds))}
	w := &Hold{parts: p, base: ctx, parent: ctx}
	for i, h := range holds {
		p.holds[i].hold = h
	}
	for _, h := range holds {
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

// partLost records that h is lost. It marks w as lost if too few parts are held.
func (p *parts) partLost(w, h *Hold, err error) {
	p.mu.Lock()
	held := 0
	for i := range p.holds {
		if p.holds[i].hold == h {
			p.holds[i].lost = true
		}
		if !p.holds[i].lost {
			held++
		}
	}
	p.mu.Unlock()
	if held < p.need {
		w.lose(err)
	}
}

// all returns the holds of the parts.
func (p *parts) all() []*Hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	holds := make([]*Hold, len(p.holds))
	for i := range p.holds {
		holds[i] = p.holds[i].hold
	}
	return holds
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

// release releases every part. It returns ErrLockLost if w was lost.
func (p *parts) release(ctx context.Context, w *Hold) error {
	err := p.each(ctx, nil, (*Hold).Release)
	if lost := w.lossError(); err == nil && lost != nil {
		return lost
	}
	return err
}

// extend is Hold.Extend for every part.
func (p *parts) extend(ctx context.Context, w *Hold, d time.Duration) error {
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
		go func() { results <- f(h, free) }()
	}
	var errs []error
	var grace <-chan time.Time
	for succeeded := 0; succeeded+len(errs) < len(holds); {
		select {
		case err := <-results:
			if err != nil {
				errs = append(errs, err)
			} else {
				succeeded++
			}
		case <-grace:
			return p.verdict(len(holds), errs)
		case <-lost:
			return p.verdict(len(holds), errs)
		}
		certain := succeeded >= p.need || len(holds)-len(errs) < p.need
		if certain && grace == nil {
			timer := time.NewTimer(partsGrace)
			defer timer.Stop()
			grace = timer.C
		}
	}
	cancel(nil)
	return p.verdict(len(holds), errs)
}

// verdict returns the joined errors of the calls for n parts if too few succeeded.
func (p *parts) verdict(n int, errs []error) error {
	if n-len(errs) >= p.need {
		return nil
	}
	return errors.Join(errs...)
}
