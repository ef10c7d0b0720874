package rlock

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// request is one or more commands sent for a caller. The caller may stop waiting
// (its context ends) before the reply arrives. late then receives the outcome.
type request interface {
	send(context.Context) (reply any, err error)
	late(outcome)
}

// outcome is the result of a request.
type outcome struct {
	reply any
	err   error
}

// requestFunc is a request that ignores a late outcome.
type requestFunc func(context.Context) (any, error)

func (s requestFunc) send(ctx context.Context) (any, error) { return s(ctx) }
func (requestFunc) late(outcome)                            {}

// job is a request that a worker runs.
type job struct {
	request
	ctx     context.Context // the caller's context, without its cancellation
	done    chan outcome    // capacity 1
	settled atomic.Bool     // set once: by the outcome, or by the caller when it stops waiting
}

func (j *job) run(c *Client) {
	start := time.Now()
	reply, err := j.send(j.ctx)
	c.lastLatency.Store(int64(time.Since(start)))
	o := outcome{reply, err}
	if j.settled.CompareAndSwap(false, true) {
		j.done <- o
	} else {
		j.late(o)
	}
}

// await sends r and returns its outcome, or ctx's error as soon as ctx ends, also
// when the connection hangs. If r was sent by then, abandoned is true, a worker
// continues r, and r.late is called with the outcome.
func (c *Client) await(ctx context.Context, r request) (o outcome, abandoned bool) {
	if err := ctx.Err(); err != nil {
		return outcome{nil, err}, false
	}
	if ctx.Done() == nil {
		if !c.addBackground() {
			return outcome{nil, ErrClosed}, false
		}
		defer c.background.Done()
		reply, err := r.send(ctx)
		return outcome{reply, err}, false
	}
	if c.quick != nil && c.lastLatency.Load() < int64(quickMaxLatency) {
		if o, done := c.sendQuick(ctx, r); done {
			return o, false
		}
	}
	j := &job{request: r, ctx: context.WithoutCancel(ctx), done: make(chan outcome, 1)}
	if !c.startJob(j) {
		return outcome{nil, ErrClosed}, false
	}
	select {
	case o := <-j.done:
		return o, false
	case <-ctx.Done():
		if j.settled.CompareAndSwap(false, true) {
			return outcome{nil, ctx.Err()}, true
		}
		return <-j.done, false
	}
}

// maxIdleWorkers is how many idle goroutines are kept for later jobs.
const maxIdleWorkers = 32

// startJob runs j on an idle worker, or on a new one if there is none. It reports
// whether it did: not after Close. Workers are reused because growing the stack of
// a new goroutine for every request took a quarter of the client's CPU time.
func (c *Client) startJob(j *job) bool {
	select {
	case c.jobs <- j:
		return true
	default:
	}
	return c.goBackground(func() {
		for next := j; ; c.idle.Add(-1) {
			next.run(c)
			if c.idle.Add(1) > maxIdleWorkers {
				c.idle.Add(-1)
				return
			}
			select {
			case next = <-c.jobs:
			case <-c.ctx.Done():
				return
			}
		}
	})
}

// awaitCall runs k and returns its reply, or ctx's error as soon as ctx ends.
func (c *Client) awaitCall(ctx context.Context, k call, retry bool) (any, error) {
	o, _ := c.await(ctx, requestFunc(func(ctx context.Context) (any, error) {
		return c.run(ctx, k, retry)
	}))
	return o.reply, o.err
}

// awaitCallSynced is awaitCall for a call that changes something: it also waits
// for replicas (see runSynced). It is no error if no replica confirms: a failover
// can then undo the change, nothing worse.
func (c *Client) awaitCallSynced(ctx context.Context, k call, retry bool) (any, error) {
	o, _ := c.await(ctx, requestFunc(func(ctx context.Context) (any, error) {
		return c.runSynced(ctx, k, retry)
	}))
	return o.reply, unlessNotSynced(o.err)
}

func unlessNotSynced(err error) error {
	if errors.Is(err, ErrNotSynced) {
		return nil
	}
	return err
}

// readOnMaster runs a read command inside a script, so that go-redis sends it to
// the master and not to a replica.
var readOnMaster = newScript(`return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))`)

// awaitRead is awaitCall for a command that only reads one key.
func (c *Client) awaitRead(ctx context.Context, command, key string, args ...any) (any, error) {
	if c.topo.readsReplicas {
		k := readOnMaster.call([]string{key}, append([]any{command}, args...)...)
		return c.awaitCall(ctx, k, true)
	}
	o, _ := c.await(ctx, requestFunc(func(ctx context.Context) (any, error) {
		rdb, retry := c.sender(ctx)
		var cmd redis.Cmder = redis.NewCmd(ctx, append([]any{command, key}, args...)...)
		if !retry {
			cmd = onceCmd{cmd.(*redis.Cmd)}
		}
		_ = rdb.Process(ctx, cmd)
		return result(cmd)
	}))
	return o.reply, o.err
}
