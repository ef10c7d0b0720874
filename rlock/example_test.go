package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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

// exampleClient returns a client of a new server.
func exampleClient(o rlock.Options) (*rlock.Client, func()) {
	rdb, stop := startServer()
	c := rlock.New(rdb, o)
	return c, func() { _ = c.Close(context.Background()); stop() }
}

func Example() {
	rdb, stop := startServer()
	defer stop()
	ctx := context.Background()

	c := rlock.New(rdb, rlock.Options{})
	defer c.Close(ctx)

	err := c.Do(ctx, "orders:42", func(ctx context.Context) error {
		fmt.Println("shipping order 42")
		return ctx.Err() // ctx ends as soon as the lock can no longer be trusted
	})
	fmt.Println(err)
	// Output:
	// shipping order 42
	// <nil>
}

// Wait limits the waiting, not the work. With Wait(0) there is a single try.
func ExampleWait() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()
	work := func(context.Context) error {
		fmt.Println("working")
		return nil
	}

	h, err := c.Lock("report").Acquire(ctx) // another owner
	if err != nil {
		panic(err)
	}
	err = c.Do(ctx, "report", work, rlock.Wait(10*time.Millisecond))
	fmt.Println(errors.Is(err, rlock.ErrTimeout))

	_ = h.Release(ctx)
	fmt.Println(c.Do(ctx, "report", work, rlock.Wait(0)))
	// Output:
	// true
	// working
	// <nil>
}

// A call with the context of a hold re-enters it. Every other call is excluded,
// also in the same process.
func ExampleClient_Do() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	book := func(ctx context.Context, text string) error {
		return c.Do(ctx, "account:7", func(context.Context) error {
			fmt.Println(text)
			return nil
		}, rlock.Wait(0))
	}

	err := c.Do(context.Background(), "account:7", func(ctx context.Context) error {
		if err := book(ctx, "booked"); err != nil {
			return err
		}
		err := book(context.Background(), "never printed")
		fmt.Println(errors.Is(err, rlock.ErrTimeout))
		return nil
	})
	fmt.Println(err)
	// Output:
	// booked
	// true
	// <nil>
}

// Acquire is for a hold that another function or another request releases.
func ExampleLock_Acquire() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	h, err := c.Lock("orders:42").Acquire(ctx, rlock.Wait(time.Second))
	if err != nil {
		panic(err) // rlock.ErrTimeout: another owner holds the lock
	}
	fmt.Println("locked until", h.Until().After(time.Now()))
	// Use h.Context() for the work: it ends when the lock is lost.
	if err := h.Release(ctx); err != nil {
		panic(err) // rlock.ErrLockLost: another owner may have worked too
	}
	fmt.Println(h.Context().Err())
	// Output:
	// locked until true
	// context canceled
}

// A lease given by the caller is not renewed. When it ends, the hold is lost.
func ExampleHold_Lost() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	h, err := c.Lock("report").Acquire(ctx, rlock.Lease(20*time.Millisecond))
	if err != nil {
		panic(err)
	}
	<-h.Lost()
	fmt.Println(errors.Is(h.Err(), rlock.ErrLockLost))
	fmt.Println(errors.Is(context.Cause(h.Context()), rlock.ErrLockLost))
	fmt.Println(errors.Is(h.Release(ctx), rlock.ErrLockLost))
	// Output:
	// true
	// true
	// true
}

// Extend gives a hold another lease, for example at each sign of life of a client.
func ExampleHold_Extend() {
	c, end := exampleClient(rlock.Options{})
	defer end()
	ctx := context.Background()

	l := c.Lock("session:9")
	h, err := l.Acquire(ctx, rlock.Lease(time.Minute))
	if err != nil {
		panic(err)
	}
	if err := h.Extend(ctx, time.Hour); err != nil {
		panic(err)
	}
	left, err := l.TTL(ctx)
	fmt.Println(left.Round(time.Minute), err)
	fmt.Println(h.Release(ctx))
	// Output:
	// 1h0m0s <nil>
	// <nil>
}

func ExampleLogTo() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug, // acquisitions and releases; the default shows problems only
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case "time", "owner", "waited", "held": // not the same in every run
				return slog.Attr{}
			}
			return a
		},
	}))
	c, end := exampleClient(rlock.Options{Observer: rlock.LogTo(log)})
	defer end()

	_ = c.Do(context.Background(), "orders:42", func(context.Context) error { return nil })
	// Output:
	// level=DEBUG msg="lock acquired" kind=lock name=orders:42
	// level=DEBUG msg="lock released" kind=lock name=orders:42
}

func ExampleObserver() {
	count := rlock.Observer{
		Acquired: func(_ context.Context, e rlock.Event) {
			fmt.Println("acquired", e.Kind, e.Name, e.Waited < time.Minute)
		},
		Released: func(_ context.Context, e rlock.Event) {
			fmt.Println("released", e.Kind, e.Name, e.Held < time.Minute)
		},
	}
	problems := rlock.LogTo(slog.Default())
	c, end := exampleClient(rlock.Options{Observer: rlock.Observers(count, problems)})
	defer end()

	_ = c.Do(context.Background(), "orders:42", func(context.Context) error { return nil })
	// Output:
	// acquired lock orders:42 true
	// released lock orders:42 true
}

// Shop is code under test. It takes a Doer, which every *rlock.Client is.
type Shop struct{ locks rlock.Doer }

func (s *Shop) Sell(ctx context.Context, item string) error {
	return s.locks.Do(ctx, "items:"+item, func(context.Context) error {
		fmt.Println("sold", item)
		return nil
	}, rlock.Wait(time.Second))
}

// fakeLocks is a Doer for tests: err is the error of each acquisition.
type fakeLocks struct{ err error }

func (l fakeLocks) Do(
	ctx context.Context, _ string, f func(context.Context) error, _ ...rlock.Option,
) error {
	if l.err != nil {
		return l.err
	}
	return f(ctx)
}

// A test of the program needs no server.
func ExampleDoer() {
	free := &Shop{fakeLocks{}}
	fmt.Println(free.Sell(context.Background(), "lamp"))
	busy := &Shop{fakeLocks{rlock.ErrTimeout}}
	fmt.Println(busy.Sell(context.Background(), "lamp"))
	// Output:
	// sold lamp
	// <nil>
	// rlock: not acquired within the wait time
}
