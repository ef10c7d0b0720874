package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// permitsState is the number of free permits, and the acquired permits that come back
// when their lease ends or when they are released by id.
type permitsState struct {
	free int
	out  []permit
	due  []int // acquisitions that are still to be undone
	set  bool
}

// permit is n permits acquired by the operation of. stamp is the operation that set
// their lease, 0 without a lease.
type permit struct{ of, stamp, n int }

func permitsModel() model[permitsState] {
	return model[permitsState]{step: permitsStep, equal: func(a, b permitsState) bool {
		return a.free == b.free && a.set == b.set && slices.Equal(a.out, b.out) &&
			slices.Equal(a.due, b.due)
	}}
}

// find returns the index of the permits of an operation, or of the permits with a
// lease set by it.
func (s permitsState) find(is func(permit) bool) int { return slices.IndexFunc(s.out, is) }

func (s permitsState) plus(n int) permitsState {
	s.free += n
	return s
}

// back returns s after the ith acquired permits were released.
func (s permitsState) back(i int) permitsState {
	s.free += s.out[i].n
	s.out = slices.Delete(slices.Clone(s.out), i, i+1)
	return s
}

func (s permitsState) take(o *op) permitsState {
	s.free -= o.N
	s.out = append(slices.Clone(s.out), permit{o.ID, o.ID, o.N})
	slices.SortFunc(s.out, func(a, b permit) int { return cmp.Compare(a.of, b.of) })
	return s
}

func permitsStep(s permitsState, o *op) []permitsState {
	mine := s.find(func(p permit) bool { return p.of == o.Of })
	switch o.What {
	case acquire:
		return permitsAcquire(s, o)
	case release:
		return permitsRelease(s, o, mine)
	case update:
		return permitsUpdate(s, o, mine)
	case end:
		if i := s.find(func(p permit) bool { return p.stamp == o.Of }); i >= 0 {
			return []permitsState{s.back(i)}
		}
	case undo:
		i := slices.Index(s.due, o.Of)
		if i < 0 {
			return nil // not before the acquisition
		}
		s.due = slices.Delete(slices.Clone(s.due), i, i+1)
		switch {
		case mine >= 0 && o.Optional:
			return []permitsState{s, s.back(mine)}
		case mine >= 0:
			return []permitsState{s.back(mine)}
		}
	case count:
		return when(o.N == s.free, s)
	case add:
		return maybe(o, true, s, s.plus(o.N))
	case set:
		done := s.plus(o.N)
		done.set = true
		if o.Result == refused {
			return when(s.set, s)
		}
		return maybe(o, !s.set, s, done)
	case drain:
		done := s
		done.free = 0
		if o.Result == unknown {
			return []permitsState{s, done}
		}
		return when(o.N == s.free, done)
	}
	return []permitsState{s}
}

// maybe returns done if that is possible. It also, or only, returns s if the outcome
// is unknown.
func maybe[S any](o *op, possible bool, s, done S) []S {
	if o.Result != unknown {
		return when(possible, done)
	}
	if possible {
		return []S{s, done}
	}
	return []S{s}
}

func permitsAcquire(s permitsState, o *op) []permitsState {
	switch o.Result {
	case ok:
		return when(s.free >= o.N, s.take(o))
	case refused:
		return when(s.free < o.N, s)
	}
	s.due = append(slices.Clone(s.due), o.ID)
	slices.Sort(s.due)
	return maybe(o, s.free >= o.N, s, s.take(o))
}

// permitsRelease releases the permits of an operation, or N permits without one.
func permitsRelease(s permitsState, o *op, mine int) []permitsState {
	switch {
	case o.Of == 0:
		return maybe(o, true, s, s.plus(o.N))
	case o.Result == notHeld:
		return when(mine < 0, s)
	case mine < 0:
		return maybe(o, false, s, s)
	}
	return maybe(o, true, s, s.back(mine))
}

func permitsUpdate(s permitsState, o *op, mine int) []permitsState {
	if mine < 0 {
		return when(o.Result != ok, s)
	}
	if o.Result == notHeld {
		return nil
	}
	done := s
	done.out = slices.Clone(s.out)
	done.out[mine].stamp = o.ID
	return maybe(o, true, s, done)
}

// permitter is a worker with permits.
type permitter struct {
	c     *client
	owner int

	acquire func(ctx context.Context, n int, options ...rlock.Option) (*rlock.PermitHold, error)
	release func(ctx context.Context, p taken) error // nil: permits come back when their lease ends
	update  func(ctx context.Context, id string, lease rlock.Option) error
	count   func(context.Context) (int, error)
	add     func(ctx context.Context, n int) error
	drain   func(context.Context) (int, error)

	leased bool          // permits have leases
	lease  time.Duration // of all of them; 0: the step's
	most   int           // permits in one call
	have   []taken
}

