package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// starved limits an acquisition that has no other limit.
	starved = 30 * time.Second

	// lateReturn is how long a call may take after the end of its context or wait. rlock
	// waits 100 ms for an undo, and 100 ms for the release of a multi-lock's parts.
	lateReturn = 400 * time.Millisecond

	// releasing limits a release.
	releasing = 10 * time.Second
)

// step is what a worker does: one acquisition and its hold.
type step struct {
	names  []string
	shared bool // a read hold
	n      int  // permits
	how    how
	cancel time.Duration   // the acquisition is cancelled after this time; 0: after starved
	hold   time.Duration   // -1: until the hold is lost
	extend []time.Duration // changes of the lease at the same time, before hold begins
	again  bool            // enters the lock again while it holds it
	leave  time.Duration   // context of the release; 0: releasing, -1: cancelled

	below []step // done with the context of this hold, at the same time
	first bool   // releases the hold while the steps below may be under way
}

// draw returns a random step.
func (c *campaign) draw(rnd *rand.Rand) step {
	s := step{names: []string{c.names[rnd.IntN(len(c.names))]}, n: 1, how: patient}
	ms := func(from, to int) time.Duration {
		return time.Duration(from)*time.Millisecond +
			time.Duration(rnd.Int64N(int64(to-from)*int64(time.Millisecond)))
	}
	switch at := rnd.Float64(); {
	case at < 0.12:
		s.how.wait = 0
	case at < 0.24:
		s.how.wait = ms(2, 60)
	case at < 0.34:
		s.cancel = ms(1, 60)
	}
	s.hold = ms(0, 3)
	switch at := rnd.Float64(); {
	case at < 0.08:
		s.hold = ms(5, 40)
	case at < 0.09 && !c.calm:
		s.hold = ms(500, 3000) // longer than a lease, through failovers
	}
	if rnd.Float64() < 0.15 && c.kind != semaphore && !c.calm {
		s.how.lease = ms(300, 900)
		if rnd.Float64() < 0.02 && c.kind != permit {
			s.hold = -1
		}
		s.hold = min(s.hold, s.how.lease/2)
	}
	switch at := rnd.Float64(); {
	case at < 0.05:
		s.leave = -1
	case at < 0.1:
		s.leave = ms(1, 4)
	}
	if rnd.Float64() < 0.02 && !c.counts() && !c.calm {
		s.extend = []time.Duration{ms(100, 300), ms(500, 900)}
		rnd.Shuffle(2, func(i, j int) { s.extend[i], s.extend[j] = s.extend[j], s.extend[i] })
		s.how.lease, s.hold = ms(300, 900), -1
	}
	s.again = !c.counts() && rnd.Float64() < 0.1
	if rnd.Float64() < 0.06 && !c.counts() && c.kind != multiLock && s.hold >= 0 {
		c.drawBelow(&s, rnd, ms)
	}
	switch c.kind {
	case mixed:
		s.shared = rnd.Float64() < 0.6
	case multiLock:
		i := rnd.IntN(len(c.names) - 1)
		j := (rnd.IntN(len(c.names)-1) + i + 1) % len(c.names)
		s.names = []string{c.names[i], c.names[j]}
	case semaphore, permit:
		s.n = 1 + rnd.IntN(2)
	}
	return s
}

// drawBelow draws two steps that acquire one further lock. They wait for a short time only,
// because its holder may wait for this one.
func (c *campaign) drawBelow(
	s *step, rnd *rand.Rand, ms func(from, to int) time.Duration,
) {
	s.first = rnd.IntN(2) == 0
	further := c.names[rnd.IntN(len(c.names))]
	if further == s.names[0] {
		return
	}
	for range 2 {
		child := step{names: []string{further}, n: 1, how: how{wait: ms(2, 60)}, hold: ms(0, 10)}
		child.shared = c.kind == mixed && rnd.IntN(2) == 0
		s.below = append(s.below, child)
	}
}

