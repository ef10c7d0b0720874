package history

import (
	"context"
	"errors"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// holder is a worker with one lock, or with one half of a read-write lock.
type holder struct {
	c    *client
	rec  *recorder
	l    locker
	key  string
	mode mode
	asks bool  // the lock has a queue
	nest *nest // the worker's holds

	last *grant // the last grant to this holder; nil: none yet
}

// nest has the holds of a worker that are not released, the innermost last. The next
// acquisition descends from the innermost, also if that is lost.
type nest struct{ holds []entry }

// entry is one hold, and the grant that it entered.
type entry struct {
	h     *rlock.Hold
	token int64
	g     *grant
}

// grant is what the server granted to one owner, and what is known about its lease.
type grant struct {
	c     *client
	rec   *recorder
	owner int
	id    string // the owner's name in Redis
	key   string
	mode  mode

	entered int // holds that are not released

	watched bool
	renewed bool          // the watchdog may have renewed the lease
	length  time.Duration // of the lease
	low     stamp         // the client cannot have given the lease up before this
	open    []*op         // operations that set a watchdog's lease without an end yet
	ends    []*op         // ends that may have an effect, not yet in the history
	reach   *stamp        // how long the server may keep the owner's holds; nil: as the ends say
}

// pendingOp is an operation that may happen until some time after its call ended at
// from.
type pendingOp struct {
	o     *op
	from  stamp
	after time.Duration
}

// attempt is one acquisition. Observers fill it in.
type attempt struct {
	owner     string // the owner's name in Redis; "": no request was sent
	contended stamp  // when the wait began; 0: it did not
}

// attemptKey is the key of the context value with the attempt.
type attemptKey struct{}

// inside is a context that descends from a hold without ending with it.
type inside struct {
	context.Context
	hold context.Context
}

func (x inside) Value(key any) any {
	if v := x.Context.Value(key); v != nil {
		return v
	}
	return x.hold.Value(key)
}

func (c *client) holder(l locker) *holder { return &holder{c: c, rec: c.w.rec, l: l, nest: &nest{}} }

// begin begins an operation of the holder's last owner.
func (h *holder) begin(what verb) *op {
	o := op{What: what, Key: h.key, Mode: h.mode}
	if h.last != nil {
		o.Owner = h.last.owner
	}
	return h.rec.begin(o)
}

// grant returns a new grant. The client settles it.
func (c *client) grant(owner int, key string, m mode) *grant {
	g := &grant{c: c, rec: c.w.rec, owner: owner, key: key, mode: m, low: never}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants = append(c.grants, g)
	return g
}

// may adds an operation that may happen until some time after its call ended at from.
func (c *client) may(o *op, from stamp, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, pendingOp{o, from, after})
}

// options returns the options of an acquisition: no wait limit for forever, and the
// watchdog's lease for 0.
func options(wait, lease time.Duration) (list []rlock.Option) {
	if wait != forever {
		list = append(list, rlock.Wait(wait))
	}
	if lease != 0 {
		list = append(list, rlock.Lease(lease))
	}
	return list
}

// take acquires the lock. With wait forever it waits until ctx ends.
func (h *holder) take(ctx context.Context, wait, lease time.Duration) {
	o := h.rec.begin(op{What: acquire, Key: h.key, Mode: h.mode})
	if e := h.innermost(); e != nil {
		ctx = inside{ctx, e.h.Context()}
	}
	trust := map[*grant]time.Time{}
	for _, e := range h.nest.holds {
		trust[e.g] = e.h.Until()
	}
	a := &attempt{}
	hold, token, err := h.l.Acquire(context.WithValue(ctx, attemptKey{}, a), options(wait, lease)...)
	o.Return = h.rec.now()
	if a.owner == "" {
		if errors.Is(err, rlock.ErrDeadlock) {
			return // nothing was sent
		}
		h.enter(o, hold, token, err, lease, trust)
		return
	}
	o.Owner, o.Token = h.c.owner(a.owner), token
	o.Result = resultOf(err)
	if o.Result == lost || o.Result == refused && wait != 0 && h.c.slow() {
		o.Result = unknown // granted too late, or the last try may still be running
	}
	if h.resent(o) {
		h.addFirstSend(o, lease)
	}
	gaveUp := h.gaveUp(ctx, o.Call, wait, err)
	if h.asks && wait != 0 {
		h.queued(o, a, gaveUp)
	}
	h.granted(o, a.owner, lease, gaveUp)
	if o.Result == ok {
		h.nest.holds = append(h.nest.holds, entry{hold, token, h.last})
	}
	if o.Of == 0 || o.Result != refused {
		h.rec.add(o)
	}
}

