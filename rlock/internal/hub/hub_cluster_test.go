package hub_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock/internal/hub"
)

// channelsOn returns n channels for each of the cluster's masters, by address.
func channelsOn(t testing.TB, rdb *redis.ClusterClient, masters, n int) map[string][]string {
	t.Helper()
	channels := map[string][]string{}
	for i, full := 0, 0; full < masters; i++ {
		channel := "channel:{" + strconv.Itoa(i) + "}"
		on, err := rdb.MasterForKey(t.Context(), channel)
		must(t, err)
		if addr := on.Options().Addr; len(channels[addr]) < n {
			channels[addr] = append(channels[addr], channel)
			if len(channels[addr]) == n {
				full++
			}
		}
	}
	return channels
}

// slotMap has the masters of a cluster made of single servers. The first half of the
// slots is on the first.
type slotMap struct {
	mu     sync.Mutex
	owners [2]string
	hangs  chan struct{} // nil, or closed when the map can be loaded again
	loads  chan struct{} // capacity 1: the map is being loaded
}

func (m *slotMap) load(context.Context) ([]redis.ClusterSlot, error) {
	select {
	case m.loads <- struct{}{}:
	default:
	}
	m.mu.Lock()
	owners, hangs := m.owners, m.hangs
	m.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	return []redis.ClusterSlot{
		{Start: 0, End: 8191, Nodes: []redis.ClusterNode{{Addr: owners[0]}}},
		{Start: 8192, End: 16383, Nodes: []redis.ClusterNode{{Addr: owners[1]}}},
	}, nil
}

func (m *slotMap) client(t testing.TB) *redis.ClusterClient {
	m.loads = make(chan struct{}, 1)
	rdb := redis.NewClusterClient(&redis.ClusterOptions{ClusterSlots: m.load})
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func TestAClusterHasOneConnectionForEachMaster(t *testing.T) {
	a, b := connect(t), connect(t)
	rdb := (&slotMap{owners: [2]string{a.Options().Addr, b.Options().Addr}}).client(t)
	channels := channelsOn(t, rdb, 2, 20)
	before := [2]int{accepted(t, a), accepted(t, b)}
	h, reconnects := newHub(t, rdb, true)
	for addr, names := range channels {
		var waiters []*hub.Waiter
		for _, channel := range names {
			h.Watch(channel)
			waiters = append(waiters, join(t, h, channel, false))
		}
		on := a
		if strings.HasSuffix(b.Options().Addr, addr) { // go-redis leaves out the host
			on = b
		}
		for i, w := range waiters {
			within(t, "ready", w.Ready())
			must(t, on.SPublish(t.Context(), names[i], "0").Err())
			within(t, "wake-up", w.Wake())
		}
	}
	for i, on := range []*redis.Client{a, b} {
		if n := accepted(t, on) - before[i]; n != 1 {
			t.Errorf("%d connections to server %d", n, i)
		}
	}
	if n := reconnects.Load(); n != 0 {
		t.Errorf("%d reconnects", n)
	}
}

func TestTopicsFollowTheirSlotToAnotherMaster(t *testing.T) {
	t.Parallel()
	a, b := connect(t), connect(t)
	m := &slotMap{owners: [2]string{a.Options().Addr, a.Options().Addr}}
	rdb := m.client(t)
	h, reconnects := newHub(t, rdb, true)
	h.Watch("k")
	w := join(t, h, "c", false)
	within(t, "ready", w.Ready())
	m.mu.Lock()
	m.owners = [2]string{b.Options().Addr, b.Options().Addr}
	m.mu.Unlock()
	rdb.ReloadState(t.Context())
	within(t, "the wake-up by the move", w.Wake())
	eventually(t, "onReconnect", func() bool { return reconnects.Load() > 0 })
	must(t, b.SPublish(t.Context(), "c", "0").Err())
	within(t, "a message of the new master", w.Wake())
	eventually(t, "the end of the old subscription", func() bool {
		return len(a.PubSubShardChannels(t.Context(), "*").Val()) == 0
	})
}

// The old master ends the subscription, and takes it again, as a master that has become a replica
// does. Only the slot map, when it is loaded again, tells of the new master.
func TestTopicsFollowASlotWhoseNewMasterIsKnownLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := lockredistest.RunT(t, lockredistest.Cluster())
		b := lockredistest.RunT(t, lockredistest.Cluster())
		const onA, onB = "a:6379", "b:6379"
		m := &slotMap{owners: [2]string{onA, onA}}
		opts := a.ClusterOptions()
		opts.ClusterSlots = m.load
		opts.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == onB {
				return b.Dial(ctx, network, addr)
			}
			return a.Dial(ctx, network, addr)
		}
		rdb := redis.NewClusterClient(opts)
		defer time.Sleep(time.Second) // go-redis pauses after it has loaded the slot map
		defer rdb.Close()
		h := hub.New(rdb, nodes{rdb, true}, nil)
		defer h.Close(context.Background())
		w := join(t, h, "c", false)
		within(t, "ready", w.Ready())

		for _, change := range []string{"DELSLOTSRANGE", "ADDSLOTSRANGE"} {
			_, err := a.Do("CLUSTER", change, "0", "16383")
			must(t, err)
		}
		within(t, "the wake-up by the end of the subscription", w.Wake())
		subscribed := func(srv *lockredistest.Server) bool {
			n, err := srv.Do("SPUBLISH", "c", "0")
			must(t, err)
			return n == int64(1)
		}
		eventually(t, "a subscription at the old master", func() bool { return subscribed(a) })
		m.mu.Lock()
		m.owners = [2]string{onB, onB}
		m.mu.Unlock()
		time.Sleep(3 * time.Second)
		if subscribed(a) || !subscribed(b) {
			t.Error("the topic is not at the new master only")
		}
	})
}

