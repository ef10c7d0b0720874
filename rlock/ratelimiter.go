package rlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// RateType says who shares a RateLimiter's rate.
type RateType int

// The numbers are those in Redis.
const (
	Overall   RateType = 0 // all clients together
	PerClient RateType = 1 // each Client by itself, told apart by Options.ID
)

// RateConfig is what a RateLimiter allows: Rate permits in each Interval.
type RateConfig struct {
	Type     RateType
	Rate     int
	Interval time.Duration // in steps of a millisecond

	// KeepAlive is how long the limiter and its rate stay in Redis when nobody
	// acquires; 0 means for ever.
	KeepAlive time.Duration
}

var (
	// ErrNoRate tells that a rate limiter has no rate, or has it no longer.
	ErrNoRate = errors.New("rlock: the rate limiter has no rate")

	// ErrOverRate tells that more was asked for than a rate limiter ever gives at
	// once.
	ErrOverRate = errors.New("rlock: more permits than the rate")
)

// RateLimiter gives out permits at a limited rate: Redisson's RRateLimiter. Its
// configuration is a hash; {name}:value has the number of free permits and
// {name}:permits those given out within the interval, by their time in ms. A
// limiter per client has these two for each, with its id at the end.
//
// Permits come back by themselves when the interval is over, so a crash costs
// nothing more. What was given out bears a request's name, so that an
// acquisition that is sent again, because its reply was lost, counts once. Time
// is the server's; Redisson takes its own, so the clocks of Java clients should
// agree with the server's. There is no order among those who wait. Nothing is
// awaited from replicas: a failover may lose what was acquired last. A
// RateLimiter may be used by many goroutines.
type RateLimiter struct {
	c    *Client
	name string
	keys []string
}

// RateLimiter returns the rate limiter of the given name. It needs a rate before
// use.
func (c *Client) RateLimiter(name string) *RateLimiter {
	value, permits := lockkeys.RateValue(name), lockkeys.RatePermits(name)
	return &RateLimiter{c: c, name: name, keys: []string{
		name, value, value + ":" + c.opts.ID, permits, permits + ":" + c.opts.ID,
	}}
}

const rateKind = "rate"

// Name returns the limiter's name.
func (r *RateLimiter) Name() string { return r.name }

// TrySetRate sets a rate if the limiter has none, and reports whether it did. It
// is not sent again when the reply is lost.
func (r *RateLimiter) TrySetRate(ctx context.Context, config RateConfig) (bool, error) {
	k, err := r.configure(rateTrySet, config)
	if err != nil {
		return false, err
	}
	set, err := number(r.c.order(ctx, k, false))
	return set == 1, err
}

// SetRate sets a rate whatever there was, and forgets what was given out: with a
// limiter per client, to this one.
func (r *RateLimiter) SetRate(ctx context.Context, config RateConfig) error {
	k, err := r.configure(rateSet, config)
	if err != nil {
		return err
	}
	_, err = r.c.order(ctx, k, true)
	return err
}

func (r *RateLimiter) configure(s *script, c RateConfig) (call, error) {
	if c.Rate <= 0 || c.Interval < time.Millisecond || c.KeepAlive < 0 || c.Type != Overall && c.Type != PerClient {
		return call{}, fmt.Errorf("rlock: rate %+v", c)
	}
	return s.call(r.keys, c.Rate, c.Interval.Milliseconds(), int(c.Type), c.KeepAlive.Milliseconds()), nil
}

// Config returns the limiter's rate, or ErrNoRate.
func (r *RateLimiter) Config(ctx context.Context) (RateConfig, error) {
	reply, err := r.c.ask(ctx, "hmget", r.name, "rate", "interval", "type", "keepAliveTime")
	if err != nil {
		return RateConfig{}, err
	}
	fields, _ := reply.([]any)
	var n [4]int
	for i, field := range fields {
		text, ok := field.(string)
		if !ok && i < 3 { // Redisson before 3.37 has no keepAliveTime
			return RateConfig{}, ErrNoRate
		}
		if n[i], err = strconv.Atoi(text); ok && err != nil {
			return RateConfig{}, strange(reply)
		}
	}
	return RateConfig{
		Type: RateType(n[2]), Rate: n[0],
		Interval:  time.Duration(n[1]) * time.Millisecond,
		KeepAlive: time.Duration(n[3]) * time.Millisecond,
	}, nil
}

// Acquire waits until n permits are free and takes them. It returns ErrNoRate,
// and ErrOverRate when n is more than the rate. 0 takes none, and less is an
// error.
func (r *RateLimiter) Acquire(ctx context.Context, n int) error { return r.acquire(ctx, n, forever) }

// TryAcquire is Acquire, but waits no longer than wait, 0 or less being not at
// all. It ends with ErrTimeout, at once when it is clear that the permits will
// not be there in time.
func (r *RateLimiter) TryAcquire(ctx context.Context, n int, wait time.Duration) error {
	return r.acquire(ctx, n, max(wait, 0))
}

func (r *RateLimiter) acquire(ctx context.Context, n int, limit time.Duration) error {
	if n <= 0 {
		return negative(n)
	}
	a := r.asking(n)
	start := time.Now()
	err := within(ctx, start, limit, func(ctx context.Context) error { return r.obtain(ctx, a, start, limit) })
	if err == nil {
		a.acquired(start)
	}
	return err
}

// obtain tries each time that the server said permits would be free.
func (r *RateLimiter) obtain(ctx context.Context, a *asking, start time.Time, limit time.Duration) error {
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

func (r *RateLimiter) asking(n int) *asking {
	request := r.c.newRequest()
	k, back := rateAcquire.call(r.keys, n, request[:]), rateUndo.call(r.keys, n, request[:])
	return &asking{
		c: r.c, kind: rateKind, name: r.name, read: acquiredRate,
		ask: func(ctx context.Context) (any, error) { return r.c.run(ctx, k, true) },
		takeBack: func(bool) {
			r.c.persist(r.c.opts.Lease, func(ctx context.Context) (any, error) { return r.c.run(ctx, back, true) })
		},
	}
}

// What the scripts answer when they do nothing.
const (
	noRate   = -1
	overRate = -2
)

// acquiredRate reads nil for granted, or after how many ms to ask again.
func acquiredRate(reply any) (grant, error) {
	ms, isNumber := reply.(int64)
	switch {
	case reply == nil:
		return grant{ok: true}, nil
	case !isNumber:
		return grant{}, strange(reply)
	case ms == noRate:
		return grant{}, ErrNoRate
	case ms == overRate:
		return grant{}, ErrOverRate
	}
	return grant{ttl: time.Duration(ms) * time.Millisecond}, nil
}

// Release gives n permits back before their interval is over, never more than
// the rate has. Those who wait are not told; what was given out still ends by
// its time (Redisson 3.52). It is not sent again when the reply is lost.
func (r *RateLimiter) Release(ctx context.Context, n int) error {
	if n <= 0 {
		return negative(n)
	}
	reply, err := number(r.c.order(ctx, rateRelease.call(r.keys, n), false))
	if err == nil && reply == noRate {
		err = ErrNoRate
	}
	return err
}

// Available returns how many permits are free, or ErrNoRate.
func (r *RateLimiter) Available(ctx context.Context) (int, error) {
	reply, err := r.c.order(ctx, rateAvailable.call(r.keys), true)
	if err != nil {
		return 0, err
	}
	n, err := numbers(reply, 1)
	if err != nil {
		return 0, ErrNoRate
	}
	return int(n[0]), nil
}
