package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// ErrShipped is the error for an order that was shipped before.
var ErrShipped = errors.New("already shipped")

// Orders ships each order once, even when many processes try.
type Orders struct {
	rdb   redis.UniversalClient
	locks *rlock.Client
	// courier ships an order. It is slow, and must run only once for an order.
	courier func(ctx context.Context, id string) error

	inProgress sync.WaitGroup
}

// Ship ships an order. It returns ErrShipped if the order was shipped before.
//
// The Java service uses the same lock name. The work runs with a context that ends
// when the lock is lost, so the work stops before another process can begin.
func (o *Orders) Ship(ctx context.Context, id string) error {
	o.inProgress.Add(1)
	defer o.inProgress.Done()
	return o.locks.Lock("orders:"+id).Do(ctx, func(ctx context.Context) error {
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
	})
}

// Wait waits for the orders in progress.
func (o *Orders) Wait() { o.inProgress.Wait() }
