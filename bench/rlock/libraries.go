package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/lockredis/lockredis/rlock"
)

// library is a lock library with its settings.
type library struct {
	name  string
	waits string        // how a caller waits
	polls time.Duration // mean pause between polls; 0 when the server notifies the waiters
	alike bool          // differs from the previous library only in how a caller waits
	floor bool          // not a library but rlock's commands alone; it cannot wait
	open  func(addr string) (client, error)
}

// client is a library's client in one process.
type client struct {
	// lock waits for the named lock and returns the function that releases it.
	lock  func(ctx context.Context, name string) (unlock func(context.Context) error, err error)
	close func()
}

// lease is the lease of all locks, in all libraries.
const lease = 30 * time.Second

// libraries returns the libraries to compare. rlock is the first.
func libraries() []library {
	const slow, fast = 100 * time.Millisecond, 10 * time.Millisecond
	fastRedsync := openRedsync(redsync.WithRetryDelay(fast), redsync.WithTries(1000))
	oneKey := openRueidislock(rueidislock.LockerOption{KeyMajority: 1, NoLoopTracking: true})
	return []library{
		{name: "rlock", waits: "notified by pub/sub", open: openRlock},
		{name: "bsm/redislock", waits: "polls every 100 ms, as its example does",
			polls: slow, open: openRedislock(slow)},
		{name: "bsm/redislock, 10 ms", waits: "polls every 10 ms",
			polls: fast, alike: true, open: openRedislock(fast)},
		{name: "redsync", waits: "polls every 50 to 250 ms, its default",
			polls: 150 * time.Millisecond, open: openRedsync()},
		{name: "redsync, 10 ms", waits: "polls every 10 ms",
			polls: fast, alike: true, open: fastRedsync},
		{name: "rueidislock", waits: "notified by client tracking, 2 of 3 keys, its default",
			open: openRueidislock(rueidislock.LockerOption{})},
		{name: "rueidislock, 1 key", waits: "notified by client tracking, KeyMajority 1, NoLoopTracking",
			open: oneKey},
		{name: "rlock's two scripts alone", floor: true, open: openBare},
	}
}

func openRlock(addr string) (client, error) {
	return rlockOn(redis.NewClient(&redis.Options{Addr: addr})), nil
}

// rlockOn returns rlock's client on rdb, which close closes too. No other function uses
// rlock's API.
func rlockOn(rdb redis.UniversalClient) client {
	c := rlock.New(rdb, rlock.Options{Lease: lease})
	return client{
		lock: func(ctx context.Context, name string) (func(context.Context) error, error) {
			h, err := c.Lock(name).Acquire(ctx)
			if err != nil {
				return nil, err
			}
			return h.Release, nil
		},
		close: func() { _ = c.Close(context.Background()); rdb.Close() },
	}
}

func openRedislock(every time.Duration) func(string) (client, error) {
	return func(addr string) (client, error) {
		rdb := redis.NewClient(&redis.Options{Addr: addr})
		c := redislock.New(rdb)
		lock := func(ctx context.Context, name string) (func(context.Context) error, error) {
			for {
				l, err := c.Obtain(ctx, name, lease,
					&redislock.Options{RetryStrategy: redislock.LinearBackoff(every)})
				switch {
				case err == nil:
					return l.Release, nil
				case !errors.Is(err, redislock.ErrNotObtained) && !errors.Is(err, context.DeadlineExceeded) ||
					ctx.Err() != nil:
					return nil, err // otherwise it gives up by itself after the lease
				}
			}
		}
		return client{lock, func() { rdb.Close() }}, nil
	}
}

func openRedsync(options ...redsync.Option) func(string) (client, error) {
	options = append(options, redsync.WithExpiry(lease))
	return func(addr string) (client, error) {
		rdb := redis.NewClient(&redis.Options{Addr: addr})
		rs := redsync.New(goredis.NewPool(rdb))
		lock := func(ctx context.Context, name string) (func(context.Context) error, error) {
			m := rs.NewMutex(name, options...)
			unlock := func(ctx context.Context) error {
				_, err := m.UnlockContext(ctx)
				return err
			}
			for {
				err := m.LockContext(ctx)
				taken := new(redsync.ErrTaken)
				switch {
				case err == nil:
					return unlock, nil
				case !errors.As(err, &taken) && !errors.Is(err, redsync.ErrFailed) || ctx.Err() != nil:
					return nil, err
				}
			}
		}
		return client{lock, func() { rdb.Close() }}, nil
	}
}

func openRueidislock(o rueidislock.LockerOption) func(string) (client, error) {
	return func(addr string) (client, error) {
		o := o
		o.KeyValidity = lease
		o.ClientOption = rueidis.ClientOption{InitAddress: []string{addr}}
		c, err := rueidislock.NewLocker(o)
		if err != nil {
			return client{}, err
		}
		lock := func(ctx context.Context, name string) (func(context.Context) error, error) {
			_, cancel, err := c.WithContext(ctx, name)
			return func(context.Context) error { cancel(); return nil }, err
		}
		return client{lock, c.Close}, nil
	}
}
