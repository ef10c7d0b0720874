package rlock

import (
	"context"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// topology has the differences between a single server, a Sentinel set and a
// Cluster.
type topology struct {
	single  bool   // all keys are on one server
	sharded bool   // sharded pub/sub, as Redisson uses it in a cluster
	publish string // the command with which scripts publish: PUBLISH or SPUBLISH
	synced  bool   // acquisitions wait for replicas

	// nodeFor returns the master that has the key. It is nil for a client of an
	// unknown type.
	nodeFor func(ctx context.Context, key string) (node, error)
	// nodeAt returns the master at an address, or nil if there is none.
	nodeAt func(ctx context.Context, addr string) (node, error)
	// reload loads a cluster's slot map in the background. It is nil without a
	// cluster.
	reload func(ctx context.Context)

	readsReplicas bool // go-redis may send read commands to replicas

	replicas *replicaCounts
}

// node is one server: a redis.Client, or a type that embeds one.
type node interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
	Info(ctx context.Context, sections ...string) *redis.StringCmd
	Options() *redis.Options
}

// cluster is a redis.ClusterClient, or a type that embeds one.
type cluster interface {
	MasterForKey(ctx context.Context, key string) (*redis.Client, error)
	ForEachMaster(ctx context.Context, f func(context.Context, *redis.Client) error) error
	ReloadState(ctx context.Context)
	Options() *redis.ClusterOptions
}

func topologyOf(rdb redis.UniversalClient, sync Sync) topology {
	t := topology{publish: "PUBLISH", replicas: &replicaCounts{known: map[string]replicaCount{}}}
	auto := false
	switch r := rdb.(type) {
	case interface{ Options() *redis.RingOptions }:
		panic("rlock: a redis.Ring has no server that all clients of a lock agree on")
	case node:
		t.single = true
		auto = r.Options().Addr == "FailoverClient" // set by redis.NewFailoverClient
		t.nodeFor = func(context.Context, string) (node, error) { return r, nil }
		t.nodeAt = func(context.Context, string) (node, error) { return nil, nil }
	case cluster:
		auto = true
		t.nodeFor = func(ctx context.Context, key string) (node, error) {
			return r.MasterForKey(ctx, key)
		}
		t.nodeAt, t.reload, t.readsReplicas = masterAt(r), r.ReloadState, r.Options().ReadOnly
		if r.Options().ClusterSlots == nil { // set by redis.NewFailoverClusterClient (Sentinel)
			t.sharded, t.publish = true, "SPUBLISH"
		}
	}
	t.synced = t.nodeFor != nil && (sync == SyncOn || sync == SyncAuto && auto)
	return t
}

// masterAt returns a function that finds a cluster's master by its address. It
// returns nil without an error if there is no such master.
func masterAt(r cluster) func(context.Context, string) (node, error) {
	return func(ctx context.Context, addr string) (node, error) {
		found := make(chan *redis.Client, 1)
		err := r.ForEachMaster(ctx, func(_ context.Context, c *redis.Client) error {
			if c.Options().Addr == addr {
				found <- c
			}
			return nil
		})
		select {
		case c := <-found:
			return c, nil
		default:
			return nil, err
		}
	}
}

// replicaCounts remembers how many replicas each node has.
type replicaCounts struct {
	mu    sync.Mutex
	known map[string]replicaCount // by address
}

type replicaCount struct {
	n     int
	asked time.Time
}

// noReplicasTTL is how long a count of 0 replicas is used before the node is asked
// again. A new replica is waited for from then on.
const noReplicasTTL = time.Second

var connectedSlaves = regexp.MustCompile(`(?m)^connected_slaves:(\d+)`)

// get returns how many replicas the node has. It sends INFO if the count is unknown
// or was 0 for longer than noReplicasTTL.
func (r *replicaCounts) get(ctx context.Context, on node) (int, error) {
	addr := on.Options().Addr
	r.mu.Lock()
	last, known := r.known[addr]
	r.mu.Unlock()
	now := time.Now()
	if known && (last.n > 0 || now.Sub(last.asked) < noReplicasTTL) {
		return last.n, nil
	}
	n := 0
	info, err := on.Info(ctx, "replication").Result()
	if err != nil {
		return 0, err
	}
	if m := connectedSlaves.FindStringSubmatch(info); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	r.mu.Lock()
	r.known[addr] = replicaCount{n, now}
	r.mu.Unlock()
	return n, nil
}

// forget makes the next get ask the node again. It is called when fewer replicas
// confirmed than expected.
func (r *replicaCounts) forget(of node) {
	r.mu.Lock()
	delete(r.known, of.Options().Addr)
	r.mu.Unlock()
}
