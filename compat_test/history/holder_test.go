package history

import (
	"context"
	"errors"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// holder is an owner of a lock, and what the owner knows about its hold.
type holder struct {
	c     *client
	rec   *recorder
	l     locker
	owner int
	key   string
	mode  mode

	holds   int
	watched bool
	renewed bool          // the watchdog may have renewed the lease
	length  time.Duration // of the lease
	low     stamp         // the lease cannot have ended before this
	open    []*op         // operations that set a watchdog's lease without an end yet
	wrote   stamp         // the last change while a watchdog renewed
	last    *op           // the end of the present lease, if it has one
	floor   stamp         // the lease's deadline cannot be before this
	ends    []*op         // ends that may have an effect, not yet in the history
	pending []pendingOp

	hold  <-chan struct{} // Lost of the present hold, to tell holds apart
	vague bool            // the last unlock may have found no hold

	beside *holder // the other half of the same owner: its leases also keep the deadline up

	adds bool // locking again adds the lease to the rest of the present one
	sum  int  // how many leases were added up, if adds
	asks bool // the lock has a queue
}

// pendingOp is an operation that may happen until some time after its call ended. The
// owner's next call starts only then.
type pendingOp struct {
	o     *op
	after time.Duration
}

func (c *client) holder(l locker, owner int) *holder {
	h := &holder{c: c, rec: c.w.rec, l: l, owner: owner, low: never}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holders = append(c.holders, h)
	return h
}

func (h *holder) begin(what verb) *op {
	return h.rec.begin(op{What: what, Owner: h.owner, Key: h.key, Mode: h.mode})
}

// take locks. With wait forever it waits until ctx ends.
func (h *holder) take(ctx context.Context, wait, lease time.Duration) {
	o := h.begin(acquire)
	var asked *op
	if h.asks && (h.holds == 0 || h.vague) && wait != 0 {
		asked = h.begin(ask)
		o.Of = asked.ID
	}
	var err error
	switch {
	case wait != forever:
		err = h.l.TryLock(ctx, wait, lease)
	case lease == 0:
		err = h.l.Lock(ctx)
	default:
		err = h.l.LockLease(ctx, lease)
	}
	o.Return = h.rec.now()
	o.Result = resultOf(err)
	if f, fenced := h.l.(fencedLocker); fenced && err == nil {
		o.Token = f.fenced.Token()
	}
	gaveUp, known := h.gaveUp(ctx, o.Call, wait, err), 0
	over := o.Result != unknown && (o.Result != refused || wait == 0 || !h.c.slow())
	if over {
		h.clear(o.Return)
	} else {
		o.Result = unknown // the last try may still be running
		known = len(h.pending)
	}
	if h.resent(o) {
		h.addFirstSend(o, lease)
	}
	if asked != nil {
		h.queued(asked, o)
	}
	if hold := h.l.Lost(); o.Result == ok && hold != h.hold {
		h.hold, h.holds = hold, 0
	}
	h.taken(o, lease)
	for _, d := range h.pending[known:] { // an undo happens after the wait has ended
		if d.o.What == undo || d.o.What == leave {
			d.o.Call = max(d.o.Call, gaveUp)
		}
	}
	if o.Of == 0 || o.Result != refused {
		h.rec.add(o)
	}
}

// gaveUp returns the earliest time at which an acquisition that began at s was given
// up.
func (h *holder) gaveUp(ctx context.Context, s stamp, wait time.Duration, err error) stamp {
	deadline, ends := ctx.Deadline()
	switch {
	case errors.Is(err, rlock.ErrTimeout):
		return s.plus(wait)
	case errors.Is(err, context.DeadlineExceeded) && ends:
		return stamp(deadline.Sub(h.rec.start)) << counterBits
	case errors.Is(err, rlock.ErrClosed):
		h.c.mu.Lock()
		defer h.c.mu.Unlock()
		return h.c.gone
	}
	return s
}

// taken records the result of an acquisition.
func (h *holder) taken(o *op, lease time.Duration) {
	watched := lease == 0
	if watched {
		lease = watchdogLease
	}
	switch o.Result {
	case ok:
		h.vague = false
		if h.holds == 0 {
			h.length, h.watched, h.low, h.last, h.floor, h.wrote, h.sum = lease, watched, never, nil, 0, 0, 0
		} else {
			h.length, h.watched = max(h.length, lease), h.watched || watched
		}
		if h.holds++; h.adds {
			h.sum++
		}
		h.leased(o, h.adds && h.holds > 1)
	case lost:
		o.Lax = h.lax(o)
	case unknown:
		if h.holds > 0 {
			lease = max(lease, h.length)
		}
		h.unsure(o, lease)
	}
}

// unsure handles an acquisition with an unknown outcome.
func (h *holder) unsure(o *op, lease time.Duration) {
	o.Return = h.rec.late(o.Return)
	back := &op{What: undo, Owner: h.owner, Key: h.key, Mode: h.mode, Of: o.ID, Call: o.Call,
		Return: o.Return}
	h.c.undoes(back)
	until, added := o.Return, time.Duration(0)
	if h.adds {
		added = max(h.reach().time()-o.Call.time(), 0)
		until = max(until, h.reach())
	}
	over := h.ending(o, o.Call, until, lease)
	if h.holds > 0 {
		h.last = over
	}
	h.pending = append(h.pending, pendingOp{o, 0}, pendingOp{back, 0},
		pendingOp{over, lease + added + h.rec.allowance})
}

// resent reports whether o may have been sent twice.
func (h *holder) resent(o *op) bool {
	return o.Result != unknown && h.c.slow() && (h.c.w.addr != "" || o.Call.time() < o.Return.time())
}

// addFirstSend records that the first send of o, which was sent twice, may have taken
// effect. The effect had ended when the second send ran.
func (h *holder) addFirstSend(o *op, lease time.Duration) {
	if lease == 0 {
		lease = watchdogLease
	}
	if h.holds > 0 {
		lease = max(lease, h.length)
	}
	g := &op{ID: h.rec.id(), What: acquire, Result: unknown, Owner: h.owner, Key: h.key,
		Mode: h.mode, Call: o.Call, Return: o.Return}
	h.rec.add(g)
	h.rec.add(&op{What: undo, Optional: true, Owner: h.owner, Key: h.key, Mode: h.mode, Of: g.ID,
		Call: o.Call, Return: o.Return})
	h.ending(g, o.Call, o.Return, lease)
}

// clear removes the pending operations: their calls had ended at s.
func (h *holder) clear(s stamp) {
	for _, d := range h.pending {
		until := s
		if d.after > 0 {
			until = until.plus(d.after)
		}
		d.o.Return = min(d.o.Return, max(until, d.o.Call))
	}
	h.pending = nil
}

// ending returns the end of a lease that o set.
func (h *holder) ending(o *op, from, until stamp, lease time.Duration) *op {
	e := &op{
		ID: h.rec.id(), What: end, Owner: h.owner, Key: h.key, Mode: h.mode, Of: o.ID,
		Call: from.plus(lease - h.rec.allowance), Return: until.plus(lease + h.rec.allowance),
	}
	h.ends = append(h.ends, e)
	return e
}

// leased records that o set the lease, or added to it.
func (h *holder) leased(o *op, added bool) {
	h.supersede(o)
	sure := h.low > o.Return // if not, the client may have given the lease up already
	if h.watched {
		h.renewed = true
		h.open = append(h.open, o)
		h.wrote = o.Return
		switch {
		case h.c.w.addr != "": // a watchdog may be late
			h.low = min(h.low, o.Call.plus(h.length-h.rec.allowance))
		case sure:
			h.low = never
			if late := o.Call.plus(h.length - h.rec.allowance); late <= o.Return {
				h.low = late // the reply came after the end of the lease
			}
		}
		return
	}
	from, until := o.Call, o.Return
	if h.adds {
		until = max(until, h.reach())
	}
	if added && h.floor != 0 {
		from = h.floor
	}
	h.last = h.ending(o, from, until, h.length)
	h.floor = h.last.Call
	if sure {
		h.low = o.Call.plus(h.length - h.rec.allowance) // the client trusts no longer than this
	}
}

// reach is the latest possible deadline of what the owner still holds.
func (h *holder) reach() (latest stamp) {
	for _, x := range []*holder{h, h.beside} {
		if x == nil {
			continue
		}
		if x.last != nil {
			latest = max(latest, x.last.Return)
		}
		if x.wrote != 0 {
			latest = max(latest, x.wrote.plus(x.span()+h.rec.allowance))
		}
	}
	return latest
}

// span is the sum of the leases that were added up.
func (h *holder) span() time.Duration { return h.length * time.Duration(max(h.sum, 1)) }

// supersede leaves out the ends without an effect: o is known to have happened before
// them, and released the lock or set another lease.
func (h *holder) supersede(o *op) {
	if o.Result != ok {
		return
	}
	h.open = nil
	kept := h.ends[:0]
	for _, e := range h.ends {
		if e.Call <= o.Return {
			kept = append(kept, e)
		}
	}
	h.ends = kept
}

// give unlocks.
func (h *holder) give(ctx context.Context) {
	o := h.begin(release)
	err := h.l.Unlock(ctx)
	o.Return = h.rec.now()
	o.Result = resultOf(err)
	if o.Result != unknown {
		h.clear(o.Return)
	}
	h.given(o, h.l.Lost() == nil)
	h.rec.add(o)
}

// given records the result of an unlock. over means that the client has no hold.
func (h *holder) given(o *op, over bool) {
	if h.watched {
		h.wrote = o.Return
	}
	o.Lax = o.Result != ok && h.lax(o)
	if o.Result == unknown {
		o.Return = h.rec.late(o.Return)
		h.pending = append(h.pending, pendingOp{o, 0})
		h.vague = true
	}
	if h.holds = max(h.holds-1, 0); o.Result == lost && over {
		h.holds = 0
	}
	if h.adds && o.Result == lost && over { // long before the end of the lease
		d := &op{What: drop, Owner: h.owner, Key: h.key, Mode: h.mode, Call: o.Call,
			Return: h.rec.late(o.Return)}
		h.rec.add(d)
		h.pending = append(h.pending, pendingOp{d, 0})
	}
	switch {
	case o.Result == notHeld:
	case o.Result == lost || h.holds == 0 && o.Result == unknown:
		h.lapse(h.rec.late(o.Return))
	case h.holds > 0 && h.mode != read:
		h.leased(o, false)
	case h.holds == 0:
		h.supersede(o)
		h.low = never
	}
}

// lax reports whether the hold may have ended when o returned.
func (h *holder) lax(o *op) bool { return o.Return >= h.low }

// lapse adds the ends of the watchdog's leases: they are not renewed after s.
func (h *holder) lapse(s stamp) {
	for _, o := range h.open {
		length := h.span()
		if h.beside != nil {
			length += h.beside.span()
		}
		e := h.ending(o, o.Call, s, h.length)
		e.Return = s.plus(length + h.rec.allowance)
		h.pending = append(h.pending, pendingOp{e, length + h.rec.allowance})
	}
	h.open = nil
}

func (h *holder) force(ctx context.Context) {
	o := h.begin(force)
	done, err := h.l.ForceUnlock(ctx)
	o.Return = h.rec.now()
	if err != nil {
		o.Result = unknown
		o.Return = h.rec.late(o.Return)
	} else if o.Result = ok; done {
		o.N = 1
	}
	h.rec.add(o)
	if h.resent(o) {
		o.Result = unknown
		h.rec.add(&op{What: force, Result: unknown, Owner: h.owner, Key: h.key, Mode: h.mode,
			Call: o.Call, Return: o.Return})
	}
}

func (h *holder) count(ctx context.Context) {
	o := h.begin(count)
	var err error
	if o.N, err = h.l.HoldCount(ctx); err == nil {
		h.rec.add(o)
	}
}

func (h *holder) locked(ctx context.Context) {
	o := h.begin(locked)
	if yes, err := h.l.IsLocked(ctx); err == nil {
		if yes {
			o.N = 1
		}
		h.rec.add(o)
	}
}
