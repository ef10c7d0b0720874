package rlock_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestObserversPassesEachEventToAll(t *testing.T) {
	virtually(t, func(t *testing.T) {
		type key struct{}
		var first, second recorder
		var mu sync.Mutex
		seen := map[any]bool{}
		value := func(ctx context.Context, _ rlock.Event) {
			mu.Lock()
			defer mu.Unlock()
			seen[ctx.Value(key{})] = true
		}
		rdb := holding(t).Client()
		c := newClient(t, rdb, rlock.Options{Lease: 300 * time.Millisecond, Observer: rlock.Observers(
			first.observer(), rlock.Observer{}, second.observer(),
			rlock.Observer{Acquired: value, Lost: value, Released: value},
		)})
		ctx := context.WithValue(t.Context(), key{}, "mine")
		l := c.Lock("l")
		h := acquireIn(t, ctx, l)
		mustBe(t, rlock.ErrTimeout, tryIn(ctx, l))
		got := rlocksuite.Begin(ctx, l)
		eventually(t, "a waiter", func() bool { return second.event("contended").Name == "l" })
		release(t, h)
		h = got.Hold(t)
		eventually(t, "a renewal", func() bool { return second.event("renewed").Held > 0 })
		rdb.Del(ctx, "l")
		<-h.Lost()
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
		eventually(t, "a loss", func() bool { return second.event("lost").Err != nil })
		a, b := first.seen(), second.seen()
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) || len(a) < 6 {
			t.Errorf("one observer has %q, the other %q", a, b)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(seen) != 1 || !seen["mine"] {
			t.Errorf("the contexts of the events have the values %v", seen)
		}
	})
}

// lines is a writer that many goroutines use.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *lines) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

func (w *lines) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func TestLogToLogsEventsWithTheirLevels(t *testing.T) {
	virtually(t, func(t *testing.T) {
		var w lines
		log := slog.New(slog.NewTextHandler(&w, &slog.HandlerOptions{Level: slog.LevelDebug}))
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{ID: "me", Lease: 300 * time.Millisecond,
			RetryFor: 300 * time.Millisecond, Observer: rlock.LogTo(log)})
		warm(t, c)
		l := c.Lock("l")
		h := acquire(t, l)
		mustBe(t, rlock.ErrTimeout, try(l))
		release(t, h)
		cut := cutOff(srv, "")
		if err := try(l, rlock.Wait(time.Minute)); err == nil {
			t.Error("acquired without a server")
		}
		cut.Clear()
		h = acquire(t, l)
		cut = cutOff(srv, "")
		<-h.Lost()
		// go-redis tries to connect for longer than the lease, so the renewal fails later.
		eventually(t, "a failed renewal", func() bool {
			return strings.Contains(w.String(),
				`level=WARN msg="lock not renewed" kind=lock name=l owner=me:`)
		})
		cut.Clear()
		mustBe(t, rlock.ErrLockLost, h.Release(t.Context()))
		eventually(t, "the lock is free", func() bool { return !srv.Exists("l") })
		for _, want := range []string{
			`level=DEBUG msg="lock acquired" kind=lock name=l owner=me:`,
			`level=DEBUG msg="lock not acquired in time" kind=lock name=l owner=me:`,
			`level=DEBUG msg="lock released" kind=lock name=l owner=me:`,
			`level=WARN msg="lock not acquired" kind=lock name=l owner=me:`,
			`level=ERROR msg="lock lost" kind=lock name=l owner=me:`,
		} {
			if !strings.Contains(w.String(), want) {
				t.Errorf("not logged: %s\n%s", want, w.String())
			}
		}
	})
}

func TestAReleaseThatWasGivenUpIsObserved(t *testing.T) {
	t.Parallel()
	virtually(t, func(t *testing.T) {
		var w recorder
		srv := lockredistest.RunT(t)
		c := newClient(t, srv.Client(), rlock.Options{Lease: 50 * time.Millisecond,
			RetryFor: 200 * time.Millisecond, Observer: w.observer()})
		warm(t, c)
		h := acquire(t, c.Lock("l"), rlock.Lease(50*time.Millisecond))
		srv.Stop()
		if err := h.Release(t.Context()); err == nil {
			t.Error("released without a server")
		}
		eventually(t, "the release is given up", func() bool {
			e := w.event("gave up")
			return e.Name == "l" && e.Err != nil
		})
	})
}
