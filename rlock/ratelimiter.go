package rlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// RateType says which clients share a RateLimiter's rate.
type RateType int

// The values are the ones that Redisson stores in Redis.
const (
	Overall   RateType = 0 // all clients share the rate
	PerClient RateType = 1 // each Options.ID has the rate for itself
)

// RateConfig is the rate of a RateLimiter: Rate permits in each Interval.
type RateConfig struct {
	Type     RateType
	Rate     int
	Interval time.Duration // truncated to milliseconds

	// KeepAlive is how long the limiter and its rate stay in Redis after the last
	// acquisition. 0 means for ever.
	KeepAlive time.Duration
}

var (
	// ErrNoRate means that the rate limiter has no rate, or that its rate expired.
	ErrNoRate = errors.New("rlock: the rate limiter has no rate")

	// ErrOverRate means that an acquisition asked for more permits than the rate,
	// so it can never be granted.
	ErrOverRate = errors.New("rlock: more permits than the rate")
)

// RateLimiter grants permits at a limited rate: Redisson's RRateLimiter. Its
// configuration is a hash. {name}:value has the number of free permits, and
// {name}:permits the permits granted within the interval; the score is the time of
// the grant in ms. With PerClient, each client has its own two keys, which end with
// the client id.
//
// Permits are free again when the interval ends, so a crash costs nothing more.
// Each grant is stored with a request id. So when a reply is lost and the
// acquisition is sent again, it counts once. Times are measured on the server's
// clock. Redisson uses its own clock, so the clocks of Java clients should agree
// with the server's. Waiters are served in no particular order. Requests do not
// wait for replicas: a failover may lose the last acquisitions. Many goroutines may
// use a RateLimiter.
type RateLimiter struct {
	c    *Client
	name string
	keys []string
}

// RateLimiter returns the rate limiter of the given name. Set a rate before use.
func (c *Client) RateLimiter(name string) *RateLimiter {
	value, permits := lockkeys.RateValue(name), lockkeys.RatePermits(name)
	return &RateLimiter{c: c, name: name, keys: []string{
		name, value, value + ":" + c.opts.ID, permits, permits + ":" + c.opts.ID,
	}}
}

const rateKind = "rate"

// Name returns the limiter's name.
func (r *RateLimiter) Name() string { return r.name }

// TrySetRate sets a rate if the limiter has none, and reports whether it did. The
// request is not retried when the reply is lost.
func (r *RateLimiter) TrySetRate(ctx context.Context, config RateConfig) (bool, error) {
	k, err := r.configure(rateTrySet, config)
	if err != nil {
		return false, err
	}
	set, err := readInt(r.c.awaitCall(ctx, k, false))
	return set == 1, err
}

// SetRate sets or replaces the rate, and forgets the permits granted before. With
// PerClient, it forgets the permits of this client only.
func (r *RateLimiter) SetRate(ctx context.Context, config RateConfig) error {
	k, err := r.configure(rateSet, config)
	if err != nil {
		return err
	}
	_, err = r.c.awaitCall(ctx, k, true)
	return err
}

func (r *RateLimiter) configure(s *script, c RateConfig) (call, error) {
	var reason string
	switch {
	case c.Rate <= 0:
		reason = "Rate must be positive"
	case c.Interval < time.Millisecond:
		reason = "Interval must be at least 1 ms"
	case c.KeepAlive < 0:
		reason = "KeepAlive is negative"
	case c.Type != Overall && c.Type != PerClient:
		reason = "unknown Type"
	default:
		ms := c.Interval.Milliseconds()
		return s.call(r.keys, c.Rate, ms, int(c.Type), c.KeepAlive.Milliseconds()), nil
	}
	return call{}, fmt.Errorf("rlock: set rate: %+v: %s", c, reason)
}

// Config returns the limiter's rate, or ErrNoRate.
func (r *RateLimiter) Config(ctx context.Context) (RateConfig, error) {
	reply, err := r.c.awaitRead(ctx, "hmget", r.name, "rate", "interval", "type", "keepAliveTime")
	if err != nil {
		return RateConfig{}, err
	}
	fields, _ := reply.([]any)
	var n [4]int
	for i, field := range fields {
		text, ok := field.(string)
		if !ok && i < 3 { // Redisson before 3.37 stores no keepAliveTime
			return RateConfig{}, ErrNoRate
		}
		if n[i], err = strconv.Atoi(text); ok && err != nil {
			return RateConfig{}, unexpectedReply(reply)
		}
	}
	return RateConfig{
		Type: RateType(n[2]), Rate: n[0],
		Interval:  time.Duration(n[1]) * time.Millisecond,
		KeepAlive: time.Duration(n[3]) * time.Millisecond,
	}, nil
}

