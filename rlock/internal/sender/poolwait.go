package sender

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// poolWait is the context of near requests that go together. It ends nearPatience after go-redis began
// to wait for a connection of the pool, or when the caller's context ends. So the caller's goroutine
// does not wait there for as long as go-redis's PoolTimeout: a worker waits instead, see Sender.Send.
//
// A context with a deadline costs a timer and allocations. While a connection is free, go-redis asks
// for Done once, to see whether the context has ended. It asks again only before it waits, or
// makes a connection. So the deadline begins with the second Done.
type poolWait struct{ first *requestCmd } // it is as large as a pointer, so it needs no allocation

// poolState is the state of a poolWait.
type poolState struct {
	caller context.Context

	// limited is nil before the first Done, and askedOnce before the second.
	limited atomic.Pointer[limitedWait]
}

// limitedWait is a context with a deadline.
type limitedWait struct {
	context.Context
	cancel context.CancelFunc
}

// These are the states of a poolWait without a deadline.
var (
	askedOnce = &limitedWait{}
	waitOver  = &limitedWait{} // go-redis has returned
)

// waitFrom returns the poolWait of r, whose caller has ctx.
func (r *requestCmd) waitFrom(ctx context.Context) poolWait {
	r.pool.caller = ctx
	r.pool.limited.Store(nil)
	return poolWait{r}
}

// end ends the deadline. It is called when go-redis has returned.
func (w poolWait) end() {
	if l := w.first.pool.limited.Swap(waitOver); l != nil && l != askedOnce && l != waitOver {
		l.cancel()
	}
}

// current returns the context that applies.
func (w poolWait) current() context.Context {
	p := &w.first.pool
	if l := p.limited.Load(); l != nil && l != askedOnce && l != waitOver {
		return l
	}
	return p.caller
}

func (w poolWait) Deadline() (time.Time, bool) { return w.first.pool.caller.Deadline() }
func (w poolWait) Value(key any) any           { return w.first.pool.caller.Value(key) }
func (w poolWait) Err() error                  { return w.current().Err() }

func (w poolWait) Done() <-chan struct{} {
	p := &w.first.pool
	if !p.limited.CompareAndSwap(nil, askedOnce) && p.limited.Load() == askedOnce {
		l := &limitedWait{}
		l.Context, l.cancel = context.WithTimeout(p.caller, nearPatience(max(int(w.first.batch), 1)))
		if !p.limited.CompareAndSwap(askedOnce, l) {
			l.cancel() // another goroutine was faster
		}
	}
	return w.current().Done()
}

// detached has the values of a caller's context. It ends when Close gives up on requests without
// an answer. So a request that continues without its caller does not wait for a connection of the
// pool after that.
type detached struct {
	context.Context // Config.Given
	values          context.Context
}

func (d detached) Value(key any) any {
	if v := d.Context.Value(key); v != nil {
		return v
	}
	return d.values.Value(key)
}

// detach returns a detached context with the values of ctx.
func (t *topology) detach(ctx context.Context) context.Context { return detached{t.cfg.Given, ctx} }

// errBusy is the error of a request that got no connection of the pool in time.
var errBusy = errors.New("no connection of the pool was ready in time")

// IsOver reports whether err is the error of a context that has ended. A dial that took too long
// has an error that errors.Is cannot tell from it.
func IsOver(err error) bool {
	if _, isNet := errors.AsType[*net.OpError](err); isNet {
		return false
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// gotNoConnection reports whether err says that go-redis's pool gave no connection within PoolTimeout,
// or has MaxActiveConns. Nothing was sent, and nothing is known of the server.
func gotNoConnection(err error) bool {
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted)
}

// leastPoolWait is the least time between two copies that ask the pool for a connection.
const leastPoolWait = 5 * time.Millisecond

// poolPause returns how long to wait after a copy, begun at the given time, that got no
// connection. It is 0 if go-redis has waited for one: the pool serves its waiters in order, and a
// request that pauses is not among them.
func poolPause(began time.Time) time.Duration { return leastPoolWait - time.Since(began) }

// isUnsent reports whether err says that the request was never sent.
func isUnsent(err error) bool {
	_, never := errors.AsType[unsent](err)
	return never
}

// busyPool returns the size of the server's pool if all of its connections are in use, else 0.
func (s *server) busyPool() int {
	rdb, ok := s.rdb.(interface {
		node
		PoolStats() *redis.PoolStats
	})
	if !ok {
		return 0
	}
	size, stats := rdb.Options().PoolSize, rdb.PoolStats()
	if int(stats.TotalConns)-int(stats.IdleConns) < size {
		return 0
	}
	return size
}

// silence returns the error of a request that has had no answer for d.
func (s *sending) silence(d time.Duration) error {
	if srv := s.server.Load(); srv != nil && s.strays.Load() == 0 && !s.written.Load() {
		if n := srv.busyPool(); n > 0 {
			return fmt.Errorf("rlock: no connection of the pool (PoolSize %d) was free for %v", n, d)
		}
	}
	return fmt.Errorf("rlock: no answer for %v: %w", d, s.lastError())
}