// work runs steps until there are enough acquisitions.
func (n *node) work(worker int) {
	c := n.c
	rnd := rand.New(rand.NewPCG(c.seed, uint64(1_000_000+n.number*100+worker)))
	for !c.ended.Load() && c.rec.granted() < c.count {
		p := n.process()
		n.do(p.ctx, p, c.draw(rnd))
	}
}

// acquirer returns the function that acquires what a step names.
func (c *campaign) acquirer(p *running, s step) func(context.Context, how) (hold, error) {
	switch c.kind {
	case semaphore, permit:
		return func(ctx context.Context, h how) (hold, error) {
			return p.permits(c.kind, s.names[0]).acquire(ctx, s.n, h)
		}
	case mixed:
		k := writeLock
		if s.shared {
			k = readLock
		}
		return p.lock(k, s.names[0]).acquire
	}
	return p.lock(c.kind, s.names...).acquire
}

// do acquires with ctx, holds and releases.
func (n *node) do(ctx context.Context, p *running, s step) {
	c := n.c
	limit := starved
	if s.cancel > 0 {
		limit = s.cancel
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begin := time.Now()
	g := grant{process: n.number, shared: s.shared, n: s.n, asked: c.rec.now(), faultsAsked: c.faults()}
	h, err := c.acquirer(p, s)(ctx, s.how)
	g.from = c.rec.now()
	g.faults = c.faults()
	w := waiting{process: n.number, from: g.asked, to: g.from}
	w.patient = s.cancel == 0 && s.how.wait == forever
	if len(s.names) == 1 {
		w.name = s.names[0]
	}
	c.rec.waiting(w)
	c.judgeCall(p, s, g, begin, err)
	if err != nil {
		return
	}
	g.owner, g.token = h.owner(), h.token()
	g.contended = c.contendedAt(g.owner)
	done := make(chan struct{})
	defer close(done)
	losses := c.awaitLoss(h, done)
	if s.again {
		c.enterAgain(p, h, s)
	}
	c.extend(p, h, s)
	var below sync.WaitGroup
	defer below.Wait()
	for _, child := range s.below {
		below.Go(func() { n.do(h.context(), p, child) })
	}
	if !s.first {
		below.Wait()
	}
	c.keep(&g, h, s, losses)
	for _, name := range s.names {
		g.name = name
		c.rec.grant(g)
	}
	n.release(p, h, s, g)
}

// enterAgain acquires and releases the lock inside of a hold.
func (c *campaign) enterAgain(p *running, h hold, s step) {
	inner, err := c.acquirer(p, s)(h.context(), how{wait: 0, lease: s.how.lease})
	if err == nil {
		err = inner.release(h.context())
	}
	if err != nil && h.context().Err() == nil && !errors.Is(err, errLost) {
		c.rec.violate("reentry", fmt.Sprintf("%v: %v", s.names, err))
	}
}

// extend makes the step's changes of the lease, which may overtake each other. Their result
// may stay unknown.
func (c *campaign) extend(p *running, h hold, s step) {
	ctx, cancel := context.WithTimeout(p.ctx, lease/4)
	defer cancel()
	var all sync.WaitGroup
	for _, length := range s.extend {
		all.Go(func() {
			if err := h.extend(ctx, length); err != nil {
				c.rec.fail(fmt.Errorf("extend: %w", err))
			}
		})
	}
	all.Wait()
}

// judgeCall looks for an acquisition that returned too late or with a wrong error.
func (c *campaign) judgeCall(p *running, s step, g grant, begin time.Time, err error) {
	limit, took := starved, g.from-g.asked
	if s.cancel > 0 {
		limit = s.cancel
	}
	if s.how.wait != forever {
		limit = min(limit, max(s.how.wait, 5*time.Second)) // one try may take go-redis's retries
	}
	if took > limit+lateReturn {
		c.rec.violate("call", fmt.Sprintf("acquire %v with a limit of %s returned after %s: %v",
			s.names, round(limit), round(took), err))
	}
	if err == nil {
		return
	}
	c.rec.fail(err)
	switch {
	case errors.Is(err, errTimeout) && s.how.wait != forever:
	case errors.Is(err, context.DeadlineExceeded) && s.cancel > 0:
	case p.ctx.Err() != nil:
	case c.rec.clock.Longest(begin) > socketPatience: // no reply comes in time then
	case errors.Is(err, errNotSynced) && c.onlyReplica() && c.rec.had(replicaStops, g.asked, g.from):
	case errors.Is(err, context.DeadlineExceeded) && c.kind == multiLock:
		// The owners of single parts are served in no order. Rule "free" checks that some
		// owner is served.
	case errors.Is(err, context.DeadlineExceeded) && s.how.wait == forever:
		c.rec.violate("starved", fmt.Sprintf("acquire %v waited for %s", s.names, round(took)))
	case s.how.wait == forever && s.cancel == 0:
		c.rec.violate("error", fmt.Sprintf("acquire %v: %v", s.names, err))
	}
}

// loss is when an owner was told that its hold is lost.
type loss struct{ at, late time.Duration } // late: after the end of its trust

// awaitLoss returns a channel for the loss of h until done is closed. The owner may be inside
// of a call then, and look at its hold later.
func (c *campaign) awaitLoss(h hold, done <-chan struct{}) <-chan loss {
	losses := make(chan loss, 1)
	go func() {
		select {
		case <-h.lost():
			l := loss{at: c.rec.now()}
			if until := h.until(); !until.IsZero() {
				l.late = max(0, time.Since(until))
			}
			losses <- l
		case <-done:
		}
	}()
	return losses
}

// keep holds until the end of the step's time or until the hold is lost.
func (c *campaign) keep(g *grant, h hold, s step, losses <-chan loss) {
	var over <-chan time.Time
	if s.hold >= 0 {
		timer := time.NewTimer(s.hold)
		defer timer.Stop()
		over = timer.C
	}
	limit := time.NewTimer(4 * lease)
	defer limit.Stop()
	select {
	case <-over:
		select {
		case <-h.lost():
			g.lost = true
		default:
		}
	case <-h.lost():
		g.lost = true
	case <-limit.C:
		if g.lost = within(h.lost(), lease); g.lost {
			break // this process did not run for some time
		}
		c.rec.violate("lease",
			fmt.Sprintf("a hold of %v with a lease of %s did not end", s.names, s.how.lease))
	}
	g.to = c.rec.now()
	g.how = "released"
	if g.lost {
		loss := <-losses
		g.how, g.to = "lost", loss.at
		if s.how.lease != 0 {
			g.late = loss.late
		}
	}
}

func (n *node) release(p *running, h hold, s step, g grant) {
	c := n.c
	limit := releasing
	if s.leave > 0 {
		limit = s.leave
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s.leave < 0 {
		cancel()
	}
	start := c.rec.now()
	err := h.release(ctx)
	if c.kind == semaphore && errors.Is(err, errClosed) {
		// The process was shut down. The permits have no lease, so another process gives
		// them back.
		err = c.tryFor(func() error {
			return n.process().permits(semaphore, s.names[0]).give(context.Background(), s.n)
		})
		start = c.rec.now()
	}
	took := c.rec.now() - start
	if took > max(0, limit)+lateReturn {
		c.rec.violate("call", fmt.Sprintf("release %v with a limit of %s returned after %s: %v", s.names,
			limit, round(took), err))
	}
	// When Close unlocks, the holder's own release may come first and find the hold held.
	if g.lost && err == nil && p.ctx.Err() == nil {
		c.rec.violate("loss", fmt.Sprintf("release of the lost hold %s returned nil", g))
	}
	if err != nil {
		c.rec.fail(fmt.Errorf("release: %w", err))
	}
}
