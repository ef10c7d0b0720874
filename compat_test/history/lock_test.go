package history

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// locker is what all locks have.
type locker struct {
	*rlock.Lock
	fenced *rlock.FencedLock // nil: without tokens
}

// Acquire acquires the lock. The token is 0 if it has none.
func (l locker) Acquire(
	ctx context.Context, options ...rlock.Option,
) (h *rlock.Hold, token int64, err error) {
	if l.fenced == nil {
		h, err = l.Lock.Acquire(ctx, options...)
		return h, 0, err
	}
	f, err := l.fenced.Acquire(ctx, options...)
	if err != nil {
		return nil, 0, err
	}
	return f.Hold, f.Token(), nil
}

// lockKind returns a kind with the model lockModel.
func lockKind(name string, of func(*rlock.Client, string) locker) kind {
	return kind{
		name: name, model: lockModel(), weights: lockWeights(),
		actor: func(c *client) actor { return &lockActor{c.holder(of(c.c, c.w.names))} },
		probe: func(c *client) {
			h := c.holder(of(c.c, c.w.names))
			h.take(context.Background(), 0, watchdogLease)
			h.give(context.Background())
		},
		sabotages: map[string]sabotage{
			"deletes":  func(ctx context.Context, rdb *redis.Client, name string) { rdb.Del(ctx, name) },
			"prolongs": func(ctx context.Context, rdb *redis.Client, name string) { rdb.Persist(ctx, name) },
			"shortens": func(ctx context.Context, rdb *redis.Client,
				name string) {
				rdb.PExpire(ctx, name, 5*time.Millisecond)
			},
		},
	}
}

// lockActor is a worker with one lock.
type lockActor struct{ h *holder }

func (a *lockActor) do(s step) {
	ctx := context.Background()
	switch s.do {
	case doTake:
		a.h.take(ctx, s.wait, s.lease)
	case doGiveUp:
		ctx, cancel := context.WithTimeout(ctx, s.pause)
		defer cancel()
		a.h.take(ctx, forever, s.lease)
	case doGive:
		a.h.give(ctx)
	case doBlind:
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		a.h.give(ctx)
	case doUpdate:
		a.h.extend(ctx, s.lease)
	case doForce:
		a.h.force(ctx)
	case doCount:
		a.h.count(ctx)
	case doLocked:
		a.h.locked(ctx)
	}
}

const forever time.Duration = -1
