package rlock

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// CountDownLatch lets processes wait until others have counted down to zero:
// Redisson's RCountDownLatch, a counter in the key of its name that is deleted
// at zero. Then "0" is published on redisson_countdownlatch__channel__{name}.
//
// The counter does not name who counted. So CountDown and TrySetCount are never
// sent twice: after an error that is no answer of the server nobody knows
// whether they ran. A process that dies before it counted down leaves the others
// waiting. A CountDownLatch may be used by many goroutines.
type CountDownLatch struct {
	c       *Client
	name    string
	channel string
}

// CountDownLatch returns the latch of the given name. It is open, with a count
// of 0, until TrySetCount.
func (c *Client) CountDownLatch(name string) *CountDownLatch {
	channel := lockkeys.CountDownChannel(name, c.topo.sharded)
	return &CountDownLatch{c: c, name: name, channel: channel}
}

var (
	latchTrySet = newScript(`
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[2])
redis.call(ARGV[1], KEYS[2], '1')
return 1`)

	latchCountDown = newScript(`
local left = redis.call('decr', KEYS[1])
if left <= 0 then redis.call('del', KEYS[1]) end
if left == 0 then redis.call(ARGV[1], KEYS[2], '0') end
return left`)
)

// Name returns the latch's name.
func (l *CountDownLatch) Name() string { return l.name }

// TrySetCount closes the latch with a count of n if it is open, and reports
// whether it did. n must be more than 0 to keep anybody waiting.
func (l *CountDownLatch) TrySetCount(ctx context.Context, n int) (bool, error) {
	if err := negative(n); err != nil {
		return false, err
	}
	set, err := number(l.c.order(ctx, l.call(latchTrySet, l.c.topo.publish, n), false))
	return set == 1, err
}

// CountDown takes one off the count. At zero the latch opens and those who wait
// go on; an open latch stays open. When ctx ends, or has ended already, it
// returns ctx's error and the command goes on in the background: it must not be
// repeated.
func (l *CountDownLatch) CountDown(ctx context.Context) error {
	k := l.call(latchCountDown, l.c.topo.publish)
	_, err := l.c.giveBack(ctx, func(ctx context.Context) (any, error) { return l.c.run(ctx, k, false) }, func(outcome) {})
	return err
}

// Count returns the count, 0 when the latch is open.
func (l *CountDownLatch) Count(ctx context.Context) (int, error) {
	n, err := l.c.counter(ctx, l.name)
	return max(n, 0), err
}

// Await waits until the latch is open, or ends with ctx. A latch that is closed
// again at once, by TrySetCount, may keep those who waited for the first one.
func (l *CountDownLatch) Await(ctx context.Context) error { return l.await(ctx, forever) }

// TryAwait is Await, but waits no longer than wait, 0 or less being not at all,
// and ends with ErrTimeout then.
func (l *CountDownLatch) TryAwait(ctx context.Context, wait time.Duration) error {
	return l.await(ctx, max(wait, 0))
}

func (l *CountDownLatch) await(ctx context.Context, wait time.Duration) error {
	return l.c.wait(ctx, opening{l}, time.Now(), wait)
}

// opening is what waits until a latch is open.
type opening struct{ l *CountDownLatch }

func (o opening) try(ctx context.Context) (grant, error) {
	n, err := o.l.Count(ctx)
	return grant{ok: err == nil && n == 0, ttl: -1}, err
}

func (opening) contended() {}

func (o opening) channel() (string, bool) { return o.l.channel, true }

func (l *CountDownLatch) call(s *script, args ...any) call {
	return s.call([]string{l.name, l.channel}, args...)
}
