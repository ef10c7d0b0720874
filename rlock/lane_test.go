package rlock_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// gate is a hook that stops single scripts while it is closed, and counts the scripts.
type gate struct {
	mu        sync.Mutex    // guards the fields below
	closed    chan struct{} // nil: open
	singles   int
	pipelines []int
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.closed)
	g.closed = nil
}

func (g *gate) DialHook(next redis.DialHook) redis.DialHook { return next }

func (g *gate) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		g.mu.Lock()
		closed := g.closed
		if cmd.Name() == "evalsha" {
			g.singles++
		}
		g.mu.Unlock()
		if closed != nil && cmd.Name() == "evalsha" {
			<-closed
		}
		return next(ctx, cmd)
	}
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "evalsha" {
			g.mu.Lock()
			g.pipelines = append(g.pipelines, len(cmds))
			g.mu.Unlock()
		}
		return next(ctx, cmds)
	}
}

// sent returns how many scripts were sent or stopped.
func (g *gate) sent() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.singles
	for _, size := range g.pipelines {
		n += size
	}
	return n
}

// gated runs f in virtual time with a client behind an open gate, and a pool of the given
// size.
func gated(t *testing.T, poolSize int, f func(
	t *testing.T, srv *lockredistest.Server, rdb *redis.Client, g *gate, c *rlock.Client)) {
	virtually(t, func(t *testing.T) {
		srv := lockredistest.RunT(t)
		o := srv.Options()
		o.PoolSize = poolSize
		rdb := redis.NewClient(o)
		t.Cleanup(func() { rdb.Close() })
		g := &gate{}
		rdb.AddHook(g)
		c := newClient(t, rdb, rlock.Options{})
		warm(t, c)
		f(t, srv, rdb, g, c)
	})
}

// closeBehindFirst closes the gate behind acquisitions of four names, which is as many as are
// sent one by one. The returned function waits for their releases.
func (g *gate) closeBehindFirst(t *testing.T, c *rlock.Client) (wait func()) {
	g.close()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { release(t, acquire(t, c.Lock("first"+strconv.Itoa(i)))) })
	}
	synctest.Wait()
	return wg.Wait
}

// behindGate runs f in virtual time with a client behind a closed gate.
func behindGate(t *testing.T, f func(t *testing.T, g *gate, c *rlock.Client)) {
	gated(t, 100, func(
		t *testing.T, _ *lockredistest.Server, _ *redis.Client, g *gate, c *rlock.Client) {
		defer g.closeBehindFirst(t, c)()
		f(t, g, c)
	})
}

// goTogether lets n acquisitions wait behind a closed gate, and returns how many requests the
// pipelines have.
func (g *gate) goTogether(t *testing.T, c *rlock.Client, n int) []int {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { release(t, acquire(t, c.Lock("l"+strconv.Itoa(i)))) })
	}
	synctest.Wait()
	g.open()
	wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pipelines
}

func TestRequestsThatWaitGoTogether(t *testing.T) {
	behindGate(t, func(t *testing.T, g *gate, c *rlock.Client) {
		sizes := g.goTogether(t, c, 150)
		if len(sizes) < 2 || slices.Max(sizes) != 100 { // the 150 are 100 and 50
			t.Errorf("pipelines of %v requests", sizes)
		}
	})
}

func TestRequestsGoTogetherAfterOneThatWaitedForAConnectionOfThePool(t *testing.T) {
	gated(t, 1, func(
		t *testing.T, _ *lockredistest.Server, rdb *redis.Client, g *gate, c *rlock.Client) {
		var wg sync.WaitGroup
		wg.Go(func() { rdb.BLPop(t.Context(), time.Second, "none") })
		synctest.Wait()
		began := time.Now()
		h := acquire(t, c.Lock("l"))
		if took := time.Since(began); took < time.Second {
			t.Fatalf("it waited %v for a connection", took)
		}
		wg.Wait()
		wait := g.closeBehindFirst(t, c)
		sizes := g.goTogether(t, c, 100)
		wait()
		if len(sizes) == 0 || slices.Max(sizes) != 100 {
			t.Errorf("pipelines of %v requests", sizes)
		}
		release(t, h)
	})
}

