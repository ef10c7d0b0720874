package hub_test

import (
	"context"
	"flag"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/rlock/internal/hub"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "6") // parallel tests wait for time to pass; -parallel overrides it
	goleak.VerifyTestMain(m)
}

// nodes are the servers of a go-redis client.
type nodes struct {
	rdb     redis.UniversalClient
	sharded bool
}

func (n nodes) Single() bool {
	_, cluster := n.rdb.(*redis.ClusterClient)
	return !cluster
}

func (n nodes) Master(ctx context.Context, channel string) (*redis.Client, error) {
	return n.rdb.(*redis.ClusterClient).MasterForKey(ctx, channel)
}

func (n nodes) Reload(ctx context.Context) {
	if rdb, cluster := n.rdb.(*redis.ClusterClient); cluster {
		rdb.ReloadState(ctx)
	}
}

func (n nodes) Sharded() bool { return n.sharded }

// newHub returns a hub that is closed at the end of the test, and a counter of its
// onReconnect calls.
func newHub(t testing.TB, rdb redis.UniversalClient, sharded bool) (*hub.Hub, *atomic.Int64) {
	t.Helper()
	var reconnects atomic.Int64
	h := hub.New(rdb, nodes{rdb, sharded}, func() { reconnects.Add(1) })
	t.Cleanup(func() { h.Close(context.Background()) })
	return h, &reconnects
}

func join(t testing.TB, h *hub.Hub, channel string, all bool) *hub.Waiter {
	t.Helper()
	w := h.Join(channel, all)
	if w == nil {
		t.Fatal("the hub is closed")
	}
	return w
}

// woken returns a function that reports whether w has a wake-up, and keeps it.
func woken(w *hub.Waiter) func() bool { return func() bool { return len(w.Wake()) > 0 } }

// within waits for c for 10 s.
func within(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("not within 10 s: %s", what)
	}
}

// eventually waits until f is true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		if f() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// connect starts a server and returns a client of it.
func connect(t testing.TB) *redis.Client {
	t.Helper()
	srv := lockredis.New(lockredis.Config{})
	must(t, srv.Start())
	rdb := redis.NewClient(&redis.Options{Addr: srv.Addr(), PoolSize: 100})
	t.Cleanup(func() { rdb.Close(); srv.Close() })
	return rdb
}
