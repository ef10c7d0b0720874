package rlock_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/rlocksuite"
	"github.com/lockredis/lockredis/rlock"
)

// connect returns a client of a new server.
func connect(t testing.TB) *redis.Client {
	t.Helper()
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr(), PoolSize: 100})
	t.Cleanup(func() { rdb.Close(); srv.Close() })
	return rdb
}

func newClient(t testing.TB, rdb redis.UniversalClient, o rlock.Options) *rlock.Client {
	t.Helper()
	c := rlock.New(rdb, o)
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSuiteOnLockredis(t *testing.T) {
	rlocksuite.Run(t, func(t testing.TB) redis.UniversalClient { return connect(t) })
}

func TestTheSuitePassesWhenEveryScriptIsSentTwice(t *testing.T) {
	rlocksuite.Run(t, func(t testing.TB) redis.UniversalClient {
		rdb := connect(t)
		rlocksuite.SendTwice(rdb)
		return rdb
	})
}

func BenchmarkPair(b *testing.B) {
	rdb := connect(b)
	ctx := context.Background()
	c := newClient(b, rdb, rlock.Options{})
	l := c.Lock("l")
	for b.Loop() {
		if err := l.Lock(ctx); err != nil {
			b.Fatal(err)
		}
		if err := l.Unlock(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
