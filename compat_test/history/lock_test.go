package history

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// locker is the interface that all locks have.
type locker interface {
	Lock(context.Context) error
	LockLease(context.Context, time.Duration) error
	TryLock(ctx context.Context, wait, lease time.Duration) error
	Unlock(context.Context) error
	ForceUnlock(context.Context) (bool, error)
	HoldCount(context.Context) (int, error)
	IsLocked(context.Context) (bool, error)
	Lost() <-chan struct{}
	Owner() string
}

// fencedLocker is a lock with tokens.
type fencedLocker struct {
	locker
	fenced *rlock.Lock
}

// lockKind returns a kind with the model lockModel.
func lockKind(name string, of func(*rlock.Client, string) locker) kind {
	return kind{
		name: name, model: lockModel(), weights: lockWeights(),
		actor: func(c *client) actor { return &lockActor{c.holder(of(c.c, c.w.names), c.w.rec.owner())} },
		probe: func(c *client) {
			h := c.holder(of(c.c, c.w.names), c.w.rec.owner())
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
	case doForce:
		a.h.force(ctx)
	case doCount:
		a.h.count(ctx)
	case doLocked:
		a.h.locked(ctx)
	}
}

const forever time.Duration = -1
