package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// seeker is who waits for something to be granted.
type seeker interface {
	try(context.Context) (grant, error)
	// contended is called before the first wait.
	contended()
	// channel is where to listen, see hub.join; "" means to poll.
	channel() (name string, all bool)
}

// wait tries until s is granted what it seeks, ctx ends, or limit is over, counted
// from start (ErrTimeout). A limit of 0 is one try, and forever is none.
func (c *Client) wait(ctx context.Context, s seeker, start time.Time, limit time.Duration) error {
	return within(ctx, start, limit, func(ctx context.Context) error { return c.seek(ctx, s, limit != 0) })
}

// within runs f with a context that ends at limit from start, if that is more
// than 0, and makes ErrTimeout of the limit's end.
func within(ctx context.Context, start time.Time, limit time.Duration, f func(context.Context) error) error {
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

func (c *Client) seek(ctx context.Context, s seeker, waits bool) error {
	g, err := s.try(ctx)
	if err != nil || g.ok {
		return err
	}
	if !waits {
		return ErrTimeout
	}
	s.contended()
	channel, all := s.channel()
	if channel == "" {
		return c.poll(ctx, s)
	}
	place, err := c.hub.join(channel, all)
	if err != nil {
		return err
	}
	defer place.leave()
	ready := place.topic.ready
	timer := time.NewTimer(c.patience(g))
	defer timer.Stop()
	for {
		select {
		case <-place.wake:
		case <-timer.C:
		case <-ready: // what was announced before may have been missed
			ready = nil
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ctx.Done():
			return ErrClosed
		}
		g, err = s.try(ctx)
		if err != nil || g.more {
			place.next() // what woke this one may be of use to the next
		}
		if err != nil || g.ok {
			return err
		}
		timer.Reset(c.patience(g))
	}
}

// patience is how long to wait for a message after an attempt that failed: until
// the holder's lease is over.
func (c *Client) patience(g grant) time.Duration {
	if g.ttl < 0 {
		return c.opts.Lease
	}
	return g.ttl + time.Millisecond
}

// poll tries again and again, as Redisson's spin lock does: after 1 ms, doubling
// to 128 ms, each time less a random part.
func (c *Client) poll(ctx context.Context, s seeker) error {
	for delay := time.Millisecond; ; delay = min(2*delay, 128*time.Millisecond) {
		pause(ctx, delay/2+rand.N(delay/2+1))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case c.ctx.Err() != nil:
			return ErrClosed
		}
		if g, err := s.try(ctx); err != nil || g.ok {
			return err
		}
	}
}
