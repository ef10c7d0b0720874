package rlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// RateType says which clients share a RateLimiter's rate.
type RateType int

// The values are the ones that Redisson stores in Redis.
const (
	Overall   RateType = 0 // all clients share the rate
	PerClient RateType = 1 // each Options.ID has the rate for itself
)

// RateConfig is the rate of a RateLimiter: Rate permits in each Interval. A duration of more
// than 100 years counts as 100 years.
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

// Name returns the limiter's name.
func (r *RateLimiter) Name() string { return r.name }

// TrySetRate sets a rate if the limiter has none, and reports whether it did.
func (r *RateLimiter) TrySetRate(ctx context.Context, config RateConfig) (bool, error) {
	latch := r.c.newLatch(r.name)
	set, err := r.configure(ctx, scripts.RateTrySet, []string{r.name, latch}, config, latch)
	return set == 1, err
}

// SetRate sets or replaces the rate, and forgets the permits granted before. With
// PerClient, it forgets the permits of this client only.
func (r *RateLimiter) SetRate(ctx context.Context, config RateConfig) error {
	latch := r.c.newLatch(r.name)
	_, err := r.configure(ctx, scripts.RateSet, r.keysWith(latch), config, latch)
	return err
}

func (r *RateLimiter) keysWith(latch string) []string {
	return append(r.keys[:len(r.keys):len(r.keys)], latch)
}

func (r *RateLimiter) configure(
	ctx context.Context, s *scripts.Script, keys []string, c RateConfig, latch string,
) (int, error) {
	var reason string
	switch {
	case c.Rate <= 0:
		reason = "Rate must be positive"
	case int64(c.Rate) > maxCount:
		reason = fmt.Sprintf("Rate must be at most %d", maxCount)
	case c.Interval < time.Millisecond:
		reason = "Interval must be at least 1 ms"
	case c.KeepAlive < 0:
		reason = "KeepAlive is negative"
	case c.Type != Overall && c.Type != PerClient:
		reason = "unknown Type"
	default:
		k := sender.NewCall(s, keys, c.Rate, wholeMS(c.Interval).Milliseconds(), int(c.Type),
			wholeMS(c.KeepAlive).Milliseconds(), countLife.Milliseconds())
		return r.c.change(ctx, k, latch)
	}
	return 0, fmt.Errorf("rlock: set rate: %+v: %s", c, reason)
}

// Config returns the limiter's rate, or ErrNoRate.
func (r *RateLimiter) Config(ctx context.Context) (RateConfig, error) {
	reply, err := r.c.ask(ctx, readKey(r.name, "hmget", "rate", "interval", "type", "keepAliveTime"))
	if err != nil {
		return RateConfig{}, err
	}
	fields, _ := reply.([]any)
	var n [4]int64
	for i, field := range fields {
		text, ok := field.(string)
		if !ok && i < 3 { // Redisson before 3.37 stores no keepAliveTime
			return RateConfig{}, ErrNoRate
		}
		if n[i], err = strconv.ParseInt(text, 10, 64); ok && err != nil {
			return RateConfig{}, sender.UnexpectedReply(reply)
		}
	}
	return RateConfig{
		Type: RateType(n[2]), Rate: int(n[0]),
		Interval:  fromMS(n[1]),
		KeepAlive: fromMS(n[3]),
	}, nil
}

// Acquire waits until n permits are free and acquires them. n must be positive. It
// returns ErrOverRate when n is more than the rate, and ErrNoRate without a rate. It
// accepts the option Wait, and returns ErrTimeout at once when the permits cannot be
// free in time.
func (r *RateLimiter) Acquire(ctx context.Context, n int, options ...Option) error {
	requireContext(ctx)
	s, err := permitSettings(r.name, n, options)
	if err != nil {
		return err
	}
	if err := r.c.enter(); err != nil {
		return err
	}
	defer r.c.leave()
	s.noLease, s.unsynced = true, true
	id := r.c.newRequestID()
	k := &rateClaim{r: r, n: n, id: id[:], latch: latchKey(r.name, id)}
	a := r.c.newAcquisition(ctx, k, s, time.Now())
	err = a.end(r.c.wait(ctx, rateWait{a}, a.start, s.wait))
	if err == nil && a.strays > 0 { // a late copy must not take permits of a later interval
		r.c.seal(ctx, k.latch)
	}
	return err
}

// rateWait is an acquisition of permits that cannot be free before a known time.
type rateWait struct{ *acquisition }

func (w rateWait) try(ctx context.Context) (grant, error) {
	g, err := w.acquisition.try(ctx)
	if err == nil && !g.ok && w.wait >= 0 && time.Since(w.start)+g.ttl > w.wait {
		err = ErrTimeout
	}
	return g, err
}

// rateClaim is the claim to permits of a rate limiter.
type rateClaim struct {
	r     *RateLimiter
	n     int
	id    []byte
	latch string
}

func (k *rateClaim) event() Event            { return Event{Kind: "rate", Name: k.r.name} }
func (k *rateClaim) latchKey() string        { return k.latch }
func (k *rateClaim) queues() bool            { return false }
func (k *rateClaim) wasHeld(int64) bool      { return true }
func (k *rateClaim) channel() (string, bool) { return "", false }

func (k *rateClaim) acquire(time.Duration, bool, copyKind) sender.Call {
	return sender.NewCall(scripts.RateAcquire, k.r.keysWith(k.latch), k.n, k.id)
}

func (k *rateClaim) release() sender.Call {
	return sender.NewCall(scripts.RateUndo, k.r.keysWith(k.latch), k.n, k.id, latchLife.Milliseconds())
}

// Replies of the scripts for ErrNoRate and ErrOverRate.
const (
	noRate   = -1
	overRate = -2
)

// granted reads a reply of rate_acquire: a string for granted, or the number of ms
// until the next try.
func (k *rateClaim) granted(reply any) (grant, error) {
	ms, isNumber := reply.(int64)
	_, isString := reply.(string)
	switch {
	case isString:
		return grant{ok: true}, nil
	case !isNumber:
		return grant{}, sender.UnexpectedReply(reply)
	case ms == noRate:
		return grant{}, ErrNoRate
	case ms == overRate:
		return grant{}, ErrOverRate
	case ms == scripts.Over:
		return grant{}, errClaimOver
	}
	return grant{ttl: fromMS(ms), exact: true}, nil
}

// Release returns n permits before their interval ends. n must be positive. The
// number of free permits does not exceed the rate. Waiters are not woken. The
// released grants still expire at their time, as in Redisson 3.52.
func (r *RateLimiter) Release(ctx context.Context, n int) error {
	if err := checkCount("release permits of", r.name, n, 1); err != nil {
		return err
	}
	latch := r.c.newLatch(r.name)
	reply, err := r.c.change(ctx,
		sender.NewCall(scripts.RateRelease, r.keysWith(latch), n, countLife.Milliseconds()), latch)
	if err == nil && reply == noRate {
		err = ErrNoRate
	}
	return err
}

// Available returns the number of free permits, or ErrNoRate.
func (r *RateLimiter) Available(ctx context.Context) (int, error) {
	reply, err := r.c.ask(ctx, sender.NewCall(scripts.RateAvailable, r.keys))
	if err != nil {
		return 0, err
	}
	n, err := sender.ReadInts(reply, 1)
	if err != nil {
		return 0, ErrNoRate
	}
	return int(n[0]), nil
}
