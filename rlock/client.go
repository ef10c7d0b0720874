package rlock

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/internal/lockkeys"
	"github.com/lockredis/lockredis/rlock/internal/hub"
	"github.com/lockredis/lockredis/rlock/internal/sender"
)

// Options configure a Client. The zero value behaves as Redisson does by default. A duration of
// more than 100 years counts as 100 years.
type Options struct {
	// ID is the first part of the names of the client's owners, Redisson's client
	// id. Empty means a new UUID. Two clients must not share an ID. Packages that
	// look for forgotten locks, such as lockredistest, recognize owners by the
	// UUID. Owners are numbered from 1, as Java's threads are, so a Java client must not
	// have the same ID either.
	ID string

	// Lease is the lease that the watchdog renews, Redisson's
	// lockWatchdogTimeout. When a holder dies, the lock is free after at most this
	// time. 0 or less means 30 s; a value below 2 ms means 2 ms. Clients of the
	// same lock may use different values.
	Lease time.Duration

	// FairWait is how long a fair lock waits for the first waiter in its queue
	// before it removes that waiter. 0 or less means 5 minutes.
	FairWait time.Duration

	// RetryFor is how long a request is sent again while the server does not
	// answer: broken connections, a failover, a server that loads its data. After
	// that the call fails with the last error. The time for which a call waits for a
	// connection of go-redis's pool counts. A call ends earlier when its context
	// or its Wait ends. 0 or less means 30 s.
	RetryFor time.Duration

	// Sync says whether replicas must confirm an acquisition (WAIT).
	Sync Sync

	// SyncReplicas is how many replicas must confirm, if as many are connected. 0
	// or less means 1.
	SyncReplicas int

	// SyncTimeout is how long to wait for the replicas. 0 or less means 1 s. It may be longer
	// than the ReadTimeout of a *redis.Client or *redis.ClusterClient. Once the request was
	// sent, it is added to RetryFor and to the second of Wait(0). With a client of another
	// type it is at most 3/4 of the ReadTimeout.
	SyncTimeout time.Duration

	// UnlockOnClose makes Close release the locks and permits that are still held.
	// Without it each of them is free when its lease ends. Close first ends the
	// contexts of all holds, and waits for the functions of Do to return. Holds of
	// Acquire are released at once, so their users must not continue to work.
	UnlockOnClose bool

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

	sender   *sender.Sender
	hub      *hub.Hub
	watchdog *watchdog
	sweeper  *sweeper
	holders  *holders

	owners        atomic.Int64  // number of the last owner
	requests      atomic.Uint64 // number of the last request id
	requestPrefix uint64        // first half of every request id
	changes       atomic.Int64  // number of the last change of a lease

	leaveServer func() // of a test server, see joinServer; nil: none

	ctx     context.Context // ends when Close begins
	stop    context.CancelFunc
	given   context.Context // ends when Close gives up on requests without an answer
	giveUp  context.CancelFunc
	running sync.WaitGroup // calls, goroutines and requests that Close waits for

	mu     sync.Mutex // guards closed
	closed bool
}

