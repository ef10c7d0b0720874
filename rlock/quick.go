package rlock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// A caller whose context can end must not be blocked by a connection that hangs,
// so a worker sends its request (see await). On an idle machine, waking the worker
// and being woken by it takes longer than the request itself. So while the server
// answers fast, the caller's own goroutine sends the request first, once, with a
// short timeout. After the timeout a worker sends it again. So this is only done
// with requests that may be sent more than once.
const (
	quickMaxLatency = 2 * time.Millisecond  // the last reply took less
	quickTimeout    = 25 * time.Millisecond // for writing, and for reading
)

// quickContext marks the context of a request that the caller's goroutine sends.
type quickContext struct{ context.Context }

// errNoRetry means that a request was not sent because it must not be sent again.
var errNoRetry = errors.New("rlock: quick send: request must be sent only once")

// quickClient returns a client that shares rdb's connections and has quickTimeout.
// It returns nil for clusters and where requests wait for replicas.
func quickClient(rdb redis.UniversalClient, t topology) *redis.Client {
	single, ok := rdb.(*redis.Client)
	if !ok || t.synced {
		return nil
	}
	limit := quickTimeout
	if timeout := single.Options().ReadTimeout; timeout > 0 {
		limit = min(limit, timeout)
	}
	return single.WithTimeout(limit)
}

// sendQuick sends r from the caller's goroutine. done is false when the server did
// not answer in time, or r must be sent only once; a worker then sends r.
func (c *Client) sendQuick(ctx context.Context, r request) (o outcome, done bool) {
	if !c.addBackground() {
		return outcome{nil, ErrClosed}, true
	}
	defer c.background.Done()
	start := time.Now()
	reply, err := r.send(quickContext{ctx})
	if errors.Is(err, errNoRetry) {
		return outcome{}, false
	}
	c.lastLatency.Store(int64(time.Since(start)))
	if answered(err) {
		return outcome{reply, err}, true
	}
	return outcome{nil, ctx.Err()}, ctx.Err() != nil
}

// sender returns the go-redis client for requests with this context. retry says
// whether go-redis may retry the requests that allow it.
func (c *Client) sender(ctx context.Context) (rdb interface {
	Process(context.Context, redis.Cmder) error
}, retry bool) {
	if _, ok := ctx.(quickContext); ok {
		return c.quick, false
	}
	return c.rdb, true
}
