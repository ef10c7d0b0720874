package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// backoff returns how long to wait after attempt n, counted from 1: 50 ms, doubling
// to 1 s, and up to a quarter more at random.
func backoff(n int) time.Duration {
	d := min(25*time.Millisecond<<min(n, 6), time.Second)
	return d + rand.N(d/4)
}

// answered reports whether the server gave its final answer, so that a retry is of
// no use: err is nil, ErrNotSynced, or an error reply that is not temporary.
func answered(err error) bool {
	if err == nil || errors.Is(err, ErrNotSynced) {
		return true
	}
	var e redis.Error
	return errors.As(err, &e) && !isTemporary(e)
}

var temporaryErrors = []string{
	"LOADING ", "READONLY ", "CLUSTERDOWN ", "TRYAGAIN ", "MASTERDOWN ", "BUSY ",
	"NOREPLICAS ", "MOVED ", "ASK ",
}

// isTemporary reports whether e is an error reply after which a retry may succeed.
func isTemporary(e redis.Error) bool {
	for _, prefix := range temporaryErrors {
		if strings.HasPrefix(e.Error(), prefix) {
			return true
		}
	}
	return false
}

// retryUntilAnswered runs f until the server answers or limit is over, and returns
// the last outcome. After Close there is no further retry.
func (c *Client) retryUntilAnswered(
	limit time.Duration, f func(context.Context) (any, error),
) outcome {
	end := time.Now().Add(limit)
	for n := 1; ; n++ {
		reply, err := f(context.WithoutCancel(c.ctx))
		if answered(err) || c.ctx.Err() != nil || !time.Now().Before(end) {
			return outcome{reply, err}
		}
		sleep(c.ctx, backoff(n))
	}
}
