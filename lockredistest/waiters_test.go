package lockredistest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// Three goroutines of one client wait for each kind of lock. One gives up, and the others acquire it.
func TestWaitersHasTheGoroutinesThatWait(t *testing.T) {
	wait := rlock.Wait(time.Minute)
	for _, row := range []struct {
		kind, mode lockredistest.Kind
		held, as   string
		acquire    func(context.Context, *rlock.Client) (releaser, error)
	}{
		{lockredistest.Plain, "", alice, "", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.Lock("x").Acquire(ctx, wait)
		}},
		{lockredistest.Fair, "", alice, "", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.FairLock("x").Acquire(ctx, wait)
		}},
		{lockredistest.Fenced, "", alice, "", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.FencedLock("x").Acquire(ctx, wait)
		}},
		{"read-write", lockredistest.Read, alice + ":write", "write", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.RWLock("x").Read().Acquire(ctx, wait)
		}},
		{"read-write", lockredistest.Write, alice, "read", func(ctx context.Context, c *rlock.Client) (releaser, error) {
			return c.RWLock("x").Write().Acquire(ctx, wait)
		}},
	} {
		t.Run(string(row.kind+row.mode), func(t *testing.T) {
			srv := lockredistest.RunT(t, lockredistest.Directive("enable-lock-commands", "yes"))
			rdb := srv.Client()
			run(t, rdb, lock, []string{"x"}, 600_000, row.held, row.as)
			locks := rlock.New(srv.Client(), rlock.Options{})
			await := func(line ...any) {
				t.Helper()
				if err := rdb.Do(t.Context(), append([]any{"LOCK.AWAIT", "x"}, line...)...).Err(); err != nil {
					t.Fatal(err)
				}
			}
			ends := make(chan error, 3)
			giveUp, cancel := context.WithCancel(t.Context())
			defer cancel()
			for _, ctx := range []context.Context{giveUp, t.Context(), t.Context()} {
				go func() {
					hold, err := row.acquire(ctx, locks)
					if err == nil {
						err = hold.Release(t.Context())
					}
					ends <- err
				}()
			}
			await("WAITERS", 3, "TIMEOUT", 20_000)
			waiters := srv.Waiters("x")
			if len(waiters) != 3 {
				t.Fatalf("%+v", waiters)
			}
			for _, w := range waiters {
				if !strings.Contains(w.Owner, ":") || w.Kind != row.kind || w.Mode != row.mode || w.Asks < 2 ||
					!w.Waits || w.Since.IsZero() || w.Client == "" {
					t.Errorf("%+v", w)
				}
			}
			if got := srv.DB(1).Waiters("x"); got != nil {
				t.Errorf("%+v", got)
			}
			cancel()
			if err := <-ends; err == nil {
				t.Fatal("it has acquired the lock")
			}
			// Only a fair lock's owner tells the server that it has given up. A message wakes one writer, all readers.
			probed := row.kind == lockredistest.Fair || row.mode == lockredistest.Read
			for deadline := time.Now().Add(20 * time.Second); probed; {
				rows, err := rdb.Do(t.Context(), "LOCK.WAITERS", "x", "PROBE").Slice()
				if err != nil {
					t.Fatal(err)
				}
				if len(rows) == 2 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal(rows)
				}
			}
			if err := rdb.Do(t.Context(), "LOCK.END", "x").Err(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := <-ends; err != nil {
					t.Error(err)
				}
			}
			await("WAITERS", 0, "TIMEOUT", 20_000)
			locks.Close(t.Context())
		})
	}
}
