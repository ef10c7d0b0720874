package rlock_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/rlock"
)

// exampleClient returns a client of a new server. An application would use its own
// Redis.
func exampleClient() (*rlock.Client, func()) {
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		panic(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr()})
	c := rlock.New(rdb, rlock.Options{})
	return c, func() { c.Close(); rdb.Close(); srv.Close() }
}

// The writer acquires the read lock before it releases the write lock. So no other
// process can write in between.
func ExampleRWLock() {
	c, end := exampleClient()
	defer end()
	ctx := context.Background()

	price := c.RWLock("price")
	if err := price.Write().Lock(ctx); err != nil {
		panic(err)
	}
	fmt.Println("written")
	if err := price.Read().Lock(ctx); err != nil {
		panic(err)
	}
	if err := price.Write().Unlock(ctx); err != nil {
		panic(err)
	}
	fmt.Println("others may read now, but not write")
	if err := price.Read().Unlock(ctx); err != nil {
		panic(err)
	}
	// Output:
	// written
	// others may read now, but not write
}

// The store remembers the highest token. It refuses a holder that was paused until
// its lease ended.
func ExampleClient_FencedLock() {
	c, end := exampleClient()
	defer end()
	highest := int64(0)
	store := func(token int64) {
		if token < highest {
			fmt.Println("refused", token)
			return
		}
		highest = token
		fmt.Println("stored with", token)
	}

	var paused int64
	for range 2 {
		l := c.FencedLock("report")
		err := l.Do(context.Background(), func(context.Context) error {
			if paused == 0 {
				paused = l.Token()
				return nil
			}
			store(l.Token())
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	store(paused)
	// Output:
	// stored with 2
	// refused 1
}

// A FairLock is used like a Lock. Its waiters acquire it in arrival order.
func ExampleClient_FairLock() {
	c, end := exampleClient()
	defer end()
	turn := c.FairLock("turn")
	err := turn.Do(context.Background(), func(context.Context) error {
		fmt.Println("mine")
		return nil
	})
	fmt.Println(err)
	// Output:
	// mine
	// <nil>
}
