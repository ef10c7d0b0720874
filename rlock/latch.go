package rlock

import (
	"context"
	"time"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/scripts"
)

// CountDownLatch lets processes wait until a count is zero: Redisson's
// RCountDownLatch. The count is in the key name, which is deleted at zero. Then "0"
// is published on redisson_countdownlatch__channel__{name}.
//
// The count does not say which process counted down. When a process dies before it
// counts down, the waiters wait on. Many goroutines may use a CountDownLatch.
type CountDownLatch struct{ counter }

// CountDownLatch returns the latch of the given name. It is open, with a count
// of 0, until TrySetCount.
func (c *Client) CountDownLatch(name string) *CountDownLatch {
	return &CountDownLatch{counter{c, name, lockkeys.CountDownChannel(name, c.sender.Sharded())}}
}

// Name returns the latch's name.
func (l *CountDownLatch) Name() string { return l.name }

// TrySetCount closes the latch with a count of n if it is open, and reports whether
// it did. Await waits only if n is more than 0.
func (l *CountDownLatch) TrySetCount(ctx context.Context, n int) (bool, error) {
	return l.create(ctx, "set count of", n, "1")
}

// CountDown lowers the count by one. At zero the latch opens and the waiters return.
// An open latch stays open. When ctx ends, or has ended already, CountDown returns
// ctx's error and the count-down continues in the background; do not call it again.
func (l *CountDownLatch) CountDown(ctx context.Context) error {
	_, err := l.change(ctx, scripts.CountdownDown)
	return err
}

// Count returns the count, 0 when the latch is open.
func (l *CountDownLatch) Count(ctx context.Context) (int, error) {
	n, err := l.value(ctx)
	return max(n, 0), err
}

// Await waits until the latch is open, or returns ctx's error. It accepts the option
// Wait. If TrySetCount closes the latch again at once, a waiter of the earlier count
// may continue to wait.
func (l *CountDownLatch) Await(ctx context.Context, options ...Option) error {
	requireContext(ctx)
	s, err := waitSettings("await", l.name, options)
	if err != nil {
		return err
	}
	return l.c.wait(ctx, latchWait{l, s.tryLimit(l.c.opts)}, time.Now(), s.wait)
}

// latchWait is the waitOp of Await: it is granted when the latch is open.
type latchWait struct {
	l     *CountDownLatch
	limit time.Duration // of one request
}

func (o latchWait) try(ctx context.Context) (grant, error) {
	n, err := o.l.c.askNumber(ctx, readKey(o.l.name, "get"), o.limit)
	return grant{ok: err == nil && n <= 0, ttl: -1}, err
}

func (latchWait) contended() {}

func (o latchWait) channel() (string, bool) { return o.l.channel, true }
