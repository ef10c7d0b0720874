package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// waitOp is an operation that is tried again until it is granted.
type waitOp interface {
	try(context.Context) (grant, error)
	// contended is called once, before the first wait.
	contended()
	// channel is the channel that announces when to try again, see hub.Join; ""
	// means to poll.
	channel() (name string, shared bool)
}

// wait tries op until it is granted, ctx ends, or limit is over (ErrTimeout). The
// limit is measured from start. 0 means a single try, forever means no limit. There is at
// least one try: if the limit is over before it, because this goroutine did not run, op is tried
// once, and has lateLimit.
func (c *Client) wait(ctx context.Context, op waitOp, start time.Time, limit time.Duration) error {
	return within(ctx, start, limit, func(limited context.Context) error {
		if limited.Err() == nil || ctx.Err() != nil {
			return c.waitGranted(limited, op, limit != 0)
		}
		return within(ctx, time.Now(), lateLimit(limit), func(ctx context.Context) error {
			return c.waitGranted(ctx, op, false)
		})
	})
}

// leastLate is the least time that a try after the end of the wait has for the server's answer.
const leastLate = 100 * time.Millisecond

// lateLimit returns how long a try has that begins after a wait of d is over.
func lateLimit(d time.Duration) time.Duration { return min(max(d, leastLate), singleTry) }

// within runs f with a context that ends limit after start, and returns ErrTimeout
// when f ended because of that. A limit of 0 or less is no limit.
func within(
	ctx context.Context, start time.Time, limit time.Duration, f func(context.Context) error,
) error {
	limited := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithDeadline(ctx, start.Add(limit))
		defer cancel()
	}
	err := f(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil && errors.Is(err, limited.Err()) {
		return ErrTimeout
	}
	return err
}

// waitGranted tries op until it is granted or ctx ends. With waits false it tries
// once and returns ErrTimeout if that was not granted.
func (c *Client) waitGranted(ctx context.Context, op waitOp, waits bool) error {
	g, err := op.try(ctx)
	if err != nil || g.ok {
		return err
	}
	if !waits {
		return ErrTimeout
	}
	op.contended()
	channel, shared := op.channel()
	if channel == "" {
		return c.poll(ctx, op, g)
	}
	w := c.hub.Join(channel, shared)
	if w == nil {
		return ErrClosed
	}
	defer w.Leave()
	ready := w.Ready()
	timer := time.NewTimer(c.waitTime(g))
	defer timer.Stop()
	for {
		select {
		case <-w.Wake():
			if err := w.Denied(); err != nil {
				return err
			}
		case <-timer.C:
		case <-ready: // a message published before the subscription was missed
			ready = nil
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ctx.Done():
			return ErrClosed
		}
		g, err = op.try(ctx)
		if err != nil || g.more {
			w.WakeNext() // this waiter did not use up what the message announced
		}
		if err != nil || g.ok {
			return err
		}
		timer.Reset(c.waitTime(g))
	}
}

// waitTime returns how long to wait for a message before the next try: until the
// holder's lease ends, or Options.Lease if it has none.
func (c *Client) waitTime(g grant) time.Duration {
	if g.ttl < 0 {
		return c.opts.Lease
	}
	return g.ttl + time.Millisecond
}

// poll tries op at intervals, as Redisson's spin lock does. The delay doubles from
// 1 ms to 128 ms, and each pause is a random part of it, at least half. But if the
// last try told an exact time, poll waits until then.
func (c *Client) poll(ctx context.Context, op waitOp, g grant) error {
	for delay := time.Millisecond; ; delay = min(2*delay, 128*time.Millisecond) {
		pause := delay/2 + rand.N(delay/2+1)
		if g.exact {
			pause = g.ttl
		}
		err := c.pause(ctx, pause)
		if err == nil {
			g, err = op.try(ctx)
		}
		if err != nil || g.ok {
			return err
		}
	}
}

// pause waits for d. It returns ctx's error when ctx ends, and ErrClosed when the
// client closes.
func (c *Client) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return ErrClosed
	}
}