// innermost returns the innermost hold of the worker, or nil.
func (h *holder) innermost() *entry {
	if n := len(h.nest.holds); n > 0 {
		return &h.nest.holds[n-1]
	}
	return nil
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

// granted records the result of an acquisition that sent requests.
func (h *holder) granted(o *op, id string, lease time.Duration, gaveUp stamp) {
	if o.Result != ok && o.Result != unknown {
		return
	}
	g := h.c.grant(o.Owner, h.key, h.mode)
	g.id, g.watched, g.length = id, lease == 0, lease
	if g.watched {
		g.length = watchdogLease
	}
	if h.mode != whole {
		g.reach = h.c.reach(o.Owner)
	}
	if o.Result == ok {
		h.last, g.entered = g, 1
		g.leased(o)
		return
	}
	from := o.Return
	o.Return = h.rec.late(from)
	back := &op{What: undo, Owner: o.Owner, Key: h.key, Mode: h.mode, Of: o.ID,
		Call: max(o.Call, gaveUp), Return: o.Return}
	h.c.undoes(back)
	end := g.ending(o, o.Call, o.Return)
	h.c.may(o, from, 0)
	h.c.may(back, from, 0)
	h.c.may(end, from, g.length+h.rec.allowance)
}

// enter records an acquisition that re-entered a hold: no request was sent, except for
// a new lease. trust says until when each grant was trusted before.
func (h *holder) enter(
	o *op, hold *rlock.Hold, token int64, err error, lease time.Duration,
	trust map[*grant]time.Time,
) {
	if err != nil {
		if g := h.last; g != nil && g.entered > 0 && lease != 0 && !g.watched {
			g.extended(o, lease, unknown)
		}
		return
	}
	var g *grant
	for _, e := range h.nest.holds {
		if e.g.mode == h.mode && e.g.id == hold.Owner() {
			g = e.g
		}
	}
	if g == nil {
		o.Result = ok // no model allows a hold that was not granted
		h.rec.add(o)
		return
	}
	o.What, o.Owner, o.Token, o.Result = enter, g.owner, token, ok
	h.rec.add(o)
	g.entered++
	h.last = g
	h.nest.holds = append(h.nest.holds, entry{hold, token, g})
	switch {
	case g.watched:
	case lease == 0:
		g.watch(o)
	case !hold.Until().Equal(trust[g]):
		g.extended(o, lease, ok)
	}
}

// resent reports whether o may have been sent twice. The second copy may follow at once.
func (h *holder) resent(o *op) bool { return o.Result != unknown && h.c.slow() }

// addFirstSend records that the first send of o, which was sent twice, may have taken
// effect. The effect had ended when the second send ran.
func (h *holder) addFirstSend(o *op, lease time.Duration) {
	if lease == 0 {
		lease = watchdogLease
	}
	first := &op{ID: h.rec.id(), What: acquire, Result: unknown, Owner: o.Owner, Key: h.key,
		Mode: h.mode, Call: o.Call, Return: o.Return}
	h.rec.add(first)
	h.rec.add(&op{What: undo, Optional: true, Owner: o.Owner, Key: h.key, Mode: h.mode,
		Of: first.ID, Call: o.Call, Return: o.Return})
	g := h.c.grant(o.Owner, h.key, h.mode)
	g.length = lease
	g.ending(first, o.Call, o.Return)
}

// ending returns the end of a lease that o set.
func (g *grant) ending(o *op, from, until stamp) *op {
	e := &op{
		ID: g.rec.id(), What: end, Owner: g.owner, Key: g.key, Mode: g.mode, Of: o.ID,
		Call:   from.plus(g.length - g.rec.allowance),
		Return: until.plus(g.length + g.rec.allowance),
	}
	g.ends = append(g.ends, e)
	return e
}

// trusted is how long a client trusts a lease: see Hold.Until.
func trusted(length time.Duration) time.Duration {
	return length - min(max(length/100, 5*time.Millisecond), length/2)
}

// leased records that o set the lease.
func (g *grant) leased(o *op) {
	g.supersede(o)
	g.reaches(o.Return)
	over := o.Call.plus(trusted(g.length) - g.rec.allowance)
	if g.watched {
		g.renewed = true
		g.open = append(g.open, o)
		if g.low = never; g.c.w.addr != "" || over <= o.Return {
			g.low = over // a watchdog may be late, or the reply was
		}
		return
	}
	e := g.ending(o, o.Call, o.Return)
	if g.renewed { // a renewal may be under way
		e.Return = max(e.Return, o.Return.plus(watchdogLease+g.rec.allowance))
	}
	g.low = over
	if g.mode != whole { // a lost hold whose owner has the other half is given back at once
		g.rec.add(&op{What: drop, Optional: true, Owner: g.owner, Key: g.key, Mode: g.mode,
			Of: o.ID, Call: over, Return: e.Return})
	}
}

// reaches records that a lease may have been set until s.
func (g *grant) reaches(s stamp) {
	if g.reach != nil {
		*g.reach = max(*g.reach, s.plus(g.length+g.rec.allowance))
	}
}

// extended records a new lease without renewals. o is the call that sets it.
func (g *grant) extended(o *op, lease time.Duration, r result) {
	g.low = min(g.low, o.Call.plus(trusted(lease)-g.rec.allowance)) // until the reply
	set := &op{ID: g.rec.id(), What: update, Owner: g.owner, Key: g.key, Mode: g.mode, Result: r,
		Call: o.Call, Return: o.Return, Lax: r != ok && o.Return >= g.low}
	g.rec.add(set)
	switch {
	case r == ok:
		g.length, g.watched = lease, false
		g.leased(set)
	case r == unknown || set.Lax: // the lease has either end, and the client trusts the earlier one
		from := set.Return
		set.Return = g.rec.late(from)
		g.c.may(set, from, 0)
		g.lapse(set.Return)
		g.length, g.watched = max(lease, g.length), false
		e := g.ending(set, set.Call, set.Return)
		e.Call = set.Call.plus(lease - g.rec.allowance)
		if g.renewed {
			e.Return = max(e.Return, set.Return.plus(watchdogLease+g.rec.allowance))
		}
	}
}

// watch records that the watchdog renews the lease from o on. Until its first renewal
// the lease may end.
func (g *grant) watch(o *op) {
	set := &op{ID: g.rec.id(), What: renew, Owner: g.owner, Key: g.key, Mode: g.mode,
		Optional: true, Call: o.Call, Return: g.rec.late(o.Return)}
	g.rec.add(set)
	g.watched, g.renewed, g.length = true, true, max(g.length, watchdogLease)
	g.open = append(g.open, set)
}

// supersede leaves out the ends without an effect: o is known to have happened before
// them, and released the lock or set another lease.
func (g *grant) supersede(o *op) {
	g.open = nil
	kept := g.ends[:0]
	for _, e := range g.ends {
		if e.Call <= o.Return {
			kept = append(kept, e)
		}
	}
	g.ends = kept
}

// extend makes the lease of the innermost hold end after d.
func (h *holder) extend(ctx context.Context, d time.Duration) {
	e := h.innermost()
	if e == nil || d == 0 {
		return
	}
	o := h.rec.begin(op{What: update, Owner: e.g.owner})
	err := e.h.Extend(ctx, d)
	o.Return = h.rec.now()
	e.g.extended(o, d, resultOf(err))
}

// give releases the innermost hold of the lock.
func (h *holder) give(ctx context.Context) {
	for i := len(h.nest.holds) - 1; i >= 0; i-- {
		if e := h.nest.holds[i]; e.g.mode == h.mode {
			h.nest.holds = append(h.nest.holds[:i:i], h.nest.holds[i+1:]...)
			h.last = e.g
			h.release(ctx, e)
			return
		}
	}
}

func (h *holder) release(ctx context.Context, e entry) {
	o := h.begin(release)
	err := e.h.Release(ctx)
	o.Return, o.Result = h.rec.now(), resultOf(err)
	if e.g.entered--; e.g.entered > 0 {
		o.What, o.Lax = exit, o.Return >= e.g.low
		if o.Result != unknown {
			h.rec.add(o)
		}
		return
	}
	e.g.given(o)
	h.rec.add(o)
}

// given records the result of a release.
func (g *grant) given(o *op) {
	o.Lax = o.Result != ok && o.Return >= g.low
	from := o.Return
	if g.renewed {
		g.reaches(from)
	}
	switch o.Result {
	case ok:
		g.supersede(o)
	case unknown:
		o.Return = g.rec.late(from)
		g.c.may(o, from, 0)
		g.lapse(o.Return)
	case lost: // the client releases it in the background, if the server has it still
		d := &op{What: drop, Owner: g.owner, Key: g.key, Mode: g.mode, Call: o.Call,
			Return: g.rec.late(from)}
		if g.mode != whole { // if its owner has the other half, that begins with the loss
			d.Call = min(d.Call, g.low)
		}
		g.rec.add(d)
		g.c.may(d, from, 0)
		g.lapse(d.Return)
	}
}

// lapse adds the ends of the watchdog's leases: they are not renewed after s.
func (g *grant) lapse(s stamp) {
	for _, o := range g.open {
		e := g.ending(o, o.Call, s)
		g.c.may(e, s, g.length+g.rec.allowance)
	}
	g.open = nil
}

func (h *holder) force(ctx context.Context) {
	o := h.begin(force)
	done, err := h.l.ForceUnlock(ctx)
	from := h.rec.now()
	o.Return = from
	if err != nil {
		o.Result = unknown
		o.Return = h.rec.late(from)
		h.c.may(o, from, 0)
	} else if o.Result = ok; done {
		o.N = 1
	}
	h.rec.add(o)
}

func (h *holder) count(ctx context.Context) {
	if h.last == nil {
		return
	}
	o := h.begin(count)
	var err error
	if o.N, err = h.l.HoldCount(ctx, h.last.id); err == nil {
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
