package rlock_test

import (
	"context"
	"slices"
	"strconv"
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

// behindGate runs f in virtual time with a client behind a gate. Acquisitions of other names
// are under way in four goroutines, which is as many as are sent one by one.
func behindGate(t *testing.T, f func(t *testing.T, g *gate, c *rlock.Client)) {
	virtually(t, func(t *testing.T) {
		rdb := lockredistest.RunT(t).Client()
		g := &gate{}
		rdb.AddHook(g)
		c := newClient(t, rdb, rlock.Options{})
		warm(t, c)
		g.close()
		var wg sync.WaitGroup
		defer wg.Wait()
		for i := range 4 {
			wg.Go(func() { release(t, acquire(t, c.Lock("first"+strconv.Itoa(i)))) })
		}
		synctest.Wait()
		f(t, g, c)
	})
}

func TestRequestsThatWaitGoTogether(t *testing.T) {
	behindGate(t, func(t *testing.T, g *gate, c *rlock.Client) {
		var wg sync.WaitGroup
		for i := range 150 {
			wg.Go(func() { release(t, acquire(t, c.Lock("l"+strconv.Itoa(i)))) })
		}
		synctest.Wait()
		g.open()
		wg.Wait()
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.pipelines) < 2 || slices.Max(g.pipelines) != 100 { // the 150 are 100 and 50
			t.Errorf("pipelines of %v requests", g.pipelines)
		}
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
