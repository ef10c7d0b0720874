package rlock

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// ask sends a request that changes nothing, or that the caller may repeat, and
// returns its reply.
func (c *Client) ask(ctx context.Context, k sender.Call) (any, error) {
	return c.askFor(ctx, k, c.opts.RetryFor)
}

// askFor is ask for at most limit.
func (c *Client) askFor(ctx context.Context, k sender.Call, limit time.Duration) (any, error) {
	requireContext(ctx)
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	o := c.sender.Send(ctx, sender.Request{Call: k, Limit: limit})
	return o.Reply, o.Err
}

// change sends a request with a latch, which is swept when it is answered, and returns
// the integer that it replies. When ctx ends, or has ended already, the request
// continues in the background.
func (c *Client) change(ctx context.Context, k sender.Call, latch string) (int, error) {
	o := c.sendChange(ctx, k, latch, func(sender.Outcome) {})
	n, err := sender.ReadInt(o.Reply, o.Err)
	return int(n), err
}

// sendChange is change with the outcome of the request. settled is called as for a request.
func (c *Client) sendChange(
	ctx context.Context, k sender.Call, latch string, settled func(sender.Outcome),
) sender.Outcome {
	requireContext(ctx)
	if err := c.enter(); err != nil {
		return sender.Outcome{Err: err}
	}
	defer c.leave()
	return c.sender.Send(ctx, sender.Request{
		Call: k, Limit: endlessLimit, Persistent: true,
		Settled: func(o sender.Outcome) {
			defer settled(o)
			c.sweep(latch, o)
		},
	})
}

// seal makes late copies of a granted claim's acquire request harmless. It continues in the
// background after undoWait, or when ctx ends.
func (c *Client) seal(ctx context.Context, latch string) {
	ctx, cancel := context.WithTimeout(ctx, undoWait)
	defer cancel()
	_ = c.sender.Send(ctx, sender.Request{
		Call:  sender.NewCall(scripts.Seal, []string{latch}, latchLife.Milliseconds()),
		Limit: c.opts.RetryFor, Persistent: true, Undo: true,
	})
}

// sweep deletes the latch of a request that was answered. If a copy of it may
// still arrive, the latch stays until it expires.
func (c *Client) sweep(latch string, o sender.Outcome) {
	if sender.Answered(o.Err) && o.Strays == 0 {
		c.sweeper.add(latch)
	}
}

// latchLife is the time to live of a latch. A copy of a request that is under way
// for longer than that is not recognized. TCP gives up earlier on a connection
// that its process has closed.
const latchLife = scripts.LatchLife

// countLife is the time to live of the latch of a request that changes a counter. Such
// a request is sent for endlessLimit, and a copy without its latch would count again.
const countLife = endlessLimit + latchLife
