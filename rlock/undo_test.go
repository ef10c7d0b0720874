package rlock_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// leaveTogether lets the callers of the locks with the given names leave 20 ms after they sent their
// requests.
func leaveTogether(t *testing.T, c *rlock.Client, names ...string) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() { mustBe(t, context.Canceled, tryIn(ctx, c.Lock(name))) })
	}
	time.Sleep(20 * time.Millisecond)
	cancel()
	wg.Wait()
}

// numbered returns n names that begin with prefix.
func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// locksOf returns the keys of locks with a name as of numbered("l", n).
func locksOf(srv *lockredistest.Server) []string {
	return slices.DeleteFunc(srv.Keys(), func(key string) bool { return key[0] != 'l' })
}

// roundTrips returns how many scripts and pipelines of scripts were sent.
func (g *gate) roundTrips() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.singles + len(g.pipelines)
}

func TestUndosForAServerThatIsNotNearGoTogether(t *testing.T) {
	gated(t, 40, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, g *gate, c *rlock.Client) {
		far(srv, 100*time.Millisecond)
		warm(t, c)
		before, sent := g.roundTrips(), g.sent()
		leaveTogether(t, c, numbered("l", 40)...)
		eventually(t, "all are undone", func() bool { return len(locksOf(srv)) == 0 })
		if n := g.sent() - sent; n != 80 {
			t.Errorf("%d scripts were sent", n)
		}
		if n := g.roundTrips() - before; n > 43 { // two undos go alone
			t.Errorf("%d round trips for 40 requests and their undos", n)
		}
	})
}

func TestUndosGoThoughOthersHang(t *testing.T) {
	gated(t, 40, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		far(srv, 50*time.Millisecond)
		warm(t, c)
		var mu sync.Mutex
		seen := map[string]bool{}
		undo := func(r lockredistest.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			name := r.Args[3]
			again := seen[name]
			seen[name] = true
			return again && strings.HasPrefix(name, "hung")
		}
		held := srv.HoldRequest(lockredistest.Match{
			Command: "evalsha", If: undo, Times: lockredistest.Always}, 0)
		defer held.Clear()
		leaveTogether(t, c, numbered("hung", 2)...)
		synctest.Wait()
		if held.Hits() != 2 {
			t.Fatalf("%d undos hang", held.Hits())
		}
		began := time.Now()
		leaveTogether(t, c, numbered("l", 10)...)
		eventually(t, "the others are undone", func() bool { return len(locksOf(srv)) == 0 })
		if took := time.Since(began); took > time.Second {
			t.Errorf("the other undos took %v", took)
		}
	})
}

func TestAnUndoThatWaitsForOthersEndsWithClose(t *testing.T) {
	gated(t, 40, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, g *gate, c *rlock.Client) {
		far(srv, 50*time.Millisecond)
		warm(t, c)
		names := numbered("l", 10)
		hang := make(chan struct{})
		time.AfterFunc(15*time.Millisecond, func() { srv.Hang(); close(hang) })
		leaveTogether(t, c, names...)
		<-hang
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		mustBe(t, context.DeadlineExceeded, c.Close(ctx))
		before := g.sent()
		time.Sleep(time.Minute)
		if n := g.sent() - before; n > 0 {
			t.Errorf("%d scripts were sent after Close", n)
		}
	})
}

// hurried lets 40 callers, each of a lock of its own, try for d. Each try waits for 20 ms.
func hurried(t *testing.T, c *rlock.Client, d time.Duration) (wait func()) {
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for _, name := range numbered("l", 40) {
		wg.Go(func() {
			for time.Now().Before(end) {
				began := time.Now()
				mustBe(t, rlock.ErrTimeout, try(c.Lock(name), rlock.Wait(20*time.Millisecond)))
				if took := time.Since(began); took > 60*time.Millisecond {
					t.Errorf("it took %v", took)
				}
			}
		})
	}
	return wg.Wait
}

func TestCallersThatWaitForLessThanARoundTripShareOneRequest(t *testing.T) {
	for _, known := range []bool{true, false} {
		gated(t, 10, func(
			t *testing.T, srv *lockredistest.Server, _ *redis.Client, g *gate, c *rlock.Client) {
			srv.DelayReply(lockredistest.Match{Times: lockredistest.Always}, 100*time.Millisecond)
			if known { // else it takes the server for near
				warm(t, c)
			}
			wait := hurried(t, c, 3*time.Second)
			time.Sleep(time.Second)
			before := g.sent()
			wait()
			if n := g.sent() - before; n > 44 { // a request and an undo every 100 ms
				t.Errorf("%d scripts were sent in 2 s", n)
			}
			began := time.Now()
			release(t, acquire(t, c.Lock("next")))
			if took := time.Since(began); took > 250*time.Millisecond {
				t.Errorf("the next acquisition and release took %v", took)
			}
		})
	}
}

func TestASingleTryIsSentHoweverSlowTheServerIs(t *testing.T) {
	gated(t, 40, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		far(srv, 500*time.Millisecond)
		for range 10 {
			warm(t, c)
		}
		var wg sync.WaitGroup
		for _, name := range numbered("l", 20) {
			wg.Go(func() { must(t, try(c.Lock(name), rlock.Wait(0))) })
		}
		wg.Wait()
	})
}

func TestCallersThatHaveLeftDoNotKeepTheOnlyConnectionBusy(t *testing.T) {
	gated(t, 1, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		srv.DelayReply(lockredistest.Match{Times: lockredistest.Always}, 50*time.Millisecond)
		hurried(t, c, 2*time.Second)()
		began := time.Now()
		release(t, acquire(t, c.Lock("next")))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the next acquisition and release took %v", took)
		}
	})
}