// New returns a client that sends its commands through rdb. The caller closes rdb,
// after the returned Client. rdb is a *redis.Client (one server, or a Sentinel
// set's master), a *redis.ClusterClient, or a type that embeds one of them. Any
// other type is treated as a single server without replicas. New panics with nil, and
// with a *redis.Ring, because a Ring has no server that all clients of a lock agree on.
//
// Hooks of rdb see rlock's commands if they are added before this call. In a Cluster
// rlock sends its commands to the nodes: add such hooks with
// redis.ClusterOptions.NewClient or ClusterClient.OnNewNode.
func New(rdb redis.UniversalClient, opts Options) *Client {
	v := reflect.ValueOf(rdb)
	require("rdb", v.IsValid() && (v.Kind() != reflect.Pointer || !v.IsNil()))
	if opts.ID == "" {
		opts.ID = uuid.NewString()
	}
	opts.Lease = wholeLease(atLeastMS(opts.Lease, 30*time.Second))
	opts.FairWait = atLeastMS(opts.FairWait, 5*time.Minute)
	opts.RetryFor = atLeastMS(opts.RetryFor, 30*time.Second)
	opts.SyncTimeout = atLeastMS(opts.SyncTimeout, time.Second)
	opts.SyncReplicas = max(opts.SyncReplicas, 1)
	c := &Client{
		rdb: rdb, opts: opts, requestPrefix: rand.Uint64(),
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.given, c.giveUp = context.WithCancel(context.Background())
	c.watchdog = newWatchdog(c)
	c.sender = sender.New(rdb, sender.Config{
		RetryFor: opts.RetryFor, SyncReplicas: opts.SyncReplicas, SyncTimeout: opts.SyncTimeout,
		SyncOn: opts.Sync == SyncOn, SyncAuto: opts.Sync == SyncAuto,
		Closing: c.ctx, Given: c.given, Running: &c.running, Doubt: c.watchdog.verify,
		Closed: ErrClosed, NotSynced: ErrNotSynced,
	})
	c.hub = hub.New(rdb, c.sender, c.watchdog.verify)
	c.sweeper = &sweeper{c: c}
	c.holders = newHolders()
	c.leaveServer = c.joinServer(rdb)
	return c
}

// atLeastMS returns d, at least 1 ms and at most noEnd, or def if d is 0 or less. Redis
// counts in milliseconds and takes 0 ms as "expired" or "no limit".
func atLeastMS(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return min(max(d, time.Millisecond), noEnd)
}

// ID returns the client's id.
func (c *Client) ID() string { return c.opts.ID }

const (
	// closeLimit is how long Close waits for requests without an answer when its
	// context has no deadline.
	closeLimit = 10 * time.Second

	// closeGrace is how long Close waits when its context has ended before.
	closeGrace = 100 * time.Millisecond
)

// Close ends the client. Every call that waits returns ErrClosed. What an
// acquisition under way may have left on the server (a hold, a position in a
// queue) is removed. Locks and permits that are still held are lost for their
// holders (ErrLockLost and ErrClosed), and each is free when its lease ends. With
// Options.UnlockOnClose they are released instead.
//
// Close returns when all that is done. It returns an error with ctx's error when ctx
// ends first, at the latest after 10 s when ctx has no deadline. With a context that
// has ended before, Close waits 100 ms. What is left then ends by itself: a hold with
// its lease, a position in a queue after Options.FairWait. A second call does nothing.
// Do not call Close inside Do with Options.UnlockOnClose, or in an Observer: it would
// wait for itself.
func (c *Client) Close(ctx context.Context) error {
	requireContext(ctx)
	c.mu.Lock()
	closedBefore := c.closed
	c.closed = true
	c.mu.Unlock()
	if closedBefore {
		return nil
	}
	if c.leaveServer != nil {
		c.leaveServer()
	}
	defer c.watchdog.close()
	defer c.giveUp()
	limit := closeLimit
	if ctx.Err() != nil {
		ctx, limit = context.WithoutCancel(ctx), closeGrace
	}
	if _, ok := ctx.Deadline(); !ok {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	c.running.Add(1)
	go c.holders.releaseAll(c)
	c.stop()
	c.hub.Close(ctx)
	ended := make(chan struct{})
	go func() {
		c.running.Wait()
		c.sweeper.close()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("rlock: close: requests without an answer: %w", ctx.Err())
	}
}

// enter begins a call of the API. Close waits until leave is called. enter returns
// ErrClosed after Close.
func (c *Client) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.running.Add(1)
	return nil
}

// leave ends what enter began.
func (c *Client) leave() { c.running.Done() }

// goBackground runs f on a new goroutine that Close waits for. It reports whether
// it did: not after Close.
func (c *Client) goBackground(f func()) bool {
	if c.enter() != nil {
		return false
	}
	go func() {
		defer c.leave()
		f()
	}()
	return true
}

// spawn runs f on a new goroutine that Close waits for. The caller is inside enter and
// leave, or such a goroutine.
func (c *Client) spawn(f func()) {
	c.running.Add(1)
	go func() {
		defer c.leave()
		f()
	}()
}

// ownerName returns the name of an owner: Redisson's "id:threadId".
func (c *Client) ownerName(threadID int64) string {
	var digits [20]byte
	return c.opts.ID + ":" + string(strconv.AppendInt(digits[:0], threadID, 10))
}

// requestID identifies one claim or one request, so that it counts once however
// often it is sent: a random prefix for each client and a counter.
type requestID [16]byte

func (c *Client) newRequestID() (r requestID) {
	binary.LittleEndian.PutUint64(r[:8], c.requestPrefix)
	binary.BigEndian.PutUint64(r[8:], c.requests.Add(1)<<permitBits)
	return r
}

// permitBits is how many low bits of a request id are zero. The permits of a claim have
// the claim's id with their numbers, from 1, in these bits.
const permitBits = 17

// permit returns the id of the nth permit of the claim r.
func (r requestID) permit(n int) requestID {
	binary.BigEndian.PutUint64(r[8:], binary.BigEndian.Uint64(r[8:])|uint64(n))
	return r
}

// claim returns the id of the claim that the permit r is of. For a permit of Redisson it
// is an id that no claim has.
func (r requestID) claim() requestID {
	binary.BigEndian.PutUint64(r[8:], binary.BigEndian.Uint64(r[8:])>>permitBits<<permitBits)
	return r
}

// place returns the place of the change of a lease with the given number, as scripts take
// it: see lease_order.lua.
func (c *Client) place(number int64) string {
	return fmt.Sprintf("%016x:%d", c.requestPrefix, number)
}

// newLatch returns the key of a new latch for the lock or semaphore of the given
// name. The latch remembers that a claim is over, or the reply of a request.
func (c *Client) newLatch(name string) string { return latchKey(name, c.newRequestID()) }

func latchKey(name string, id requestID) string {
	var b [128]byte
	return string(hex.AppendEncode(lockkeys.AppendUnlockLatch(b[:0], name), id[:]))
}