func TestAMasterThatIsReplacedIsAnnounced(t *testing.T) {
	t.Parallel()
	srv := lockredistest.RunT(t)
	next := connect(t)
	m := &slotMap{owners: [2]string{srv.Addr(), srv.Addr()}}
	h, reconnects := newHub(t, m.client(t), true)
	h.Watch("k")
	w := join(t, h, "c", false)
	within(t, "ready", w.Ready())
	srv.Stop()
	m.mu.Lock()
	m.owners = [2]string{next.Options().Addr, next.Options().Addr}
	m.mu.Unlock()
	within(t, "the wake-up by the new master", w.Wake())
	must(t, next.SPublish(t.Context(), "c", "0").Err())
	within(t, "a message of the new master", w.Wake())
	eventually(t, "onReconnect", func() bool { return reconnects.Load() > 0 })
	if channels, err := srv.Do("PUBSUB", "SHARDCHANNELS"); err != nil || len(channels.([]any)) != 0 {
		t.Errorf("subscriptions at the old master: %v, %v", channels, err)
	}
}

func TestASlotMapThatCannotBeLoadedBlocksNoWaiter(t *testing.T) {
	t.Parallel()
	m := &slotMap{hangs: make(chan struct{})}
	addr := connect(t).Options().Addr
	m.owners = [2]string{addr, addr}
	rdb := m.client(t)
	t.Cleanup(func() { close(m.hangs) })
	h := hub.New(rdb, nodes{rdb, true}, nil)
	w := join(t, h, "a", false)
	within(t, "load", m.loads)
	join(t, h, "b", false)
	h.Watch("k")
	h.Unwatch("k")
	w.Leave()
	start := time.Now()
	h.Close(context.Background())
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("Close took %v", took)
	}
}