// Acquire waits until n permits are free and acquires them. It returns ErrOverRate
// when n is more than the rate, and ErrNoRate without a rate. With n = 0 it does
// nothing; a negative n is an error.
func (r *RateLimiter) Acquire(ctx context.Context, n int) error {
	return r.acquire(ctx, n, forever)
}

// TryAcquire is Acquire, but waits at most for wait and then returns ErrTimeout. It
// returns ErrTimeout at once when the permits cannot be free in time. A wait of 0 or
// less means a single try.
func (r *RateLimiter) TryAcquire(ctx context.Context, n int, wait time.Duration) error {
	return r.acquire(ctx, n, max(wait, 0))
}

func (r *RateLimiter) acquire(ctx context.Context, n int, limit time.Duration) error {
	if n <= 0 {
		return checkCount("acquire permits", n)
	}
	a := r.acquisition(n)
	start := time.Now()
	err := within(ctx, start, limit, func(ctx context.Context) error {
		return r.obtain(ctx, a, start, limit)
	})
	if err == nil {
		a.acquired(start)
	}
	return err
}

// obtain tries until the permits are granted. After each try it waits until the time
// at which, by the server's reply, permits will be free.
func (r *RateLimiter) obtain(
	ctx context.Context, a *acquisition, start time.Time, limit time.Duration,
) error {
	for waited := false; ; waited = true {
		g, err := a.try(ctx)
		switch {
		case err != nil || g.ok:
			return err
		case limit >= 0 && time.Since(start)+g.ttl > limit:
			return ErrTimeout
		case !waited:
			a.contended()
		}
		t := time.NewTimer(g.ttl)
		select {
		case <-t.C:
		case <-ctx.Done():
		case <-r.c.ctx.Done():
		}
		t.Stop()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case r.c.ctx.Err() != nil:
			return ErrClosed
		}
	}
}

func (r *RateLimiter) acquisition(n int) *acquisition {
	request := r.c.newRequestID()
	k, back := rateAcquire.call(r.keys, n, request[:]), rateUndo.call(r.keys, n, request[:])
	return &acquisition{
		c: r.c, kind: rateKind, name: r.name, read: acquiredRate,
		command: func(ctx context.Context) (any, error) { return r.c.run(ctx, k, true) },
		undo: func(bool) {
			r.c.retryUntilAnswered(r.c.opts.Lease, func(ctx context.Context) (any, error) {
				return r.c.run(ctx, back, true)
			})
		},
	}
}

// Replies of the scripts for ErrNoRate and ErrOverRate.
const (
	noRate   = -1
	overRate = -2
)

// acquiredRate reads a reply of rateAcquire: nil for granted, or the number of ms
// until the next try.
func acquiredRate(reply any) (grant, error) {
	ms, isNumber := reply.(int64)
	switch {
	case reply == nil:
		return grant{ok: true}, nil
	case !isNumber:
		return grant{}, unexpectedReply(reply)
	case ms == noRate:
		return grant{}, ErrNoRate
	case ms == overRate:
		return grant{}, ErrOverRate
	}
	return grant{ttl: time.Duration(ms) * time.Millisecond}, nil
}

// Release returns n permits before their interval ends. The number of free permits
// does not exceed the rate. Waiters are not woken. The released grants still expire
// at their time, as in Redisson 3.52. The request is not retried when the reply is
// lost. With n = 0 it does nothing; a negative n is an error.
func (r *RateLimiter) Release(ctx context.Context, n int) error {
	if n <= 0 {
		return checkCount("release permits", n)
	}
	reply, err := readInt(r.c.awaitCall(ctx, rateRelease.call(r.keys, n), false))
	if err == nil && reply == noRate {
		err = ErrNoRate
	}
	return err
}

// Available returns the number of free permits, or ErrNoRate.
func (r *RateLimiter) Available(ctx context.Context) (int, error) {
	reply, err := r.c.awaitCall(ctx, rateAvailable.call(r.keys), true)
	if err != nil {
		return 0, err
	}
	n, err := readInts(reply, 1)
	if err != nil {
		return 0, ErrNoRate
	}
	return int(n[0]), nil
}
