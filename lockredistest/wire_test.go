package lockredistest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

type releaser interface {
	Release(context.Context) error
}

// A waiter sleeps until the lease is over by its own clock. It acquires the lock within the 20 s that it
// waits only if it is woken.
func TestAClientOfTheServerEndsLeasesAndWakesTheWaiters(t *testing.T) {
	const lease = 600_000
	wait := rlock.Wait(20 * time.Second)
	for _, row := range []struct {
		kind, owner, mode string
		acquire           func(context.Context, *rlock.Client) (releaser, error)
	}{
		{"plain", alice, "", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.Lock("x").Acquire(ctx, wait)
		}},
		{"fair", alice, "", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.FairLock("x").Acquire(ctx, wait)
		}},
		{"fenced", alice, "", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.FencedLock("x").Acquire(ctx, wait)
		}},
		{"read", alice + ":write", "write", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.RWLock("x").Read().Acquire(ctx, wait)
		}},
		{"write", alice, "read", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.RWLock("x").Write().Acquire(ctx, wait)
		}},
	} {
		for _, line := range [][]any{{"CLOCK.ADVANCE", lease}, {"LOCK.END", "x", alice}} {
			t.Run(row.kind+" "+line[0].(string), func(t *testing.T) {
				rdb := lockredistest.RunT(t, lockredistest.Directive("enable-lock-commands", "yes")).Client()
				run(t, rdb, lock, []string{"x"}, lease, row.owner, row.mode)
				locks := rlock.New(rdb, rlock.Options{})
				acquired := make(chan error, 1)
				go func() {
					hold, err := row.acquire(t.Context(), locks)
					if err == nil {
						err = hold.Release(t.Context())
					}
					acquired <- err
				}()
				for _, line := range [][]any{{"LOCK.AWAIT", "x", "WAITERS", 1}, line} {
					if err := rdb.Do(t.Context(), line...).Err(); err != nil {
						t.Fatal(line, err)
					}
				}
				if err := <-acquired; err != nil {
					t.Fatal(err)
				}
				if err := rdb.Do(t.Context(), "LOCK.AWAIT", "x", "FREE").Err(); err != nil {
					t.Fatal(err)
				}
				locks.Close(t.Context())
			})
		}
	}
}

func TestAClientOfTheServerEndsAPermit(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.Directive("enable-lock-commands", "yes"))
	rdb := srv.Client()
	locks := rlock.New(rdb, rlock.Options{})
	permits := locks.PermitSemaphore("x")
	if _, err := permits.TrySetPermits(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	run(t, rdb, takeAPermit, permitKeys("x"), time.Now().Add(time.Hour).UnixMilli())
	acquired := make(chan error, 1)
	go func() {
		hold, err := permits.Acquire(t.Context(), 1, rlock.Wait(20*time.Second))
		if err == nil {
			err = hold.Release(t.Context())
		}
		acquired <- err
	}()
	for _, line := range [][]any{{"LOCK.AWAIT", "x", "WAITERS", 1}, {"LOCK.END", "x"}} {
		if err := rdb.Do(t.Context(), line...).Err(); err != nil {
			t.Fatal(line, err)
		}
	}
	if err := <-acquired; err != nil {
		t.Fatal(err)
	}
	locks.Close(t.Context())
}

var takeAPermit = redis.NewScript(`
redis.call('zadd', KEYS[2], ARGV[1], '0123456789abcdef')
redis.call('decr', KEYS[1])
return KEYS[3]`)

// A server with a manual clock takes the commands, too, and its own Advance goes on from there.
func TestAClientTurnsAManualClock(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.ManualClock(), lockredistest.Directive("enable-lock-commands", "yes"))
	rdb, start := srv.Client(), srv.Now()
	if err := rdb.Do(t.Context(), "CLOCK.ADVANCE", 1500).Err(); err != nil {
		t.Fatal(err)
	}
	srv.Advance(500 * time.Millisecond)
	if d := srv.Now().Sub(start); d != 2*time.Second {
		t.Fatalf("moved by %v", d)
	}
}
