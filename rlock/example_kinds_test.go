package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockredis/lockredis/rlock"
)

// The writer acquires the read lock before it releases the write lock. So no other
// owner can write in between.
func ExampleRWLock() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	price := c.RWLock("price")
	writing, err := price.Write().Acquire(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println("written")
	reading, err := price.Read().Acquire(writing.Context())
	if err != nil {
		panic(err)
	}
	_ = writing.Release(ctx)
	_ = price.Read().Do(ctx, func(context.Context) error {
		fmt.Println("others may read")
		return nil
	})
	_, err = price.Write().Acquire(ctx, rlock.Wait(0))
	fmt.Println("others wait for writing:", errors.Is(err, rlock.ErrTimeout))
	_ = reading.Release(ctx)
	// Output:
	// written
	// others may read
	// others wait for writing: true
}

// A reader that asks for the write lock would wait for itself.
func ExampleRWLock_deadlock() {
	c, end := exampleClient(rlock.Options{})
	defer end()

	price := c.RWLock("price")
	err := price.Read().Do(context.Background(), func(ctx context.Context) error {
		return price.Write().Do(ctx, func(context.Context) error { return nil })
	})
	fmt.Println(errors.Is(err, rlock.ErrDeadlock))
	// Output: true
}

// The store remembers the highest token. It refuses a holder that was paused until
// its lease ended.
func ExampleFencedLock_Do() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()
	highest := int64(0)
	store := func(token int64) {
		if token < highest {
			fmt.Println("refused", token)
			return
		}
		highest = token
		fmt.Println("stored with", token)
	}

	report := c.FencedLock("report")
	var paused int64
	_ = report.Do(ctx, func(_ context.Context, token int64) error {
		paused = token
		return nil
	})
	_ = report.Do(ctx, func(_ context.Context, token int64) error {
		store(token)
		return nil
	})
	store(paused)
	// Output:
	// stored with 2
	// refused 1
}

// A FairLock is used like a Lock. Its waiters acquire it in arrival order.
func ExampleClient_FairLock() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	err := c.FairLock("turn").Do(context.Background(), func(context.Context) error {
		fmt.Println("mine")
		return nil
	})
	fmt.Println(err)
	// Output:
	// mine
	// <nil>
}

// All parts are locked, or none. They may be of several kinds and clients.
func ExampleMulti() {
	rdb, stop := startServer()
	defer stop()
	ctx := context.Background()
	c := rlock.New(rdb, rlock.Options{})
	defer c.Close(ctx)

	transfer := rlock.Multi(c.Lock("account:1"), c.Lock("account:2"))
	err := transfer.Do(ctx, func(context.Context) error {
		fmt.Println(rdb.Exists(ctx, "account:1", "account:2").Val())
		return nil
	})
	fmt.Println(rdb.Exists(ctx, "account:1", "account:2").Val(), err)
	// Output:
	// 2
	// 0 <nil>
}

// Three servers without replication between them. The lock is held while two of them
// have it.
func ExampleQuorum() {
	ctx := context.Background()
	var parts []*rlock.Lock
	for range 3 {
		c, end := exampleClient(rlock.Options{})
		defer end()
		parts = append(parts, c.Lock("payout"))
	}

	err := rlock.Quorum(parts...).Do(ctx, func(context.Context) error {
		fmt.Println("paying")
		return nil
	})
	fmt.Println(err)
	// Output:
	// paying
	// <nil>
}

// At most two run at a time. The permits of a process that dies are lost for ever.
func ExampleSemaphore() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	s := c.Semaphore("exports")
	if _, err := s.TrySetPermits(ctx, 2); err != nil {
		panic(err)
	}
	err := s.Do(ctx, 1, func(ctx context.Context) error {
		free, err := s.Available(ctx)
		fmt.Println("free:", free)
		return err
	})
	fmt.Println(err)
	// Output:
	// free: 1
	// <nil>
}

// The watchdog renews the permits while f runs. After a crash they are free when
// their lease ends.
func ExamplePermitSemaphore_Do() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	s := c.PermitSemaphore("licences")
	if _, err := s.TrySetPermits(ctx, 2); err != nil {
		panic(err)
	}
	err := s.Do(ctx, 2, func(ctx context.Context) error {
		err := s.Do(ctx, 1, func(context.Context) error { return nil }, rlock.Wait(0))
		fmt.Println("a third one:", errors.Is(err, rlock.ErrTimeout))
		return nil
	})
	fmt.Println(err)
	// Output:
	// a third one: true
	// <nil>
}

// A permit may be released by its id in another process.
func ExamplePermitSemaphore_Release() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	s := c.PermitSemaphore("licences")
	if _, err := s.TrySetPermits(ctx, 1); err != nil {
		panic(err)
	}
	h, err := s.Acquire(ctx, 1, rlock.Lease(time.Hour))
	if err != nil {
		panic(err)
	}
	ids := h.IDs() // sent to another process
	fmt.Println(len(ids), s.Release(ctx, ids...))
	fmt.Println(errors.Is(s.Release(ctx, ids...), rlock.ErrNotHeld))
	// Output:
	// 1 <nil>
	// true
}

func ExampleCountDownLatch() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	loaded := c.CountDownLatch("loaded")
	if _, err := loaded.TrySetCount(ctx, 3); err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { _ = loaded.CountDown(ctx) })
	}
	fmt.Println(loaded.Await(ctx, rlock.Wait(time.Minute)))
	wg.Wait()
	// Output: <nil>
}

func ExampleRateLimiter() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	mails := c.RateLimiter("mails")
	_, err := mails.TrySetRate(ctx, rlock.RateConfig{Rate: 2, Interval: time.Hour})
	if err != nil {
		panic(err)
	}
	for range 3 {
		err := mails.Acquire(ctx, 1, rlock.Wait(time.Second))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
	// rlock: not acquired within the wait time
}
