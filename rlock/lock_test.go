package rlock_test

import (
	"context"
	"errors"
	"flag"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/redistest"
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
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// acquire acquires l with a context of its own.
func acquire(t testing.TB, l *rlock.Lock, o ...rlock.Option) *rlock.Hold {
	t.Helper()
	return rlocksuite.Acquire(t, context.Background(), l, o...)
}

func acquireIn(t testing.TB, ctx context.Context, l *rlock.Lock, o ...rlock.Option) *rlock.Hold {
	t.Helper()
	return rlocksuite.Acquire(t, ctx, l, o...)
}

// release releases holds that are not lost.
func release(t testing.TB, holds ...*rlock.Hold) {
	t.Helper()
	rlocksuite.Release(t, holds...)
}

// try tries once to acquire l.
func try(l *rlock.Lock, o ...rlock.Option) error {
	return rlocksuite.Try(context.Background(), l, o...)
}

func tryIn(ctx context.Context, l *rlock.Lock, o ...rlock.Option) error {
	return rlocksuite.Try(ctx, l, o...)
}

// mustBe checks that err is want.
func mustBe(t testing.TB, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("the error is %v, not %v", err, want)
	}
}

func TestTheSuiteOnLockredis(t *testing.T) {
	t.Parallel()
	rlocksuite.RunParallel(t, func(t testing.TB) redis.UniversalClient { return connect(t) })
}

// connectToCluster starts a cluster of n nodes of lockredis.
func connectToCluster(t testing.TB, n int) *redis.ClusterClient {
	t.Helper()
	var addrs []string
	for _, srv := range lockredis.NewCluster(make([]lockredis.Config, n)...) {
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { srv.Close() })
		addrs = append(addrs, srv.Addr())
	}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, PoolSize: 100})
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func TestTheSuiteOnAClusterOfLockredis(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			rlocksuite.Run(t, func(t testing.TB) redis.UniversalClient { return connectToCluster(t, n) })
		})
	}
}

// The tests share a server and its Sentinels: finding each other takes the Sentinels longer
// than a test takes.
func TestTheSuiteOnLockredisBehindSentinels(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	var clients []*redis.Client
	defer closeAgain(t, &clients, goleak.IgnoreCurrent())
	srv := lockredis.New(lockredis.Config{Password: "secret"})
	must(t, srv.Start())
	defer srv.Close()
	sentinels, err := lockredis.StartSentinels(t.Context(), lockredis.SentinelConfig{
		Addr: srv.Addr(), MasterPassword: "secret", Password: "sesame",
	})
	must(t, err)
	defer sentinels.Close()
	rlocksuite.Run(t, func(t testing.TB) redis.UniversalClient {
		rdb := redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: "mymaster", SentinelAddrs: sentinels.Addrs(), SentinelPassword: "sesame",
			Password: "secret", PoolSize: 100,
		})
		clients = append(clients, rdb)
		t.Cleanup(func() { rdb.Close() })
		must(t, rdb.FlushAll(context.Background()).Err())
		return rdb
	})
}

// closeAgain closes failover clients until their goroutines have ended. A dial that is under way
// when go-redis closes such a client connects to a Sentinel once more. Only another Close ends that
// connection.
func closeAgain(t *testing.T, clients *[]*redis.Client, before goleak.Option) {
	eventually(t, "the goroutines of failover clients end", func() bool {
		for _, rdb := range *clients {
			rdb.Close()
		}
		return goleak.Find(before) == nil
	})
}

func TestTheSuitePassesWhenEveryScriptIsSentTwice(t *testing.T) {
	redistest.SkipUnlessWhole(t)
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
		h, err := l.Acquire(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Release(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "6") // parallel tests wait for time to pass; -parallel overrides it
	debug.SetGCPercent(400)        // each test allocates a server and drops it
	goleak.VerifyTestMain(m)
}
