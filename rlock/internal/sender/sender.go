package sender

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Config says how a Sender sends, and for whom. All fields but the durations must be set.
type Config struct {
	RetryFor     time.Duration // as in rlock.Options, as the next two
	SyncReplicas int
	SyncTimeout  time.Duration
	SyncOn       bool // acquisitions wait for replicas
	SyncAuto     bool // likewise, with Sentinel and Cluster

	Closing context.Context // ends when the client closes
	Given   context.Context // ends when the client gives up on requests without an answer
	Running *sync.WaitGroup // of the goroutines that send

	// Doubt is called when a reply was lost or a connection broke: a server may have lost the
	// holds. It must not block.
	Doubt func()

	Closed    error // of a call that the end of Closing ends
	NotSynced error // when too few replicas confirm
}

// Sender sends the requests of one client. Many goroutines may use it.
type Sender struct {
	Config
	topo    *topology
	workers *workers
}

// New returns a Sender that sends through rdb. It panics with a redis.Ring.
func New(rdb redis.UniversalClient, cfg Config) *Sender {
	c := &Sender{Config: cfg}
	c.topo = topologyOf(rdb, &c.Config)
	c.workers = &workers{c: c, jobs: make(chan *sending)}
	return c
}

// PublishCommand returns the command with which scripts publish: "PUBLISH" or "SPUBLISH".
func (c *Sender) PublishCommand() any { return c.topo.publishCommand }

// Single reports whether all keys are on one server.
func (c *Sender) Single() bool { return c.topo.single }

// Sharded reports whether pub/sub is sharded, as Redisson uses it in a cluster.
func (c *Sender) Sharded() bool { return c.topo.sharded }

// Master returns the go-redis client of the master of a cluster that has the key.
func (c *Sender) Master(ctx context.Context, key string) (*redis.Client, error) {
	return c.topo.cluster.MasterForKey(ctx, key)
}

// Reload makes a cluster client load its slot map again. It does not wait for that.
func (c *Sender) Reload(ctx context.Context) { c.topo.reload(ctx) }

// spawn runs f on a new goroutine that Running counts.
func (c *Config) spawn(f func()) {
	c.Running.Add(1)
	go func() {
		defer c.Running.Done()
		f()
	}()
}
