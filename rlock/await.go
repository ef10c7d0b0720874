package rlock

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// task is a command, or a series of them, that somebody waits for who may leave
// before it is answered.
type task interface {
	send(context.Context) (reply any, err error)
	// late gets the outcome that nobody waits for any more.
	late(outcome)
}

// outcome is what a task came to.
type outcome struct {
	reply any
	err   error
}

// sending is a task whose late outcome is of no interest.
type sending func(context.Context) (any, error)

func (s sending) send(ctx context.Context) (any, error) { return s(ctx) }
func (sending) late(outcome)                            {}

// job is a task in a worker's hands.
type job struct {
	task
	ctx     context.Context // of the task, without its end
	done    chan outcome    // capacity 1
	settled atomic.Bool     // by whoever is first: the outcome or the end of the wait
}

func (j *job) run(c *Client) {
	start := time.Now()
	reply, err := j.send(j.ctx)
	c.answerTime.Store(int64(time.Since(start)))
	o := outcome{reply, err}
	if j.settled.CompareAndSwap(false, true) {
		j.done <- o
	} else {
		j.late(o)
	}
}

// await sends t and returns its outcome, or ctx's error as soon as ctx ends,
// whatever the connection does. Then t goes on, abandoned is true, and t.late is
// called with the outcome.
func (c *Client) await(ctx context.Context, t task) (o outcome, abandoned bool) {
	if err := ctx.Err(); err != nil {
		return outcome{nil, err}, false
	}
	if ctx.Done() == nil {
		if !c.begin() {
			return outcome{nil, ErrClosed}, false
		}
		defer c.background.Done()
		reply, err := t.send(ctx)
		return outcome{reply, err}, false
	}
	if c.quick != nil && c.answerTime.Load() < int64(near) {
		if o, done := c.askQuickly(ctx, t); done {
			return o, false
		}
	}
	j := &job{task: t, ctx: context.WithoutCancel(ctx), done: make(chan outcome, 1)}
	if !c.work(j) {
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

// idleWorkers is how many goroutines are kept for later jobs.
const idleWorkers = 32

// work is goBackground for what comes with every command: it goes to a goroutine
// that has worked before, if one is free. Growing the stack of a new one took a
// quarter of the client's CPU.
func (c *Client) work(j *job) bool {
	select {
	case c.jobs <- j:
		return true
	default:
	}
	return c.goBackground(func() {
		for next := j; ; c.idle.Add(-1) {
			next.run(c)
			if c.idle.Add(1) > idleWorkers {
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

// order runs k and returns its reply, or ctx's end at once.
func (c *Client) order(ctx context.Context, k call, retry bool) (any, error) {
	o, _ := c.await(ctx, sending(func(ctx context.Context) (any, error) { return c.run(ctx, k, retry) }))
	return o.reply, o.err
}

// orderSynced is order of what changes something, where replicas confirm. That
// none has is no error: then a failover only takes the change back.
func (c *Client) orderSynced(ctx context.Context, k call, retry bool) (any, error) {
	o, _ := c.await(ctx, sending(func(ctx context.Context) (any, error) { return c.runSynced(ctx, k, retry) }))
	return o.reply, unlessNotSynced(o.err)
}

func unlessNotSynced(err error) error {
	if errors.Is(err, ErrNotSynced) {
		return nil
	}
	return err
}

// readOnMaster runs a command that only reads where the key is written.
var readOnMaster = newScript(`return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))`)

// ask is order for a command that only reads one key.
func (c *Client) ask(ctx context.Context, command, key string, args ...any) (any, error) {
	if c.topo.strays {
		return c.order(ctx, readOnMaster.call([]string{key}, append([]any{command}, args...)...), true)
	}
	o, _ := c.await(ctx, sending(func(ctx context.Context) (any, error) {
		rdb, again := c.sender(ctx)
		var cmd redis.Cmder = redis.NewCmd(ctx, append([]any{command, key}, args...)...)
		if !again {
			cmd = once{cmd.(*redis.Cmd)}
		}
		_ = rdb.Process(ctx, cmd)
		return result(cmd)
	}))
	return o.reply, o.err
}
