package rlock

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// CountDownLatch lets processes wait until a count is zero: Redisson's
// RCountDownLatch. The count is in the key name, which is deleted at zero. Then "0"
// is published on redisson_countdownlatch__channel__{name}.
//
// The count does not say which process counted down. So CountDown and TrySetCount
// are sent only once: after an error that is not a reply of the server it is unknown
// whether they ran. When a process dies before it counts down, the waiters wait on.
// Many goroutines may use a CountDownLatch.
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

// TrySetCount closes the latch with a count of n if it is open, and reports whether
// it did. Await waits only if n is more than 0.
func (l *CountDownLatch) TrySetCount(ctx context.Context, n int) (bool, error) {
	if err := checkCount("set count", n); err != nil {
		return false, err
	}
	set, err := readInt(l.c.awaitCall(ctx, l.call(latchTrySet, l.c.topo.publish, n), false))
	return set == 1, err
}

// CountDown lowers the count by one. At zero the latch opens and the waiters return.
// An open latch stays open. When ctx ends, or has ended already, CountDown returns
// ctx's error and the count-down continues in the background; do not call it again.
func (l *CountDownLatch) CountDown(ctx context.Context) error {
	k := l.call(latchCountDown, l.c.topo.publish)
	send := func(ctx context.Context) (any, error) { return l.c.run(ctx, k, false) }
	_, err := l.c.sendRelease(ctx, send, func(outcome) {})
	return err
}

// Count returns the count, 0 when the latch is open.
func (l *CountDownLatch) Count(ctx context.Context) (int, error) {
	n, err := l.c.counter(ctx, l.name)
	return max(n, 0), err
}

// Await waits until the latch is open, or returns ctx's error. If TrySetCount closes
// the latch again at once, a waiter of the earlier count may continue to wait.
func (l *CountDownLatch) Await(ctx context.Context) error { return l.await(ctx, forever) }

// TryAwait is Await, but waits at most for wait and then returns ErrTimeout. A wait
// of 0 or less means a single try.
func (l *CountDownLatch) TryAwait(ctx context.Context, wait time.Duration) error {
	return l.await(ctx, max(wait, 0))
}

func (l *CountDownLatch) await(ctx context.Context, wait time.Duration) error {
	return l.c.wait(ctx, latchWait{l}, time.Now(), wait)
}

// latchWait is the waitOp of Await: it is granted when the latch is open.
type latchWait struct{ l *CountDownLatch }

func (o latchWait) try(ctx context.Context) (grant, error) {
	n, err := o.l.Count(ctx)
	return grant{ok: err == nil && n == 0, ttl: -1}, err
}

func (latchWait) contended() {}

func (o latchWait) channel() (string, bool) { return o.l.channel, true }

func (l *CountDownLatch) call(s *script, args ...any) call {
	return s.call([]string{l.name, l.channel}, args...)
}
