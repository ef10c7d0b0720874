package rlock

import (
	"context"
	"sync"

	"github.com/lockredis/lockredis/rlock/internal/sender"
)

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
