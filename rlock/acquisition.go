package rlock

import (
	"context"
	"time"
)

// acquisition is one acquisition of permits. Locks use attempt instead: a lock has
// an owner in this process that knows its hold count, permits have none.
type acquisition struct {
	c           *Client
	kind        string // Event.Kind
	name        string
	channelName string // the channel on which free permits are announced
	command     func(context.Context) (any, error)
	read        func(reply any) (grant, error)

	// undo gives the permits back when the caller does not get them. granted is
	// false when it is unknown whether the server granted them.
	undo func(granted bool)
}

// obtain retries until the permits are granted or limit is over (see Client.wait).
func (a *acquisition) obtain(ctx context.Context, limit time.Duration) error {
	start := time.Now()
	err := a.c.wait(ctx, a, start, limit)
	if err == nil {
		a.acquired(start)
	}
	return err
}

func (a *acquisition) contended() {
	notify(a.c.opts.Observer.Contended, Event{Kind: a.kind, Name: a.name})
}

func (a *acquisition) acquired(start time.Time) {
	notify(a.c.opts.Observer.Acquired, Event{Kind: a.kind, Name: a.name, Waited: time.Since(start)})
}

func (a *acquisition) try(ctx context.Context) (grant, error) {
	if err := ctx.Err(); err != nil {
		return grant{}, err
	}
	o, abandoned := a.c.await(ctx, a)
	if abandoned {
		return grant{}, o.err
	}
	g, err := readGrant(o, a.read)
	if err != nil && (g.ok || g.unknown) {
		a.c.goBackground(func() { a.undo(g.ok) })
	}
	return g, err
}

func (a *acquisition) send(ctx context.Context) (any, error) { return a.command(ctx) }

func (a *acquisition) late(o outcome) {
	if g, _ := readGrant(o, a.read); g.ok || g.unknown {
		a.undo(g.ok)
	}
}

func (a *acquisition) channel() (string, bool) { return a.channelName, false }

// releaseRequest is a request that gives something back: a release of permits, or
// a count-down.
type releaseRequest struct {
	requestFunc
	done func(outcome) // receives the outcome, also a late one
}

func (g releaseRequest) late(o outcome) { g.done(o) }

// sendRelease sends a release and calls done with its outcome. When ctx ends, or
// has ended already, sendRelease returns ctx's error and the release continues in
// the background. It is no error if no replica confirms: a failover can then undo
// the release, nothing worse.
func (c *Client) sendRelease(
	ctx context.Context, release requestFunc, done func(outcome),
) (any, error) {
	if err := ctx.Err(); err != nil {
		started := c.goBackground(func() {
			reply, err := release(context.WithoutCancel(ctx))
			done(outcome{reply, err})
		})
		if !started {
			return nil, ErrClosed
		}
		return nil, err
	}
	o, abandoned := c.await(ctx, releaseRequest{release, done})
	if abandoned {
		return nil, o.err
	}
	o.err = unlessNotSynced(o.err)
	done(o)
	return o.reply, o.err
}