// Each of the 100 requests may take as long as a near server takes for one.
func TestALongPipelineWaitsLongerForItsReplies(t *testing.T) {
	gated(t, 100, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, g *gate, c *rlock.Client) {
		wait := g.closeBehindFirst(t, c)
		late := srv.DelayReply(lockredistest.Match{Key: "l7"}, 200*time.Millisecond)
		before := scripts(srv)
		g.goTogether(t, c, 100)
		wait()
		if n := scripts(srv) - before; n != 2*104 || late.Hits() != 1 {
			t.Errorf("%d scripts for 104 locks, %d late replies", n, late.Hits())
		}
	})
}

func TestHungRequestsOfCallersThatHaveLeftKeepNoConnectionFromOthers(t *testing.T) {
	gated(t, 10, func(
		t *testing.T, srv *lockredistest.Server, _ *redis.Client, _ *gate, c *rlock.Client) {
		hangs := func(r lockredistest.Request) bool { return strings.Contains(r.Args[3], "hung") }
		held := srv.HoldRequest(lockredistest.Match{
			Command: "evalsha", If: hangs, Times: lockredistest.Always}, 0)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				mustBe(t, rlock.ErrTimeout, try(c.Lock("hung"+strconv.Itoa(i)), rlock.Wait(time.Second)))
			})
		}
		wg.Wait()
		began := time.Now()
		for i := range 20 {
			wg.Go(func() { release(t, acquire(t, c.Lock("l"+strconv.Itoa(i)))) })
		}
		wg.Wait()
		if took := time.Since(began); took > time.Second {
			t.Errorf("other names took %v", took)
		}
		held.Clear()
	})
}

func TestARequestThatWaitsForAPipelineEndsWithItsContext(t *testing.T) {
	behindGate(t, func(t *testing.T, g *gate, c *rlock.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := c.Lock("l").Acquire(ctx)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		mustBe(t, context.Canceled, <-failed)
		g.open()
		release(t, acquire(t, c.Lock("l")))
	})
}

func TestRequestsWhoseContextEndsInTheQueueAreNotSent(t *testing.T) {
	behindGate(t, func(t *testing.T, g *gate, c *rlock.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				_, err := c.Lock("l").Acquire(ctx)
				mustBe(t, context.Canceled, err)
			})
		}
		synctest.Wait()
		before := g.sent()
		cancel()
		wg.Wait()
		synctest.Wait()
		if n := g.sent() - before; n > 0 {
			t.Errorf("%d scripts were sent", n)
		}
		g.open()
	})
}

// A worker sends them again, so a copy in the queue would be one too many.
func TestRequestsThatWaitedTooLongInTheQueueAreNotSentFromIt(t *testing.T) {
	behindGate(t, func(t *testing.T, g *gate, c *rlock.Client) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { release(t, acquire(t, c.Lock("l"+strconv.Itoa(i)))) })
		}
		time.Sleep(time.Second) // longer than a request stays in the queue, in virtual time
		before := g.sent()
		g.open()
		wg.Wait()
		if n := g.sent() - before; n > 54 {
			t.Errorf("%d scripts were sent for 54 releases", n)
		}
	})
}

func TestARequestWaitsForAPipelineNoLongerThanForAHangingServer(t *testing.T) {
	behindGate(t, func(t *testing.T, g *gate, c *rlock.Client) {
		began := time.Now()
		_, err := c.Lock("l").Acquire(t.Context(), rlock.Wait(0))
		if took := time.Since(began); err == nil || took > 2*time.Second {
			t.Errorf("it returned %v after %v", err, took)
		}
		g.open()
	})
}

// refusing is a hook that panics while it is armed.
type refusing struct {
	gate
	armed atomic.Bool
}

func (r *refusing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if r.armed.Load() {
			panic("refused")
		}
		return next(ctx, cmd)
	}
}

// The server is fast in virtual time, so the caller's goroutine sends the requests.
func TestRequestsAreSentAfterHooksThatPanicked(t *testing.T) {
	virtually(t, func(t *testing.T) {
		rdb := lockredistest.RunT(t).Client()
		r := &refusing{}
		rdb.AddHook(r)
		c := newClient(t, rdb, rlock.Options{})
		warm(t, c)
		for range 5 {
			r.armed.Store(true)
			if panics(func() { _, _ = c.Lock("l").IsLocked(t.Context()) }) == nil {
				t.Error("no panic")
			}
			r.armed.Store(false)
		}
		_, err := c.Lock("l").IsLocked(t.Context())
		must(t, err)
	})
}
