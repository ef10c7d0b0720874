package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// ErrShipped is the error for an order that was shipped before.
var ErrShipped = errors.New("already shipped")

// patience is how long a request waits for an order that another request works on. It
// does not limit the work itself.
const patience = 5 * time.Second

// Orders ships each order once, even when many processes try.
type Orders struct {
	rdb   redis.UniversalClient
	locks rlock.Doer // a *rlock.Client, or a fake in a test
	// courier ships an order. It is slow, and must run only once for an order.
	courier func(ctx context.Context, id string) error

	inProgress sync.WaitGroup
}

// Ship ships an order. It returns ErrShipped if the order was shipped before, and
// rlock.ErrTimeout if another request works on it for longer than patience.
//
// The Java service uses the same lock name. When the lock is lost, the context of the
// work ends. So the work stops before another process can begin.
func (o *Orders) Ship(ctx context.Context, id string) error {
	o.inProgress.Add(1)
	defer o.inProgress.Done()
	return o.locks.Do(ctx, lockName(id), func(ctx context.Context) error {
		return o.ship(ctx, id)
	}, rlock.Wait(patience))
}

// ship ships an order. The caller holds the order's lock.
func (o *Orders) ship(ctx context.Context, id string) error {
	key := "order:" + id
	status, err := o.rdb.Get(ctx, key).Result()
	switch {
	case err != nil && !errors.Is(err, redis.Nil):
		return fmt.Errorf("order %s: %w", id, err)
	case status == "shipped":
		return ErrShipped
	}
	if err := o.courier(ctx, id); err != nil {
		return fmt.Errorf("order %s: %w", id, err)
	}
	return o.rdb.Set(ctx, key, "shipped", 0).Err()
}

func lockName(id string) string { return "orders:" + id }

// Wait waits for the orders in progress.
func (o *Orders) Wait() { o.inProgress.Wait() }
