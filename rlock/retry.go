package rlock

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// backoff returns how long to pause before the nth attempt: from 50 ms doubling
// to 1 s, and jitter.
func backoff(n int) time.Duration {
	d := min(25*time.Millisecond<<min(n, 6), time.Second)
	return d + rand.N(d/4)
}

// answered reports whether the server answered, be it with an error: sending the
// command again would not bring more.
func answered(err error) bool {
	if err == nil || errors.Is(err, ErrNotSynced) {
		return true
	}
	var e redis.Error
	return errors.As(err, &e) && !passing(e)
}

// passing reports whether an error says that the server will answer later.
func passing(e redis.Error) bool {
	for _, prefix := range []string{"LOADING ", "READONLY ", "CLUSTERDOWN ", "TRYAGAIN ", "MASTERDOWN ", "BUSY ", "NOREPLICAS ", "MOVED ", "ASK "} {
		if strings.HasPrefix(e.Error(), prefix) {
			return true
		}
	}
	return false
}

// persist runs f until it is answered, at the longest for limit, and returns its
// last outcome. It goes on when the client is closed only as long as f takes.
func (c *Client) persist(limit time.Duration, f func(context.Context) (any, error)) outcome {
	end := time.Now().Add(limit)
	for n := 1; ; n++ {
		reply, err := f(context.WithoutCancel(c.ctx))
		if answered(err) || c.ctx.Err() != nil || !time.Now().Before(end) {
			return outcome{reply, err}
		}
		pause(c.ctx, backoff(n))
	}
}
