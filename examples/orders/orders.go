package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// ErrShipped tells that an order was shipped before.
var ErrShipped = errors.New("already shipped")

// Orders ships orders, each once, however many processes try.
type Orders struct {
	rdb     redis.UniversalClient
	locks   *rlock.Client
	courier func(ctx context.Context, id string) error // slow, and not to be called twice for an order

	underWay sync.WaitGroup
}

// Ship has an order shipped, unless it was shipped before (ErrShipped).
//
// The lock's name is what the Java service takes too. The work runs with a
// context that ends when the lock is lost, so that it stops before another
// process can begin.
func (o *Orders) Ship(ctx context.Context, id string) error {
	o.underWay.Add(1)
	defer o.underWay.Done()
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

// Wait returns when no order is under way any more.
func (o *Orders) Wait() { o.underWay.Wait() }