// taken is what a worker believes to hold.
type taken struct {
	h   *rlock.PermitHold // nil: permits without ids
	o   *op
	n   int
	low stamp // the client cannot have given the lease up before this
}

func (p *permitter) begin(what verb, n int) *op {
	return p.c.w.rec.begin(op{What: what, Owner: p.owner, N: n})
}

// end records an operation's result. If the result is unknown, the operation may
// happen later.
func (p *permitter) end(o *op, err error) result {
	o.Return = p.c.w.rec.now()
	if o.Result = resultOf(err); o.Result == unknown {
		p.c.may(o, o.Return, 0)
		o.Return = p.c.w.rec.late(o.Return)
	}
	p.c.w.rec.add(o)
	return o.Result
}

func (p *permitter) do(s step) {
	ctx := context.Background()
	n := min(s.n, p.most)
	switch s.do {
	case doTake:
		p.take(ctx, n, s.wait, s.lease)
	case doGiveUp:
		ctx, cancel := context.WithTimeout(ctx, s.pause)
		defer cancel()
		p.take(ctx, n, forever, s.lease)
	case doGive:
		p.give(ctx)
	case doBlind:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		p.give(ctx)
	case doCount:
		o := p.begin(count, 0)
		var err error
		if o.N, err = p.count(ctx); err == nil {
			p.end(o, nil)
		}
	case doAdd:
		o := p.begin(add, s.n)
		p.end(o, p.add(ctx, s.n))
	case doDrain:
		o := p.begin(drain, 0)
		var err error
		o.N, err = p.drain(ctx)
		p.end(o, err)
	case doUpdate:
		p.prolong(ctx, s.lease)
	}
}

func (p *permitter) take(ctx context.Context, n int, wait, lease time.Duration) {
	if lease == 0 {
		lease = 40 * time.Millisecond
	}
	if p.lease > 0 {
		lease = p.lease
	}
	o := p.begin(acquire, n)
	list := options(wait, 0)
	if p.leased && p.lease == 0 {
		list = options(wait, lease)
	}
	h, err := p.acquire(ctx, n, list...)
	from := p.c.w.rec.now()
	switch r := resultOf(err); {
	case r == refused && (wait > 0 && p.c.slow() || p.c.wasCut()), r == lost:
		err = context.DeadlineExceeded // the last try may still be running, or an earlier one was granted
	}
	switch p.end(o, err) {
	case ok:
		if p.leased && p.c.slow() { // it may have been sent twice
			p.addFirstSend(o, lease)
		}
		p.have = append(p.have, taken{h, o, n, o.Call.plus(trusted(lease) - p.c.w.rec.allowance)})
		p.ends(o, o.Return, lease)
	case unknown:
		back := &op{What: undo, Owner: p.owner, Of: o.ID, Call: o.Call, Return: o.Return}
		p.c.may(back, from, 0)
		p.c.undoes(back)
		p.ends(o, from, lease)
	}
}

// addFirstSend records that the first send of o, which was sent twice, may have taken
// effect. The lease had ended when the second send ran.
func (p *permitter) addFirstSend(o *op, lease time.Duration) {
	first := &op{ID: p.c.w.rec.id(), What: acquire, Result: unknown, Owner: p.owner, N: o.N,
		Call: o.Call, Return: o.Return}
	p.c.w.rec.add(first)
	p.c.w.rec.add(&op{What: undo, Optional: true, Owner: p.owner, Of: first.ID, Call: o.Call,
		Return: o.Return})
	p.ends(first, o.Return, lease)
}

// ends records that the lease set by o, whose call ended at from, will end.
func (p *permitter) ends(o *op, from stamp, lease time.Duration) {
	if !p.leased {
		return
	}
	g := p.c.grant(p.owner, "", whole)
	g.length = lease
	e := g.ending(o, o.Call, o.Return)
	if o.Result == unknown {
		p.c.may(e, from, lease+p.c.w.rec.allowance)
	}
}

func (p *permitter) give(ctx context.Context) {
	if p.release == nil || len(p.have) == 0 {
		return
	}
	t := p.have[0]
	p.have = p.have[1:]
	o := p.begin(release, t.n)
	if p.leased {
		o.Of = t.o.ID
	}
	err := p.release(ctx, t)
	if o.Lax = p.c.w.rec.now() >= t.low; errors.Is(err, rlock.ErrLockLost) && o.Lax {
		err = context.DeadlineExceeded // released in the background, if the lease has not ended
	}
	p.end(o, err)
}

