package rlock

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/rlock/internal/scripts"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// counter is the number of a semaphore or a count-down latch. Its key is name. Waiters
// learn of its changes on channel.
type counter struct {
	c       *Client
	name    string
	channel string
}

// create sets the counter to n if it does not exist, and then publishes message. It
// reports whether it did. op is the operation in an error.
func (k *counter) create(ctx context.Context, op string, n int, message any) (bool, error) {
	if err := checkCount(op, k.name, n, 0); err != nil {
		return false, err
	}
	created, err := k.change(ctx, scripts.CounterCreate, n, message)
	return created == 1, err
}

// change runs a script that changes the counter.
func (k *counter) change(ctx context.Context, s *scripts.Script, args ...any) (int, error) {
	change, latch := k.changing(s, args...)
	return k.c.change(ctx, change, latch)
}

// changing returns the call of a script that changes the counter, and its latch.
func (k *counter) changing(s *scripts.Script, args ...any) (change sender.Call, latch string) {
	latch = k.c.newLatch(k.name)
	args = append([]any{k.c.sender.PublishCommand(), countLife.Milliseconds()}, args...)
	return sender.NewCall(s, []string{k.name, k.channel, latch}, args...), latch
}

// value returns the number, 0 if the counter does not exist.
func (k *counter) value(ctx context.Context) (int, error) {
	return k.c.askNumber(ctx, readKey(k.name, "get"), k.c.opts.RetryFor)
}

// askNumber sends a request that reads a number, and returns 0 if there is none. It asks
// for at most limit.
func (c *Client) askNumber(ctx context.Context, k sender.Call, limit time.Duration) (int, error) {
	reply, err := c.askFor(ctx, k, limit)
	if err != nil || reply == nil {
		return 0, err
	}
	text, _ := reply.(string)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("rlock: the value of %q is %q, not a number", k.Key(), text)
	}
	return n, nil
}
