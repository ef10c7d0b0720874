package rlock

import (
	"context"
	"time"
)

// asking is one acquisition of permits. Unlike a lock they have no owner in this
// process that would know how many it has.
type asking struct {
	c        *Client
	kind     string // Event.Kind
	name     string
	news     string // the channel that permits are announced on
	ask      func(context.Context) (any, error)
	read     func(reply any) (grant, error)
	takeBack func(granted bool) // what nobody gets; granted false: if it was granted
}

// obtain tries until the permits are there, at the longest for limit (see
// Client.wait).
func (a *asking) obtain(ctx context.Context, limit time.Duration) error {
	start := time.Now()
	err := a.c.wait(ctx, a, start, limit)
	if err == nil {
		a.acquired(start)
	}
	return err
}

func (a *asking) contended() {
	tell(a.c.opts.Observer.Contended, Event{Kind: a.kind, Name: a.name})
}

func (a *asking) acquired(start time.Time) {
	tell(a.c.opts.Observer.Acquired, Event{Kind: a.kind, Name: a.name, Waited: time.Since(start)})
}

func (a *asking) try(ctx context.Context) (grant, error) {
	if err := ctx.Err(); err != nil {
		return grant{}, err
	}
	o, abandoned := a.c.await(ctx, a)
	if abandoned {
		return grant{}, o.err
	}
	g, err := judge(o, a.read)
	if err != nil && (g.ok || g.lost) {
		a.c.goBackground(func() { a.takeBack(g.ok) })
	}
	return g, err
}

func (a *asking) send(ctx context.Context) (any, error) { return a.ask(ctx) }

func (a *asking) late(o outcome) {
	if g, _ := judge(o, a.read); g.ok || g.lost {
		a.takeBack(g.ok)
	}
}

func (a *asking) channel() (string, bool) { return a.news, false }

// giving is a task that gives something back.
type giving struct {
	sending
	done func(outcome) // gets every outcome
}

func (g giving) late(o outcome) { g.done(o) }

// giveBack sends what gives something back. If ctx has ended, or ends, it returns
// ctx's error and the sending goes on in the background. That no replica has
// confirmed is no error: then a failover only takes the giving back.
func (c *Client) giveBack(ctx context.Context, s sending, done func(outcome)) (any, error) {
	if err := ctx.Err(); err != nil {
		started := c.goBackground(func() {
			reply, err := s(context.WithoutCancel(ctx))
			done(outcome{reply, err})
		})
		if !started {
			return nil, ErrClosed
		}
		return nil, err
	}
	o, abandoned := c.await(ctx, giving{s, done})
	if abandoned {
		return nil, o.err
	}
	o.err = unlessNotSynced(o.err)
	done(o)
	return o.reply, o.err
}