// prolong starts the lease of the last permit again.
func (p *permitter) prolong(ctx context.Context, lease time.Duration) {
	if len(p.have) == 0 || p.update == nil {
		return
	}
	t := &p.have[len(p.have)-1]
	if lease == 0 {
		lease = 40 * time.Millisecond
	}
	o := p.begin(update, 0)
	o.Of = t.o.ID
	var err error
	if t.n == 1 { // as another process does
		err = p.update(ctx, t.h.IDs()[0], rlock.Lease(lease))
	} else {
		err = t.h.Extend(ctx, lease)
	}
	from := p.c.w.rec.now()
	switch low := o.Call.plus(trusted(lease) - p.c.w.rec.allowance); {
	case errors.Is(err, rlock.ErrLockLost) && from >= min(t.low, low):
		p.end(o, context.DeadlineExceeded) // no request, or the permits were not held
		p.ends(o, from, lease)
		return
	case t.n > 1 && err == nil:
		t.low = low
	case t.n > 1:
		t.low = min(t.low, low)
	}
	if resultOf(err) == notHeld && p.c.wasCut() {
		// an earlier send may have taken effect, until the lease ends
		err = context.DeadlineExceeded
	}
	if p.end(o, err) != notHeld {
		p.ends(o, from, lease)
	}
}

const permitCount = 3

func (c *client) permitter() *permitter {
	owner := c.w.rec.owner()
	return &permitter{c: c, owner: owner, most: permitCount}
}

// without returns an acquisition of permits without ids.
func without(acquire func(context.Context, int, ...rlock.Option) error) func(
	context.Context, int, ...rlock.Option) (*rlock.PermitHold, error) {
	return func(ctx context.Context, n int, options ...rlock.Option) (*rlock.PermitHold, error) {
		return nil, acquire(ctx, n, options...)
	}
}

// permitsKind returns a kind with the model permitsModel.
func permitsKind(name string, w weights, of func(*client) *permitter, prepare func(*client),
	key string) kind {
	return kind{
		name: name, model: permitsModel(), weights: w,
		actor: func(c *client) actor { return of(c) },
		prepare: func(c *client) {
			p := of(c)
			o := p.begin(set, permitCount)
			prepare(c)
			p.end(o, nil)
		},
		probe: func(c *client) {
			p := of(c)
			o := p.begin(count, 0)
			o.N, _ = p.count(context.Background())
			p.end(o, nil)
		},
		sabotages: map[string]sabotage{
			"adds a permit": func(ctx context.Context, rdb *redis.Client,
				name string) {
				rdb.Incr(ctx, fmt.Sprintf(key, name))
			},
			"takes a permit": func(ctx context.Context, rdb *redis.Client,
				name string) {
				rdb.Decr(ctx, fmt.Sprintf(key, name))
			},
		},
	}
}

func semaphoreKind() kind {
	w := weights{doTake: 10, doGive: 6, doPause: 4, doGiveUp: 2, doBlind: 1, doCount: 2, doAdd: 1,
		doDrain: 1, doCut: 1, doCrash: 1}
	return permitsKind("semaphore", w, func(c *client) *permitter {
		s, p := c.c.Semaphore(c.w.names), c.permitter()
		p.acquire = without(s.Acquire)
		p.release = func(ctx context.Context, t taken) error { return s.Release(ctx, t.n) }
		p.count, p.add, p.drain = s.Available, s.Add, s.Drain
		return p
	}, func(c *client) {
		c.c.Semaphore(c.w.names).TrySetPermits(context.Background(), permitCount)
	}, "%s")
}

func permitKind() kind {
	w := weights{doTake: 10, doGive: 6, doPause: 5, doGiveUp: 2, doBlind: 1, doCount: 2, doAdd: 1,
		doUpdate: 3, doCut: 1, doCrash: 1}
	return permitsKind("permit", w, func(c *client) *permitter {
		s, p := c.c.PermitSemaphore(c.w.names), c.permitter()
		p.leased, p.acquire = true, s.Acquire
		p.release = func(ctx context.Context, t taken) error {
			if t.n == 1 { // as another process does
				return s.Release(ctx, t.h.IDs()...)
			}
			return t.h.Release(ctx)
		}
		p.count, p.add, p.update = s.Available, s.Add, s.SetLease
		return p
	}, func(c *client) {
		c.c.PermitSemaphore(c.w.names).TrySetPermits(context.Background(), permitCount)
	}, "%s")
}

func rateKind() kind {
	w := weights{doTake: 12, doPause: 6, doGiveUp: 2, doCount: 3, doCut: 1, doCrash: 1}
	config := rlock.RateConfig{Type: rlock.Overall, Rate: permitCount, Interval: 25 * time.Millisecond}
	return permitsKind("rate", w, func(c *client) *permitter {
		r, p := c.c.RateLimiter(c.w.names), c.permitter()
		p.leased, p.lease = true, config.Interval
		p.acquire = without(r.Acquire)
		p.count = r.Available
		return p
	}, func(c *client) {
		c.c.RateLimiter(c.w.names).TrySetRate(context.Background(), config)
	}, "{%s}:value")
}
