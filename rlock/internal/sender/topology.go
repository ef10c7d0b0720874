package sender

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// topology has the differences between a single server, a Sentinel set and a
// Cluster, and finds the server that has a key.
type topology struct {
	single         bool // all keys are on one server
	sharded        bool // sharded pub/sub, as Redisson uses it in a cluster
	publishCommand any  // the command with which scripts publish: "PUBLISH" or "SPUBLISH"
	synced         bool // acquisitions wait for replicas
	cfg            *Config

	only    *server     // when all keys are on one server
	cluster cluster     // otherwise
	servers sync.Map    // of the cluster: *redis.Client → *server
	loaded  atomic.Bool // the cluster's slot map was loaded
}

// processor sends commands: a redis.Client, or a type that embeds one.
type processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
}

// node is a processor for one server.
type node interface {
	processor
	Options() *redis.Options
}

// cluster is a redis.ClusterClient, or a type that embeds one.
type cluster interface {
	MasterForKey(ctx context.Context, key string) (*redis.Client, error)
	ForEachMaster(ctx context.Context, f func(context.Context, *redis.Client) error) error
	ReloadState(ctx context.Context)
	Options() *redis.ClusterOptions
}

func topologyOf(rdb redis.UniversalClient, cfg *Config) *topology {
	t := &topology{publishCommand: "PUBLISH", cfg: cfg, single: true}
	t.only = t.newServer(rdb)
	auto := false
	switch r := rdb.(type) {
	case interface{ Options() *redis.RingOptions }:
		panic("rlock: a redis.Ring has no server that all clients of a lock agree on")
	case node:
		auto = r.Options().Addr == "FailoverClient" // set by redis.NewFailoverClient
	case cluster:
		auto, t.single, t.cluster = true, false, r
		if r.Options().ClusterSlots == nil { // set by redis.NewFailoverClusterClient (Sentinel)
			t.sharded, t.publishCommand = true, "SPUBLISH"
		}
	default:
		return t
	}
	t.synced = cfg.SyncOn || cfg.SyncAuto && auto
	return t
}

// serverFor returns the master that has the key.
func (t *topology) serverFor(ctx context.Context, key string) (*server, error) {
	if t.single {
		return t.only, nil
	}
	rdb, err := t.cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, err
	}
	t.loaded.Store(true)
	return t.server(rdb), nil
}

// checkName returns an error if a lock of the given name has keys in several slots of a
// cluster. Its scripts would all fail.
func (t *topology) checkName(name string) error {
	if !t.sharded || lockkeys.InOneSlot(name) {
		return nil
	}
	reason := "it has a brace that encloses no text"
	if name == "" {
		reason = "it is empty"
	}
	return fmt.Errorf("rlock: the name %q cannot be used in a Cluster: %s, "+
		"so the keys would be in several slots", name, reason)
}

// serverAt returns the cluster's master at an address, or nil.
func (t *topology) serverAt(ctx context.Context, addr string) *server {
	if t.single {
		return nil
	}
	var found clientCell
	_ = t.cluster.ForEachMaster(ctx, func(_ context.Context, rdb *redis.Client) error {
		if rdb.Options().Addr == addr {
			found.store(rdb)
		}
		return nil
	})
	if rdb := found.load(); rdb != nil {
		return t.server(rdb)
	}
	return nil
}

func (t *topology) server(rdb *redis.Client) *server {
	if s, ok := t.servers.Load(rdb); ok {
		return s.(*server)
	}
	kept, _ := t.servers.LoadOrStore(rdb, t.newServer(rdb))
	return kept.(*server)
}

func (t *topology) newServer(p processor) *server {
	s := &server{rdb: p, topo: t}
	s.lane = lane{to: s, most: maxFlights, near: true}
	s.undos = lane{to: s, most: maxUndoFlights}
	s.latency.Store(int64(unknownLatency))
	return s
}

// nearServer returns the server of the request's key, if it is near. A request
// that waits for replicas is not for a near server: the replicas may be far. While the
// slot map of a cluster is not loaded, no server is near: loading it may take long.
func (t *topology) nearServer(ctx context.Context, r *Request) (*server, bool) {
	if r.Replicated && t.synced || !t.single && !t.loaded.Load() {
		return nil, false
	}
	s, err := t.serverFor(ctx, r.Key())
	if err != nil || !s.hooked.Load() || s.latency.Load() >= int64(nearLatency) {
		return nil, false
	}
	return s, true
}

// reload makes a cluster client load its slot map again. It does not wait for that.
func (t *topology) reload(ctx context.Context) {
	if !t.single {
		t.cluster.ReloadState(ctx)
	}
}

// follow sends r to the server that a redirection names, if the reply's err is one, and
// follows further ones. It returns the last reply.
func (t *topology) follow(ctx context.Context, r *Request, reply any, err error) (any, error) {
	for range maxRedirects {
		addr, asking, ok := redirected(err)
		if !ok {
			break
		}
		next := t.serverAt(ctx, addr)
		if next == nil {
			break
		}
		if !asking { // the slot has moved for good
			t.reload(ctx)
		}
		reply, err = next.run(ctx, r, false, asking)
	}
	return reply, err
}

// maxRedirects is how many redirections a request follows, as in go-redis.
const maxRedirects = 3
