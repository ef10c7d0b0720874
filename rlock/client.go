package rlock

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/lockkeys"
)

// Options configure a Client. The zero value behaves as Redisson does by default.
type Options struct {
	// ID is the first part of the names of the client's owners, Redisson's client
	// id. Empty means a new UUID. Two clients must not share an ID. Packages that
	// look for forgotten locks, such as lockredistest, recognize owners by the
	// UUID. Owners are numbered from 1, as Java's threads are. So a client that
	// uses a Java client's ID must make all of its locks with WithOwner.
	ID string

	// Lease is the lease that the watchdog renews, Redisson's
	// lockWatchdogTimeout. When a holder dies, the lock is free after at most this
	// time. 0 or less means 30 s; a value below 1 ms means 1 ms. Clients of the
	// same lock may use different values.
	Lease time.Duration

	// FairWait is how long a fair lock waits for the first waiter in its queue
	// before it removes that waiter. 0 or less means 5 minutes.
	FairWait time.Duration

	// Sync says whether replicas must confirm a change of a lock (WAIT).
	Sync Sync

	// SyncTimeout is how long to wait for the replicas. 0 or less means 1 s.
	SyncTimeout time.Duration

	// Observer receives the events of the client's locks. The zero value
	// receives none.
	Observer Observer
}

// Sync says whether an acquisition waits for replicas.
type Sync int

const (
	SyncAuto Sync = iota // yes with Sentinel and Cluster, no on a single server
	SyncOff              // never: after a failover two owners may hold a lock
	SyncOn               // always, if the server has replicas
)

// Client makes locks with one client id, on one Redis server, Sentinel set or
// Cluster. Many goroutines may use it. Close stops it.
type Client struct {
	rdb  redis.UniversalClient
	opts Options
	topo topology

	hub      *hub
	watchdog *watchdog
	sweeper  *sweeper

	owners        atomic.Int64  // number of the last owner
	requests      atomic.Uint64 // number of the last request id
	requestPrefix uint64        // first half of every request id

	ctx        context.Context // ends with Close
	stop       context.CancelFunc
	background sync.WaitGroup // goroutines and requests that Close waits for

	quick       *redis.Client // for sendQuick; nil: sendQuick is not used
	lastLatency atomic.Int64  // ns, of the last request whose context can end

	jobs chan *job    // to idle workers
	idle atomic.Int64 // number of idle workers

	mu     sync.Mutex // guards closed
	closed bool
}

// New returns a client that sends its commands through rdb. The caller closes rdb,
// after the returned Client. rdb is a *redis.Client (one server, or a Sentinel
// set's master), a *redis.ClusterClient, or a type that embeds one of them. Any
// other type is treated as a single server without replicas. New panics with a
// *redis.Ring, because a Ring has no server that all clients of a lock agree on.
// Add hooks that should see rlock's commands to rdb before this call.
func New(rdb redis.UniversalClient, opts Options) *Client {
	if opts.ID == "" {
		opts.ID = uuid.NewString()
	}
	opts.Lease = atLeastMS(opts.Lease, 30*time.Second)
	opts.FairWait = atLeastMS(opts.FairWait, 5*time.Minute)
	opts.SyncTimeout = atLeastMS(opts.SyncTimeout, time.Second)
	c := &Client{
		rdb: rdb, opts: opts, topo: topologyOf(rdb, opts.Sync),
		requestPrefix: rand.Uint64(), jobs: make(chan *job),
	}
	c.quick = quickClient(rdb, c.topo)
	c.lastLatency.Store(math.MaxInt64)
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.hub = newHub(c)
	c.watchdog = newWatchdog(c)
	c.sweeper = &sweeper{c: c}
	return c
}

// atLeastMS returns d, at least 1 ms, or def if d is 0 or less. Redis counts in
// milliseconds and takes 0 ms as "expired" or "no limit".
func atLeastMS(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return max(d, time.Millisecond)
}

// ID returns the client's id.
func (c *Client) ID() string { return c.opts.ID }

// Close ends all waits with ErrClosed and stops the watchdog. Locks that are still
// held are lost for their holders (ErrLockLost and ErrClosed) but not released:
// each is free when its lease ends. Close always returns nil. It returns when the
// client's goroutines have ended, at the latest when the running commands have
// timed out. A second call does nothing.
func (c *Client) Close() error {
	c.mu.Lock()
	closedBefore := c.closed
	c.closed = true
	c.mu.Unlock()
	if closedBefore {
		return nil
	}
	c.stop()
	c.background.Wait()
	c.sweeper.close()
	return nil
}

// goBackground runs f on a new goroutine that Close waits for. It reports whether
// it did: not after Close.
func (c *Client) goBackground(f func()) bool {
	if !c.addBackground() {
		return false
	}
	go func() {
		defer c.background.Done()
		f()
	}()
	return true
}

// addBackground makes Close wait until background.Done is called. It reports
// whether it did: not after Close.
func (c *Client) addBackground() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.background.Add(1)
	}
	return !c.closed
}

// nextOwner returns the name of a new owner: Redisson's "id:threadId".
func (c *Client) nextOwner() string {
	var digits [20]byte
	return c.opts.ID + ":" + string(strconv.AppendInt(digits[:0], c.owners.Add(1), 10))
}

// requestID identifies one request, so that a retry is not counted again: a random
// prefix for each client and a counter.
type requestID [16]byte

func (c *Client) newRequestID() (r requestID) {
	binary.LittleEndian.PutUint64(r[:8], c.requestPrefix)
	binary.BigEndian.PutUint64(r[8:], c.requests.Add(1))
	return r
}

// newLatchKey returns the key of a new unlock latch for the lock or semaphore of
// the given name. The latch keeps the reply of one request.
func (c *Client) newLatchKey(name string) string {
	r := c.newRequestID()
	var b [128]byte
	return string(hex.AppendEncode(lockkeys.AppendUnlockLatch(b[:0], name), r[:]))
}
