package rlock

import (
	"context"
	"regexp"
	"strconv"
	"sync"

	"github.com/redis/go-redis/v9"
)

// topology is what differs between a single server, a Sentinel set and a
// Cluster.
type topology struct {
	single  bool   // all keys are on one server
	sharded bool   // sharded pub/sub, as Redisson uses it in a cluster
	publish string // the command that scripts publish with
	synced  bool   // replicas confirm

	node   func(ctx context.Context, key string) (*redis.Client, error) // nil: unknown
	reload func(ctx context.Context)                                    // in the background; nil: no cluster

	replicas *replicaCounts
}

func topologyOf(rdb redis.UniversalClient, sync Sync) topology {
	t := topology{publish: "PUBLISH", replicas: &replicaCounts{known: map[string]int{}}}
	auto := false
	switch r := rdb.(type) {
	case *redis.Client:
		t.single = true
		auto = r.Options().Addr == "FailoverClient" // so redis.NewFailoverClient calls itself
		t.node = func(context.Context, string) (*redis.Client, error) { return r, nil }
	case *redis.ClusterClient:
		auto = true
		t.node, t.reload = r.MasterForKey, r.ReloadState
		if r.Options().ClusterSlots == nil { // else a Sentinel set behind NewFailoverClusterClient
			t.sharded, t.publish = true, "SPUBLISH"
		}
	}
	t.synced = t.node != nil && (sync == SyncOn || sync == SyncAuto && auto)
	return t
}

// replicaCounts remembers how many replicas each node has.
type replicaCounts struct {
	mu    sync.Mutex
	known map[string]int // by address
}

var connectedSlaves = regexp.MustCompile(`(?m)^connected_slaves:(\d+)`)

// of returns how many replicas node has, asking it when that is not known.
func (r *replicaCounts) of(ctx context.Context, node *redis.Client) (int, error) {
	addr := node.Options().Addr
	r.mu.Lock()
	n, known := r.known[addr]
	r.mu.Unlock()
	if known {
		return n, nil
	}
	info, err := node.Info(ctx, "replication").Result()
	if err != nil {
		return 0, err
	}
	if m := connectedSlaves.FindStringSubmatch(info); m != nil {
		n, _ = strconv.Atoi(m[1])
	}
	r.mu.Lock()
	r.known[addr] = n
	r.mu.Unlock()
	return n, nil
}

// forget has the node asked again: fewer replicas than expected confirmed.
func (r *replicaCounts) forget(node *redis.Client) {
	r.mu.Lock()
	delete(r.known, node.Options().Addr)
	r.mu.Unlock()
}
