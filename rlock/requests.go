package rlock

import (
	"context"
	"sync"
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

// handover passes the answer to a release to the caller of Release, who then tells the observer.
// If the caller has left without the answer, the goroutine that receives it tells the observer.
type handover struct {
	mu     sync.Mutex      // guards the fields below
	left   bool            // the caller left without the answer
	answer *sender.Outcome // nil: none yet, or an error
}

// arrived records the answer, and reports whether the caller has left.
func (h *handover) arrived(o sender.Outcome) (left bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = &o
	return h.left
}

// leave records that the caller leaves without the answer. It returns the answer if it came
// just now, else nil.
func (h *handover) leave() (late *sender.Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = true
	return h.answer
}

// giveBack is change for a release of permits. It tells the observer of the outcome, with the
// kind and name of k, also when ctx has ended. none is the error that a reply of 0 means; it may
// be nil.
func (c *Client) giveBack(
	ctx context.Context, k claim, release sender.Call, latch string, none error,
) error {
	var h handover
	released := func(o sender.Outcome) error {
		n, err := sender.ReadInt(o.Reply, o.Err)
		if err == nil && n == 0 {
			err = none
		}
		if err == nil {
			notify(ctx, c.opts.Observer.Released, k, Event{})
		}
		return err
	}
	late := func(o sender.Outcome) { // the caller does not receive the error
		if err := released(o); err != nil {
			notify(ctx, c.opts.Observer.Lost, k, Event{Err: err})
		}
	}
	o := c.sendChange(ctx, release, latch, func(o sender.Outcome) {
		switch {
		case o.Err != nil:
			notify(ctx, c.opts.Observer.GaveUp, k, Event{Err: o.Err})
		case h.arrived(o):
			late(o)
		}
	})
	if o.Err == nil {
		return released(o)
	}
	if answer := h.leave(); answer != nil {
		late(*answer)
	}
	return o.Err
}
