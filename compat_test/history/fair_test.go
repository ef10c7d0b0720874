package history

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// fairState is a lock and the asks of its waiters, in order.
type fairState struct {
	lock  lockState
	queue []int
}

func fairModel() model[fairState] {
	return model[fairState]{step: fairStep, equal: func(a, b fairState) bool {
		return a.lock == b.lock && slices.Equal(a.queue, b.queue)
	}}
}

func (s fairState) without(ask int) fairState {
	s.queue = slices.DeleteFunc(slices.Clone(s.queue), func(other int) bool { return other == ask })
	return s
}

func (s fairState) with(ask int) fairState {
	s.queue = append(slices.Clone(s.queue), ask)
	return s
}

// open reports whether any owner may acquire the lock.
func (s fairState) open() bool { return s.lock.owner == 0 && len(s.queue) == 0 }

func fairStep(s fairState, o *op) []fairState {
	switch o.What {
	case ask:
		switch {
		case o.Contended:
			return when(!s.open() && s.lock.owner != o.Owner, s.with(o.ID))
		case o.Result == unknown:
			return []fairState{s, s.with(o.ID)}
		}
		return []fairState{s.with(o.ID)}
	case leave, evict:
		switch {
		case !slices.Contains(s.queue, o.Of):
			return []fairState{s}
		case o.Optional:
			return []fairState{s, s.without(o.Of)}
		}
		return []fairState{s.without(o.Of)}
	case acquire:
		return fairAcquire(s, o)
	}
	var states []fairState
	for _, l := range lockStep(s.lock, o) {
		states = append(states, fairState{l, s.queue})
	}
	return states
}

// fairAcquire applies an acquisition, if it is the owner's turn.
func fairAcquire(s fairState, o *op) []fairState {
	turn := s.lock.owner == o.Owner || s.open() || s.lock.owner == 0 && o.Of != 0 &&
		// removed from the queue, and queued again
		(len(s.queue) > 0 && s.queue[0] == o.Of || !slices.Contains(s.queue, o.Of))
	switch {
	case o.Result == ok && !turn:
		return nil
	case o.Result == refused:
		return when(o.Of != 0 || !s.open() && s.lock.owner != o.Owner, s)
	case o.Result == unknown && !turn:
		s.lock.due |= 1 << o.Owner
		return []fairState{s}
	}
	var states []fairState
	for _, l := range lockAcquire(s.lock, o) {
		next := fairState{l, s.queue}
		if l.stamp == o.ID {
			next = next.without(o.Of)
		}
		states = append(states, next)
	}
	return states
}

func fairKind() kind {
	of := func(c *client) *holder {
		h := c.holder(locker{c.c.FairLock(c.w.names), nil})
		h.asks = true
		return h
	}
	return kind{
		name: "fair", model: fairModel(), weights: lockWeights(),
		actor: func(c *client) actor { return &lockActor{of(c)} },
		probe: func(c *client) {
			h := of(c)
			h.take(context.Background(), 0, watchdogLease)
			h.give(context.Background())
		},
		sabotages: map[string]sabotage{
			"deletes": func(ctx context.Context, rdb *redis.Client, name string) { rdb.Del(ctx, name) },
			"lets the last be first": func(ctx context.Context, rdb *redis.Client, name string) {
				rdb.LMove(ctx, "redisson_lock_queue:{"+name+"}", "redisson_lock_queue:{"+name+"}", "RIGHT",
					"LEFT")
			},
		},
	}
}

// queued adds the queue operations of the acquisition o, which was given up at gaveUp if
// it failed.
func (h *holder) queued(o *op, a *attempt, gaveUp stamp) {
	asked := &op{ID: h.rec.id(), What: ask, Owner: o.Owner, Key: h.key, Call: o.Call,
		Return: o.Return}
	o.Of = asked.ID
	switch {
	case a.contended != 0:
		asked.Contended, asked.Return = true, a.contended
	case o.Result == refused:
		asked.Contended = true
	case o.Result == unknown:
		asked.Result, asked.Return = unknown, h.rec.late(o.Return)
		h.c.may(asked, o.Return, 0)
	}
	h.rec.add(asked)
	e := eviction{&op{ID: h.rec.id(), What: evict, Owner: o.Owner, Of: asked.ID, Optional: true,
		Call: asked.Call}, o}
	if o.Result != ok {
		gone := &op{What: leave, Owner: o.Owner, Of: asked.ID, Call: max(o.Call, gaveUp),
			Return: o.Return}
		if o.Result == unknown {
			gone.Return = h.rec.late(o.Return)
			h.c.may(gone, o.Return, 0)
		}
		h.c.undoes(gone)
		e.until = gone
	}
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	h.c.evictions = append(h.c.evictions, e)
}

// eviction is the removal of an owner from the queue. It may happen while the owner is
// in the queue: until it acquires the lock or leaves.
type eviction struct{ o, until *op }

// mayEvict sets from when waiters may be removed: FairWait after they queued. After a
// cut connection a waiter may be so slow that the time of the waiters behind it also
// runs out.
func (w *world) mayEvict() {
	torn, first := false, never
	for _, c := range w.clients {
		torn = torn || c.wasCut()
		for _, e := range c.evictions {
			first = min(first, e.o.Call)
		}
	}
	for _, c := range w.clients {
		for _, e := range c.evictions {
			if e.o.Return = e.until.Return; e.until.Optional {
				e.o.Return = never
			}
			from := e.o.Call
			if torn {
				from = first
			}
			if e.o.Call = max(e.o.Call, from.plus(fairWait-w.rec.allowance)); e.o.Call < e.o.Return {
				w.rec.add(e.o)
			}
		}
	}
}