// twoNodes starts a cluster of two masters without replicas. The first half of the
// slots is on the first.
func twoNodes(t testing.TB) (rdb *redis.ClusterClient, nodes [2]*redis.Client, ids [2]string) {
	t.Helper()
	var addrs []string
	for i := range nodes {
		bus, err := redistest.FreePort()
		must(t, err)
		srv := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-port", bus)
		nodes[i] = redis.NewClient(&redis.Options{Addr: srv.Addr})
		t.Cleanup(func() { nodes[i].Close() })
		addrs = append(addrs, srv.Addr)
		must(t, nodes[i].Do(t.Context(), "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err())
		must(t, nodes[i].ClusterAddSlotsRange(t.Context(), i*8192, i*8192+8191).Err())
		ids[i] = nodes[i].ClusterMyID(t.Context()).Val()
		if i == 1 {
			host, port, _ := net.SplitHostPort(srv.Addr)
			must(t, nodes[0].Do(t.Context(), "CLUSTER", "MEET", host, port, bus).Err())
		}
	}
	for _, node := range nodes {
		eventually(t, "cluster", func() bool {
			return strings.Contains(node.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
		})
	}
	rdb = redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { rdb.Close() })
	return rdb, nodes, ids
}

func TestTopicsFollowASlotThatMigrates(t *testing.T) {
	t.Parallel() // a cluster takes two seconds to start
	rdb, nodes, ids := twoNodes(t)
	before := [2]int{accepted(t, nodes[0]), accepted(t, nodes[1])}
	h, reconnects := newHub(t, rdb, true)
	channels := channelsOn(t, rdb, 2, 5)
	waiters := map[string]*hub.Waiter{}
	for _, names := range channels {
		for _, channel := range names {
			w := join(t, h, channel, false)
			within(t, "ready", w.Ready())
			waiters[channel] = w
		}
	}
	moving := channels[nodes[0].Options().Addr][0]
	slot := rdb.ClusterKeySlot(t.Context(), moving).Val()
	for _, on := range []int{1, 0} { // the importing node first
		must(t, nodes[on].Do(t.Context(), "CLUSTER", "SETSLOT", slot, "NODE", ids[1]).Err())
	}
	within(t, "the wake-up by the move", waiters[moving].Wake())
	for channel, w := range waiters {
		must(t, rdb.SPublish(t.Context(), channel, "0").Err())
		within(t, fmt.Sprintf("a message on %s", channel), w.Wake())
	}
	eventually(t, "onReconnect", func() bool { return reconnects.Load() > 0 })
	for i, node := range nodes {
		pubsubs := strings.Count(node.Do(t.Context(), "CLIENT", "LIST", "TYPE", "pubsub").String(), "id=")
		if pubsubs != 1 {
			t.Errorf("%d pub/sub connections to node %d, %d connections in all", pubsubs, i,
				accepted(t, node)-before[i])
		}
	}
}

func TestTopicsFollowAFailover(t *testing.T) {
	if !topology.Asked(t, string(topology.Cluster)) {
		t.Skipf("not asked for: %s; set %s", topology.Cluster, topology.Variable)
	}
	tp := topology.Start(t, topology.Cluster)
	rdb := tp.Client(t)
	h, reconnects := newHub(t, rdb, true)
	h.Watch("c")
	w := join(t, h, "c", false)
	within(t, "ready", w.Ready())
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"orderly", func() { tp.Failover(t, "c") }},
		{"master killed", func() { tp.AwaitNewMaster(t, "c", tp.KillMaster(t, "c")) }},
		{"master frozen", func() {
			tp.Heal(t)
			old := tp.Master(t, "c")
			old.Freeze(t)
			tp.AwaitNewMaster(t, "c", old)
		}},
	} {
		start, before := time.Now(), reconnects.Load()
		c.do()
		elected := time.Now()
		select { // the first message after the failover may have been sent before
		case <-w.Wake():
		default:
		}
		// Publish at intervals until the waiter is woken.
		awake := false
		for !awake && time.Since(elected) < 30*time.Second {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_ = rdb.SPublish(ctx, "c", "0").Err()
			cancel()
			select {
			case <-w.Wake():
				awake = true
			case <-time.After(100 * time.Millisecond):
			}
		}
		if !awake {
			t.Fatalf("%s: no wake-up", c.what)
		}
		eventually(t, c.what+": onReconnect", func() bool { return reconnects.Load() > before })
		t.Logf("%s: failover took %v, wake-up after %v, %d calls of onReconnect", c.what,
			elected.Sub(start), time.Since(elected), reconnects.Load()-before)
	}
	tp.Heal(t)
}
