package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/rlock"
)

// startServer returns a client of a new server. An application would use its own
// Redis.
func startServer() (rdb *redis.Client, stop func()) {
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		panic(err)
	}
	rdb = redis.NewClient(&redis.Options{Addr: srv.Addr()})
	return rdb, func() { rdb.Close(); srv.Close() }
}

func Example() {
	rdb, stop := startServer()
	defer stop()
	ctx := context.Background()

	c := rlock.New(rdb, rlock.Options{})
	defer c.Close()

	err := c.Lock("orders:42").Do(ctx, func(ctx context.Context) error {
		fmt.Println("shipping order 42")
		return ctx.Err() // ctx is canceled as soon as the lock can no longer be trusted
	})
	fmt.Println(err)
	// Output:
	// shipping order 42
	// <nil>
}

func ExampleLock_TryLock() {
	rdb, stop := startServer()
	defer stop()
	ctx := context.Background()
	c := rlock.New(rdb, rlock.Options{})
	defer c.Close()

	mine, theirs := c.Lock("report"), c.Lock("report") // two owners
	if err := theirs.Lock(ctx); err != nil {
		panic(err)
	}
	err := mine.TryLock(ctx, 10*time.Millisecond, rlock.Watchdog)
	fmt.Println(errors.Is(err, rlock.ErrTimeout))

	theirs.Unlock(ctx)
	fmt.Println(mine.TryLock(ctx, 10*time.Millisecond, rlock.Watchdog))
	mine.Unlock(ctx)
	// Output:
	// true
	// <nil>
}

// A lease given by the caller is not renewed. When it ends, the hold is lost.
func ExampleLock_Lost() {
	rdb, stop := startServer()
	defer stop()
	ctx := context.Background()
	c := rlock.New(rdb, rlock.Options{})
	defer c.Close()

	l := c.Lock("report")
	if err := l.LockLease(ctx, 20*time.Millisecond); err != nil {
		panic(err)
	}
	<-l.Lost()
	err := l.Unlock(ctx)
	fmt.Println(errors.Is(err, rlock.ErrLockLost))
	// Output: true
}

// The parts of a MultiLock may be on different servers.
func ExampleNewMultiLock() {
	rdb, stop := startServer()
	defer stop()
	ctx := context.Background()
	c := rlock.New(rdb, rlock.Options{})
	defer c.Close()

	transfer := rlock.NewMultiLock(c.Lock("account:1"), c.Lock("account:2"))
	err := transfer.Do(ctx, func(context.Context) error {
		fmt.Println(rdb.Exists(ctx, "account:1", "account:2").Val())
		return nil
	})
	fmt.Println(rdb.Exists(ctx, "account:1", "account:2").Val(), err)
	// Output:
	// 2
	// 0 <nil>
}

func ExampleObserver() {
	rdb, stop := startServer()
	defer stop()
	c := rlock.New(rdb, rlock.Options{Observer: rlock.Observer{
		Acquired: func(e rlock.Event) { fmt.Println("acquired", e.Kind, e.Name, e.Waited < time.Minute) },
		Released: func(e rlock.Event) { fmt.Println("released", e.Kind, e.Name, e.Held < time.Minute) },
	}})
	defer c.Close()

	_ = c.Lock("orders:42").Do(context.Background(), func(context.Context) error { return nil })
	// Output:
	// acquired lock orders:42 true
	// released lock orders:42 true
}
