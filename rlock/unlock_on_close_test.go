package rlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestUnlockOnCloseWaitsForTheFunctionsOfDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx := t.Context()
		var released, lost atomic.Int32
		c := rlock.New(srv.Client(), rlock.Options{UnlockOnClose: true, Observer: rlock.Observer{
			Released: func(context.Context, rlock.Event) { released.Add(1) },
			Lost:     func(context.Context, rlock.Event) { lost.Add(1) },
		}})
		var working atomic.Bool
		done := make(chan error, 1)
		go func() {
			done <- c.Do(ctx, "l", func(ctx context.Context) error {
				working.Store(true)
				defer working.Store(false)
				<-ctx.Done()
				if cause := context.Cause(ctx); !errors.Is(cause, rlock.ErrClosed) {
					t.Errorf("the context ended because of %v", cause)
				}
				time.Sleep(40 * time.Second) // longer than the lease: it is renewed until here
				return nil
			})
		}()
		held, err := c.Lock("long").Acquire(ctx)
		must(t, err)
		synctest.Wait()
		other := rlock.New(srv.Client(), rlock.Options{})
		defer other.Close(ctx)
		closing, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		closed := make(chan error, 1)
		go func() { closed <- c.Close(closing) }()
		must(t, other.Do(ctx, "long", func(context.Context) error { return nil }))
		must(t, other.Do(ctx, "l", func(context.Context) error {
			if working.Load() {
				t.Error("two holders at once")
			}
			return nil
		}))
		must(t, <-done)
		must(t, <-closed)
		if held.Context().Err() == nil {
			t.Error("the context of a released hold lives")
		}
		if released.Load() != 2 || lost.Load() != 0 {
			t.Errorf("%d released, %d lost", released.Load(), lost.Load())
		}
	})
}

func TestCloseGivesUpOnADoThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := lockredistest.RunT(t, lockredistest.AllowLeaks())
		c := rlock.New(srv.Client(), rlock.Options{UnlockOnClose: true})
		end := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- c.Do(t.Context(), "l", func(context.Context) error { <-end; return nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		mustBe(t, context.DeadlineExceeded, c.Close(ctx))
		close(end)
		mustBe(t, rlock.ErrLockLost, <-done)
	})
}
