package rlock_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// TestARequestThatTimesOutAtANearServerIsSentAgainAndCountsOnce uses a server that
// answers fast at first, so that sendNear is used, and then slower than nearTimeout.
func TestARequestThatTimesOutAtANearServerIsSentAgainAndCountsOnce(t *testing.T) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := newClient(t, srv.Client(), rlock.Options{ID: "me"})
		l, s := c.Lock("l"), c.Semaphore("s")
		slowly := func(f func() error) {
			t.Helper()
			eventually(t, "a request is fast", func() bool {
				start := time.Now()
				must(t, try(c.Lock("fast")))
				return time.Since(start) < time.Millisecond // less than nearLatency
			})
			sent := map[string]int{}
			again := make(chan struct{})
			var once sync.Once
			held := srv.HoldRequest(lockredistest.Match{Command: "evalsha", Times: lockredistest.Always,
				If: func(r lockredistest.Request) bool {
					args := strings.Join(r.Args[:len(r.Args)-1], " ") // the last may be the kind of the copy
					if sent[args]++; sent[args] == 2 {
						once.Do(func() { close(again) })
					}
					return true
				}}, 0)
			defer held.Clear()
			done := make(chan error)
			go func() { done <- f() }()
			start := time.Now()
			within(t, "the request is sent again", again)
			if took := time.Since(start); took > time.Second { // go-redis's timeout is 3 s
				t.Errorf("sent again after %v", took)
			}
			held.Clear()
			must(t, <-done)
		}
		var h *rlock.Hold
		slowly(func() (err error) { h, err = l.Acquire(ctx); return err })
		owner := h.Owner()
		counted := func(want int) {
			t.Helper()
			if n, err := l.HoldCount(ctx, owner); n != want || err != nil {
				t.Fatal(n, err)
			}
		}
		counted(1)
		slowly(func() error { return h.Release(ctx) })
		counted(0)
		slowly(func() error { return s.Release(ctx, 3) })
		slowly(func() error { return s.Acquire(ctx, 1) })
		is(t, 2, s.Available)
	})
}
