package history

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

func multiKind() kind {
	w := lockWeights()
	w[doSingly], w[doGiveOne] = 8, 8
	w[doForce], w[doCount], w[doLocked] = 1, 1, 1
	return kind{
		name: "multi", model: lockModel(), weights: w,
		actor: func(c *client) actor { return newMultiActor(c) },
		probe: func(c *client) {
			a := newMultiActor(c)
			a.take(context.Background(), 0, watchdogLease)
			a.give(context.Background())
		},
		sabotages: map[string]sabotage{
			"deletes a part": func(ctx context.Context, rdb *redis.Client,
				name string) {
				rdb.Del(ctx, name+":b")
			},
		},
	}
}

// multiActor is a worker with a lock of three parts. It also locks each part alone, with
// other owners.
type multiActor struct {
	c      *client
	l      *rlock.MultiLock
	keys   []string
	single []*lockActor

	hold  *rlock.Hold // nil: not held
	parts []*grant
}

func newMultiActor(c *client) *multiActor {
	a := &multiActor{c: c, keys: []string{":a", ":b", ":c"}}
	var locks []*rlock.Lock
	for _, key := range a.keys {
		part := c.c.Lock(c.w.names + key)
		locks = append(locks, part)
		h := c.holder(locker{part, nil})
		h.key = key
		a.single = append(a.single, &lockActor{h})
	}
	a.l = rlock.Multi(locks...)
	return a
}

func (a *multiActor) do(s step) {
	ctx := context.Background()
	one := a.single[(s.n+int(s.lease))%3]
	switch s.do {
	case doTake:
		a.take(ctx, s.wait, s.lease)
	case doGiveUp:
		ctx, cancel := context.WithTimeout(ctx, s.pause)
		defer cancel()
		a.take(ctx, forever, s.lease)
	case doGive:
		a.give(ctx)
	case doBlind:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		a.give(ctx)
	case doSingly:
		s.do = doTake
		one.do(s)
	case doGiveOne:
		s.do = doGive
		one.do(s)
	default:
		one.do(s)
	}
}

// take locks all parts, unless they are locked.
func (a *multiActor) take(ctx context.Context, wait, lease time.Duration) {
	if a.hold != nil {
		return
	}
	rec, owner := a.c.w.rec, a.c.w.rec.owner()
	var begun, took []*op
	for _, key := range a.keys {
		o := rec.begin(op{What: begin, Owner: owner, Key: key})
		begun = append(begun, o)
		took = append(took, rec.begin(op{What: acquire, Owner: owner, Key: key}))
	}
	hold, err := a.l.Acquire(ctx, options(wait, lease)...)
	now := rec.now()
	a.hold, a.parts = hold, nil
	for i, key := range a.keys {
		f := &op{ID: rec.id(), What: finish, Owner: owner, Key: key, Call: begun[i].Call, Return: now}
		begun[i].Return = now
		if resultOf(err) == unknown || a.c.slow() { // parts are released in the background
			begun[i].Return, f.Return = rec.late(now), rec.late(now)
			// If the client crashes before that, its parts stay for a lease and a round.
			after := watchdogLease
			if lease > 0 {
				after = lease + time.Duration(len(a.keys))*partWait
			}
			a.c.may(f, now, after)
			a.c.may(begun[i], now, after)
		}
		rec.add(begun[i])
		rec.add(f)
		if err == nil {
			g := a.c.grant(owner, key, whole)
			if g.watched, g.length = lease == 0, lease; g.watched {
				g.length = watchdogLease
			}
			took[i].Return, took[i].Result = now, ok
			g.leased(took[i])
			rec.add(took[i])
			a.parts = append(a.parts, g)
		}
	}
}

// partWait is the longest time for each part in a round of a MultiLock.
const partWait = 1500 * time.Millisecond

// give releases all parts. After a loss it is unknown which parts were still held.
func (a *multiActor) give(ctx context.Context) {
	if a.hold == nil {
		return
	}
	rec := a.c.w.rec
	var gave []*op
	for _, g := range a.parts {
		gave = append(gave, rec.begin(op{What: release, Owner: g.owner, Key: g.key}))
	}
	err := a.hold.Release(ctx)
	now := rec.now()
	result := resultOf(err)
	if result == lost || errors.Is(err, context.Canceled) {
		result = unknown
	}
	for i, g := range a.parts {
		gave[i].Return, gave[i].Result = now, result
		g.given(gave[i])
		rec.add(gave[i])
	}
	a.hold = nil
}
