package rlock

import (
	"context"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// topology is what differs between a single server, a Sentinel set and a
// Cluster.
type topology struct {
	single  bool   // all keys are on one server
	sharded bool   // sharded pub/sub, as Redisson uses it in a cluster
	publish string // the command that scripts publish with
	synced  bool   // replicas confirm

	node   func(ctx context.Context, key string) (node, error)  // that has the key; nil: unknown
	at     func(ctx context.Context, addr string) (node, error) // nil without an error: there is none
	reload func(ctx context.Context)                            // in the background; nil: no cluster
	strays bool                                                 // what only reads may go to replicas

	replicas *replicaCounts
}

// node is one server: a redis.Client, or what embeds one.
type node interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
	Info(ctx context.Context, sections ...string) *redis.StringCmd
	Options() *redis.Options
}

// cluster is a redis.ClusterClient, or what embeds one.
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
		auto = r.Options().Addr == "FailoverClient" // so redis.NewFailoverClient calls itself
		t.node = func(context.Context, string) (node, error) { return r, nil }
		t.at = func(context.Context, string) (node, error) { return nil, nil }
	case cluster:
		auto = true
		t.node = func(ctx context.Context, key string) (node, error) { return r.MasterForKey(ctx, key) }
		t.at, t.reload, t.strays = masterAt(r), r.ReloadState, r.Options().ReadOnly
		if r.Options().ClusterSlots == nil { // else a Sentinel set behind NewFailoverClusterClient
			t.sharded, t.publish = true, "SPUBLISH"
		}
	}
	t.synced = t.node != nil && (sync == SyncOn || sync == SyncAuto && auto)
	return t
}

// masterAt finds a cluster's master by its address.
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

// noneTime is how long a node is believed to have no replicas: one that comes is
// waited for from then on.
const noneTime = time.Second

var connectedSlaves = regexp.MustCompile(`(?m)^connected_slaves:(\d+)`)

// of returns how many replicas node has, asking it when that is not known.
func (r *replicaCounts) of(ctx context.Context, on node) (int, error) {
	addr := on.Options().Addr
	r.mu.Lock()
	last, known := r.known[addr]
	r.mu.Unlock()
	now := time.Now()
	if known && (last.n > 0 || now.Sub(last.asked) < noneTime) {
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

// forget has the node asked again: fewer replicas than expected confirmed.
func (r *replicaCounts) forget(of node) {
	r.mu.Lock()
	delete(r.known, of.Options().Addr)
	r.mu.Unlock()
}
