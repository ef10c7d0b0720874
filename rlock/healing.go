package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// healing takes the parts of a QuorumLock's hold again that are lost or were not acquired,
// while the watchdog renews the hold and a majority is held. Each part has a goroutine of
// its client while it is missing.
//
// A part that is taken again counts from the grant on. So a hold is lost, also later, if it
// had no majority for a time: partLost compares the grants of the parts that are held with
// the time until which the lost part was held for certain. That time is the server's last
// confirmation. To keep it recent, the other parts are verified after each such grant.
type healing struct {
	w        *Hold
	settings settings
	ctx      context.Context // of the acquisitions
	stop     context.CancelFunc
	later    []*time.Timer // of parts that were not acquired
}

// healable reports whether a part with such a loss may be taken again: not if a caller ended
// it.
func healable(loss error) bool {
	return !errors.Is(loss, errForced) && !errors.Is(loss, ErrClosed)
}

// heal begins the healing of w, which was acquired with s. Parts that were not acquired are
// tried when the hold is first renewed: most holds are released before.
func (w *Hold) heal(s settings) {
	s.wait, s.retryFor = forever, quorumAnswer
	e := &healing{w: w, settings: s}
	e.ctx, e.stop = context.WithCancel(context.WithoutCancel(w.base))
	p := w.parts
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		e.stop()
		return
	}
	p.healing = e
	for i := range p.list {
		if o := &p.list[i]; o.lost {
			e.begin(i)
		} else if o.hold == nil {
			e.later = append(e.later, time.AfterFunc(o.lock.c.opts.Lease/3, func() { e.begin(i) }))
		}
	}
}

func (p *parts) endHealing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endHealingLocked()
}

func (p *parts) endHealingLocked() {
	if p.healing == nil {
		return
	}
	p.healing.stop()
	for _, t := range p.healing.later {
		t.Stop()
	}
	p.healing = nil
}

// begin makes a goroutine take the part at index i. It does not block.
func (e *healing) begin(i int) {
	l := e.w.parts.list[i].lock // never changes
	l.c.goBackground(func() { e.take(i, l) })
}

// take acquires a part, and tries again until the healing or the client ends.
func (e *healing) take(i int, l *Lock) {
	e.forget(i)
	for n := 1; ; n++ {
		h, err := l.acquire(e.ctx, e.settings)
		if err == nil {
			e.add(i, h)
			return
		}
		most := max(l.c.opts.Lease/3, time.Millisecond)
		pause := min(50*time.Millisecond<<min(n, 10), most)
		if l.c.pause(e.ctx, pause-rand.N(pause/4+1)) != nil {
			return
		}
	}
}

// forget releases the lost hold of a part. Its owner may still have the lock on the server.
func (e *healing) forget(i int) {
	p := e.w.parts
	p.mu.Lock()
	old := p.list[i].hold
	p.list[i].hold = nil
	p.mu.Unlock()
	if old != nil {
		_ = old.Release(e.ctx)
	}
}

// add makes h the hold of a part, or releases h if the healing has ended meanwhile.
func (e *healing) add(i int, h *Hold) {
	p := e.w.parts
	p.mu.Lock()
	if p.healing != e {
		p.mu.Unlock()
		_ = h.Release(e.ctx)
		return
	}
	o := &p.list[i]
	o.hold, o.lost = h, false
	if o.inDo {
		h.holding.inDo.Store(true)
	}
	p.mu.Unlock()
	h.partOf(e.w)
	for _, other := range p.all() {
		if other != h {
			other.c.watchdog.confirm(other.holding)
		}
	}
}
