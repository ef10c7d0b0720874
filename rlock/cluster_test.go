package rlock_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

// clusterOf returns a cluster client for the servers at the given addresses. Each
// server has the same number of slots. The servers themselves are single servers.
func clusterOf(t *testing.T, changes func(*redis.ClusterOptions),
	addrs ...string) *redis.ClusterClient {
	t.Helper()
	each := 16384 / len(addrs)
	var slots []redis.ClusterSlot
	for i, addr := range addrs {
		slots = append(slots,
			redis.ClusterSlot{Start: i * each, End: (i+1)*each - 1,
				Nodes: []redis.ClusterNode{{Addr: addr}}})
	}
	o := &redis.ClusterOptions{ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
		return slots, nil
	}}
	if changes != nil {
		changes(o)
	}
	rdb := redis.NewClusterClient(o)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func TestANodeThatHangsLosesOnlyTheLocksOnIt(t *testing.T) {
	virtually(t, func(t *testing.T) {
		hung, well := holding(t), holding(t)
		const hungAddr, wellAddr = "10.0.0.1:6379", "10.0.0.2:6379"
		rdb := clusterOf(t, func(o *redis.ClusterOptions) {
			o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr == hungAddr {
					return hung.Dial(ctx, network, addr)
				}
				return well.Dial(ctx, network, addr)
			}
		}, hungAddr, wellAddr)
		ctx := t.Context()
		var mu sync.Mutex
		renewed, lost := map[string]int{}, map[string]int{}
		c := rlock.New(rdb, rlock.Options{Sync: rlock.SyncOff, Lease: 300 * time.Millisecond,
			Observer: rlock.Observer{
				Renewed: func(_ context.Context, e rlock.Event) { mu.Lock(); renewed[e.Name]++; mu.Unlock() },
				Lost:    func(_ context.Context, e rlock.Event) { mu.Lock(); lost[e.Name]++; mu.Unlock() },
			}})
		var onWell, onHung []string
		for i := range 20 {
			name := "lock" + strconv.Itoa(i)
			node, err := rdb.MasterForKey(ctx, name)
			must(t, err)
			if node.Options().Addr == wellAddr {
				onWell = append(onWell, name)
			} else {
				onHung = append(onHung, name)
			}
			acquire(t, c.Lock(name))
		}
		all := func(names []string, n func(string) bool) func() bool {
			return func() bool {
				mu.Lock()
				defer mu.Unlock()
				return !slices.ContainsFunc(names, func(name string) bool { return !n(name) })
			}
		}
		eventually(t, "renewals", all(slices.Concat(onWell, onHung), func(n string) bool {
			return renewed[n] > 0
		}))
		hang := hung.Hang()
		defer func() { hang.Clear(); _ = c.Close(context.Background()) }()
		eventually(t, "the loss of what is on the hung node", all(onHung, func(n string) bool {
			return lost[n] == 1
		}))
		mu.Lock()
		clear(renewed)
		mu.Unlock()
		eventually(t, "renewals beside the hung node", all(onWell, func(n string) bool {
			return renewed[n] > 4
		}))
		if !all(onWell, func(n string) bool { return lost[n] == 0 })() {
			t.Fatal("a lock on the other node is lost")
		}
	})
}

func TestReadsGoToTheMaster(t *testing.T) {
	rdb := clusterOf(t, func(o *redis.ClusterOptions) { o.ReadOnly = true }, connect(t).Options().Addr)
	ctx := t.Context()
	var w commandNames
	rdb.OnNewNode(func(node *redis.Client) { node.AddHook(&w) })
	c := newClient(t, rdb, rlock.Options{Sync: rlock.SyncOff, ID: "me"})
	latch := c.CountDownLatch("latch")
	if set, err := latch.TrySetCount(ctx, 3); !set || err != nil {
		t.Fatal(set, err)
	}
	if n, err := latch.Count(ctx); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	l := c.Lock("l")
	h := acquire(t, l)
	if n, err := l.HoldCount(ctx, h.Owner()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if held, err := l.IsLocked(ctx); !held || err != nil {
		t.Fatal(held, err)
	}
	for _, word := range []string{"get", "hget", "exists", "pttl"} {
		if w.seen(word) {
			t.Errorf("%s may go to a replica", word)
		}
	}
	if !w.seen("evalsha") {
		t.Error("no script was seen")
	}
}

// commandNames is a hook that records the names of commands outside pipelines.
type commandNames struct {
	mu    sync.Mutex
	names []string
}

func (w *commandNames) seen(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.names, name)
}

func (*commandNames) DialHook(next redis.DialHook) redis.DialHook { return next }

func (*commandNames) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (w *commandNames) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		w.mu.Lock()
		w.names = append(w.names, cmd.Name())
		w.mu.Unlock()
		return next(ctx, cmd)
	}
}

func TestAReadWithALostReplyIsSentAgain(t *testing.T) {
	srv := lockredistest.RunT(t)
	readOnly := func(o *redis.ClusterOptions) { o.ReadOnly = true }
	c := newClient(t, clusterOf(t, readOnly, srv.Addr()), rlock.Options{Sync: rlock.SyncOff})
	l := c.Lock("l")
	h := acquire(t, l)
	if n, err := l.HoldCount(t.Context(), h.Owner()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	lost := loseReplies(srv, 0, 1)
	if n, err := l.HoldCount(t.Context(), h.Owner()); n != 1 || err != nil || lost.Hits() != 1 {
		t.Fatal(n, err, lost.Hits())
	}
	release(t, h)
}
