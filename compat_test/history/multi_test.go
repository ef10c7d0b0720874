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

// multiActor is a worker with a lock of three parts. As other owners it also locks
// each part alone.
type multiActor struct {
	rec    *recorder
	l      *rlock.MultiLock
	parts  []*holder // of the multi-lock
	single []*lockActor
}

func newMultiActor(c *client) *multiActor {
	a := &multiActor{rec: c.w.rec}
	owner, other := a.rec.owner(), a.rec.owner()
	var locks []*rlock.Lock
	for _, key := range []string{":a", ":b", ":c"} {
		part, alone := c.c.Lock(c.w.names+key), c.c.Lock(c.w.names+key)
		locks = append(locks, part)
		of := func(l *rlock.Lock, owner int) *holder {
			h := c.holder(l, owner)
			h.key = key
			return h
		}
		a.parts = append(a.parts, of(part, owner))
		a.single = append(a.single, &lockActor{of(alone, other)})
	}
	a.l = rlock.NewMultiLock(locks...)
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

// take locks all parts, unless they are locked. Locking again would extend the leases
// of the parts, even if it fails.
func (a *multiActor) take(ctx context.Context, wait, lease time.Duration) {
	if a.parts[0].holds > 0 {
		return
	}
	var begun, took []*op
	for _, h := range a.parts {
		o := h.begin(begin)
		o.Return = never
		begun, took = append(begun, o), append(took, h.begin(acquire))
	}
	var err error
	if wait == forever {
		err = a.l.LockLease(ctx, lease)
	} else {
		err = a.l.TryLock(ctx, wait, lease)
	}
	now := a.rec.now()
	for i, h := range a.parts {
		f := &op{ID: a.rec.id(), What: finish, Owner: h.owner, Key: h.key, Call: begun[i].Call,
			Return: now}
		begun[i].Return = now
		if resultOf(err) == unknown || h.c.slow() { // parts are released in the background
			begun[i].Return, f.Return = a.rec.late(now), a.rec.late(now)
			// If the client crashes before that, its parts stay for a lease and a round's
			// partWait.
			after := max(lease, watchdogLease) + 200*time.Millisecond
			h.pending = append(h.pending, pendingOp{f, after}, pendingOp{begun[i], after})
		}
		a.rec.add(begun[i])
		a.rec.add(f)
		if err == nil {
			took[i].Return, took[i].Result = now, ok
			h.taken(took[i], lease)
			a.rec.add(took[i])
		}
	}
}

// give unlocks all parts. After a loss it is unknown which parts were still held.
func (a *multiActor) give(ctx context.Context) {
	var gave []*op
	for _, h := range a.parts {
		gave = append(gave, h.begin(release))
	}
	err := a.l.Unlock(ctx)
	now := a.rec.now()
	result := resultOf(err)
	if result == lost || errors.Is(err, context.Canceled) {
		result = unknown
	}
	for i, h := range a.parts {
		if gave[i].Return, gave[i].Result = now, result; result == notHeld && h.vague {
			continue // no count: an unlock may still be running
		}
		h.given(gave[i], true)
		a.rec.add(gave[i])
	}
}
