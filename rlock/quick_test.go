package rlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/rlock"
)

// connections returns the number of connections that the server has accepted.
func connections(t *testing.T, rdb *redis.Client) string {
	t.Helper()
	return rdb.InfoMap(context.Background(), "stats").Item("Stats", "total_connections_received")
}

// TestARequestThatTimesOutInSendQuickIsSentAgainAndCountsOnce uses a server that
// answers fast at first, so that sendQuick is used, and then slower than
// quickTimeout.
func TestARequestThatTimesOutInSendQuickIsSentAgainAndCountsOnce(t *testing.T) {
	p, direct := throughProxy(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := newClient(t, p.dial(t), rlock.Options{})
	l := c.Lock("l")
	for range 20 { // so that lastLatency is low
		must(t, l.Lock(ctx))
		must(t, l.Unlock(ctx))
	}
	slowly := func(f func(context.Context) error) {
		t.Helper()
		defer p.heal()
		before := connections(t, direct)
		p.hang()
		done := make(chan error)
		go func() { done <- f(ctx) }()
		eventually(t, "it is sent on another connection", func() bool {
			return connections(t, direct) != before
		})
		p.heal()
		must(t, <-done)
	}
	slowly(l.Lock)
	slowly(l.Lock)
	if n, err := l.HoldCount(ctx); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	slowly(l.Unlock)
	if n, err := l.HoldCount(ctx); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	slowly(l.Unlock)
	if n, err := l.HoldCount(ctx); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	s := c.Semaphore("s")
	must(t, s.Release(ctx, 3))
	must(t, s.Acquire(ctx, 1))
	if n := calls(t, direct, "incrby") + calls(t, direct, "decrby"); n != 2 {
		t.Fatalf("requests that must be sent once ran %d times", n)
	}
}
