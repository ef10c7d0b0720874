// Package retry has the pauses between the tries of rlock. It keeps no state.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff returns how long to wait after copy n, counted from 1: 0, 20 ms, then
// doubling to 1 s, and up to a quarter more at random.
func Backoff(n int) time.Duration {
	if n <= 1 {
		return 0
	}
	d := min(5*time.Millisecond<<min(n, 8), time.Second)
	return d + rand.N(d/4)
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
