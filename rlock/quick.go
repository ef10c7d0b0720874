package rlock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Whoever waits with a context that can end must not be held up by a connection
// that hangs, so a worker sends the command (await). Waking the worker, and being
// woken by it, takes longer than the command itself where little else is going
// on. So while the server is near, a command is first sent from the caller's own
// goroutine, once, on a connection that is given up after a moment. Where that
// moment was not enough a worker sends it again: it must be one that may be.
const (
	near       = 2 * time.Millisecond  // the last answer took no longer
	quickLimit = 25 * time.Millisecond // for writing, and for reading
)

// quickly is the context of commands that are sent so.
type quickly struct{ context.Context }

// errOnce tells that a command was not sent: it must not be sent again.
var errOnce = errors.New("rlock: sent once only")

// quickClient returns a client of rdb's connections for commands that are sent so,
// nil where there is none: in clusters, and where replicas are waited for.
func quickClient(rdb redis.UniversalClient, t topology) *redis.Client {
	single, ok := rdb.(*redis.Client)
	if !ok || t.synced {
		return nil
	}
	limit := quickLimit
	if own := single.Options().ReadTimeout; own > 0 {
		limit = min(limit, own)
	}
	return single.WithTimeout(limit)
}

// askQuickly sends t from here. It reports false when t was not answered and ctx
// has not ended.
func (c *Client) askQuickly(ctx context.Context, t task) (o outcome, done bool) {
	if !c.begin() {
		return outcome{nil, ErrClosed}, true
	}
	defer c.background.Done()
	start := time.Now()
	reply, err := t.send(quickly{ctx})
	if errors.Is(err, errOnce) {
		return outcome{}, false
	}
	c.answerTime.Store(int64(time.Since(start)))
	if answered(err) {
		return outcome{reply, err}, true
	}
	return outcome{nil, ctx.Err()}, ctx.Err() != nil
}

// sender returns what to send commands of ctx by, and whether those that may be
// sent again may be so by go-redis.
func (c *Client) sender(ctx context.Context) (rdb interface {
	Process(context.Context, redis.Cmder) error
}, again bool) {
	if _, ok := ctx.(quickly); ok {
		return c.quick, false
	}
	return c.rdb, true
}
