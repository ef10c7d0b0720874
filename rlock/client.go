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

// Options configure a Client. The zero value is what Redisson does by default.
type Options struct {
	// ID is the client's part of its owners' names, Redisson's client id. Empty
	// means a new UUID. Two clients must not share an ID. Packages that look for
	// forgotten locks, lockredistest for one, know owners by their UUIDs.
	// Owners are numbered from 1, as Java's threads are: a client that has a Java
	// client's ID makes all of its locks with WithOwner.
	ID string

	// Lease is how long a lock outlives its holder when the holder dies: the
	// lease that the watchdog keeps renewing, Redisson's lockWatchdogTimeout.
	// 0 means 30 s, and what is less than 1 ms that. Clients of the same lock may
	// use different values.
	Lease time.Duration

	// FairWait is how long a fair lock waits for the next in its queue before
	// that one is passed over. 0 means 5 minutes.
	FairWait time.Duration

	// Sync tells whether replicas have to confirm a change of a lock (WAIT).
	Sync Sync

	// SyncTimeout is how long they have for it. 0 means 1 s.
	SyncTimeout time.Duration

	// Observer is told what happens to locks. The zero value is told nothing.
	Observer Observer
}

// Sync says whether an acquisition waits for replicas.
type Sync int

const (
	SyncAuto Sync = iota // yes with Sentinel and Cluster, no on a single server
	SyncOff              // never: a failover may give a lock away twice
	SyncOn               // always, if the server has replicas
)

// Client makes locks of one client id on one Redis, Sentinel set or Cluster. It
// may be used by many goroutines; Close ends it.
type Client struct {
	rdb  redis.UniversalClient
	opts Options
	topo topology

	hub     *hub
	dog     *watchdog
	sweeper *sweeper

	owners   atomic.Int64 // the last owner's number
	requests atomic.Uint64
	entropy  uint64 // of the request ids

	ctx        context.Context // ends with Close
	stop       context.CancelFunc
	background sync.WaitGroup

	quick      *redis.Client // nil: nothing is sent so, see askQuickly
	answerTime atomic.Int64  // ns, of the last command that a context could end

	jobs chan *job    // to workers that are parked
	idle atomic.Int64 // those workers

	mu     sync.Mutex // guards closed
	closed bool
}

// New returns a client over rdb, which stays the caller's to close, after this
// one. rdb is a *redis.Client, one server or a Sentinel set's master, or a
// *redis.ClusterClient, or embeds one. Others are taken for a single server whose
// replicas nobody waits for; a *redis.Ring panics: it has no server that all
// clients of a lock agree on. Hooks that are to see rlock's commands are added to
// rdb before.
func New(rdb redis.UniversalClient, opts Options) *Client {
	if opts.ID == "" {
		opts.ID = uuid.NewString()
	}
	opts.Lease = atLeastMS(opts.Lease, 30*time.Second)
	opts.FairWait = atLeastMS(opts.FairWait, 5*time.Minute)
	opts.SyncTimeout = atLeastMS(opts.SyncTimeout, time.Second)
	c := &Client{rdb: rdb, opts: opts, topo: topologyOf(rdb, opts.Sync), entropy: rand.Uint64(), jobs: make(chan *job)}
	c.quick = quickClient(rdb, c.topo)
	c.answerTime.Store(math.MaxInt64)
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.hub = newHub(c)
	c.dog = newWatchdog(c)
	c.sweeper = &sweeper{c: c}
	return c
}

// atLeastMS returns d, or what is meant by 0. Redis counts in milliseconds, and to
// it 0 of them is none, or no limit.
func atLeastMS(d, meant time.Duration) time.Duration {
	if d <= 0 {
		return meant
	}
	return max(d, time.Millisecond)
}

// ID returns the client's id.
func (c *Client) ID() string { return c.opts.ID }

// Close ends waits with ErrClosed and stops renewing. Locks that are still held
// are lost for their holders (ErrLockLost, ErrClosed) but not released: they are
// free when their leases end. It returns, always nil, when the client's goroutines
// have ended, at the latest when the commands under way have timed out. Closing
// twice is harmless.
func (c *Client) Close() error {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	if was {
		return nil
	}
	c.stop()
	c.background.Wait()
	c.sweeper.close()
	return nil
}

// goBackground runs f on a goroutine that Close waits for. It reports false,
// and does not, when the client is closed.
func (c *Client) goBackground(f func()) bool {
	if !c.begin() {
		return false
	}
	go func() {
		defer c.background.Done()
		f()
	}()
	return true
}

// begin has Close wait until background.Done. It reports false, and does not, when
// the client is closed.
func (c *Client) begin() bool {
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

// request is what no other request has: 16 bytes.
type request [16]byte

func (c *Client) newRequest() (r request) {
	binary.LittleEndian.PutUint64(r[:8], c.entropy)
	binary.BigEndian.PutUint64(r[8:], c.requests.Add(1))
	return r
}

// latch returns the name of a latch for one release of what has the given name.
func (c *Client) latch(name string) string {
	r := c.newRequest()
	var b [128]byte
	return string(hex.AppendEncode(lockkeys.AppendUnlockLatch(b[:0], name), r[:]))
}
