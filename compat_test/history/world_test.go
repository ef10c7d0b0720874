package history

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/rlock"
)

const (
	watchdogLease = 60 * time.Millisecond
	fairWait      = 300 * time.Millisecond
)

// setting is where a program runs.
type setting struct {
	addr     string   // of a running server; "": a new one in a bubble
	sabotage sabotage // not part of the history; may be nil
}

// world is one run of one program: a server, clients and their history.
type world struct {
	setting
	kind  kind
	rec   *recorder
	names string // prefix of the names of the run's locks
	dial  func(context.Context) (net.Conn, error)
	nodes []*node

	mu      sync.Mutex // guards clients
	clients []*client
}

// kind is one of rlock's kinds with its test.
type kind struct {
	name    string
	model   checker
	weights weights

	// actor returns a worker's actor of the kind.
	actor func(*client) actor
	// prepare runs before the workers start; may be nil.
	prepare func(*client)
	// probe runs after all workers and acquires what must be free again. It is an
	// operation like the others.
	probe func(*client)
	// sabotages break the kind's guarantees behind rlock's back.
	sabotages map[string]sabotage
}

// sabotage gets the prefix of the names of the run's locks.
type sabotage func(ctx context.Context, rdb *redis.Client, name string)

// actor runs steps.
type actor interface {
	do(step)
}

// node runs clients one after the other: when one crashes the next starts.
type node struct {
	w *world

	mu      sync.Mutex // guards current
	current *client
}

// client is one client from its start to its crash.
type client struct {
	w   *world
	rdb *redis.Client
	c   *rlock.Client

	mu        sync.Mutex // guards the fields below
	conns     map[*conn]bool
	owners    map[string]int // by the names in Redis
	reaches   map[int]*stamp // by owner
	undos     []*op
	pending   []pendingOp
	evictions []eviction
	grants    []*grant
	torn      bool // a connection was cut
	dead      bool
	gone      stamp // when closing began
	closed    stamp // when no request of it can be running any more
}

// run runs p and returns its history.
func (s setting) run(t *testing.T, k kind, p program) *world {
	w := &world{setting: s, kind: k, names: "history:" + uuid.NewString()}
	if s.addr == "" {
		synctest.Test(t, func(t *testing.T) { w.play(t, p) })
	} else {
		w.play(t, p)
	}
	return w
}

func (w *world) play(t *testing.T, p program) {
	settle := 5 * time.Second
	w.rec = newRecorder(time.Second)
	if w.addr == "" {
		srv := lockredis.New(lockredis.Config{NoSocket: true})
		if err := srv.Start(); err != nil {
			t.Error(err)
			return
		}
		defer srv.Close()
		w.dial = srv.Dial
	} else {
		settle = 800 * time.Millisecond
		w.rec.slack = 300 * time.Millisecond
		w.dial = func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", w.addr)
		}
	}
	for range p.clients {
		w.nodes = append(w.nodes, &node{w: w, current: w.connect()})
	}
	if w.kind.prepare != nil {
		w.kind.prepare(w.nodes[0].current)
	}
	w.work(p)
	for _, n := range w.nodes {
		n.current.close()
	}
	elapse(settle)
	w.afterwards()
	for _, c := range w.clients {
		c.settle()
	}
	w.mayEvict()
}

// work runs the workers to their ends.
func (w *world) work(p program) {
	var all sync.WaitGroup
	for _, work := range p.workers {
		all.Go(func() { w.nodes[work.client].work(work.steps) })
	}
	if w.sabotage != nil {
		all.Go(func() {
			rdb := w.connect()
			defer rdb.close()
			for range 10 {
				elapse(7 * time.Millisecond)
				w.sabotage(context.Background(), rdb.rdb, w.names)
			}
		})
	}
	all.Wait()
}

// work runs one worker's steps with the node's present client.
func (n *node) work(steps []step) {
	c := n.client()
	a := n.w.kind.actor(c)
	for _, s := range steps {
		if now := n.client(); now != c {
			c, a = now, n.w.kind.actor(now)
		}
		switch s.do {
		case doPause:
			elapse(s.pause)
		case doCut:
			c.cut()
		case doCrash:
			n.crash(c, s.n == 1)
		default:
			a.do(s)
		}
	}
}

func (n *node) client() *client {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.current
}

// crash replaces c, unless another worker has done so. With abruptly its connections
// are cut first.
func (n *node) crash(c *client, abruptly bool) {
	n.mu.Lock()
	first := n.current == c
	if first {
		n.current = n.w.connect()
	}
	n.mu.Unlock() // virtual time stands still while a goroutine waits for a mutex
	if first && abruptly {
		c.kill()
	}
	if first {
		c.close()
	}
}

// afterwards acquires everything that must be free again, and checks that no keys are
// left.
func (w *world) afterwards() {
	c := w.connect()
	w.kind.probe(c)
	c.close()
}

// connect returns a new client.
func (w *world) connect() *client {
	c := &client{
		w: w, conns: map[*conn]bool{}, owners: map[string]int{}, reaches: map[int]*stamp{},
	}
	c.rdb = redis.NewClient(&redis.Options{
		Addr:                     "127.0.0.1:6379", // an IP address: nothing is looked up
		Dialer:                   c.dial,
		DialerRetries:            1,
		PoolSize:                 1000, // no caller waits for a connection: see lockredistest
		PipelinePoolSize:         -1,
		ReadBufferSize:           4 << 10,
		WriteBufferSize:          4 << 10,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		DisableIdentity:          true,
	})
	c.c = rlock.New(c.rdb, rlock.Options{
		Lease: watchdogLease, FairWait: fairWait,
		Observer: rlock.Observer{
			Acquired: attempts, TimedOut: attempts, Failed: attempts,
			Contended: func(ctx context.Context, e rlock.Event) {
				if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
					a.contended = w.rec.now()
				}
			},
		},
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients = append(w.clients, c)
	return c
}

// attempts tells an acquisition its owner's name.
func attempts(ctx context.Context, e rlock.Event) {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		a.owner = e.Owner
	}
}

// owner returns the number of an owner by its name in Redis.
func (c *client) owner(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners[id] == 0 {
		c.owners[id] = c.w.rec.owner()
	}
	return c.owners[id]
}

// reach returns the reach that all grants of an owner share, see grant.
func (c *client) reach(owner int) *stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaches[owner] == nil {
		c.reaches[owner] = new(stamp)
	}
	return c.reaches[owner]
}

func (c *client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	nc, err := c.w.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		nc.Close()
		return nil, errors.New("dead")
	}
	k := &conn{Conn: nc}
	c.conns[k] = true
	return k, nil
}

// conn is a connection that can be cut after the first reply. Before that, go-redis
// would repeat its handshake while it holds a mutex. Others wait for the mutex, so the
// bubble's time would stand still.
type conn struct {
	net.Conn
	greeted atomic.Bool
}

func (k *conn) Read(b []byte) (int, error) {
	n, err := k.Conn.Read(b)
	if n > 0 {
		k.greeted.Store(true)
	}
	return n, err
}

// undoes adds an undo. It may be missing if the client crashes before it must have
// happened.
func (c *client) undoes(o *op) {
	c.w.rec.add(o)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undos = append(c.undos, o)
}

// settle decides until when pending operations may happen, which undos may be missing,
// and adds the ends of leases. A watchdog's renewal that was sent twice may arrive after
// its hold ended and extend the lease.
func (c *client) settle() {
	for _, g := range c.grants {
		g.lapse(c.closed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.pending {
		until := c.closed
		if c.w.addr == "" && !c.torn { // requests take no virtual time
			until = min(until, d.from.plus(time.Millisecond))
		}
		if d.after > 0 {
			until = until.plus(d.after)
		}
		d.o.Return = min(d.o.Return, max(until, d.o.Call))
	}
	for _, o := range c.undos {
		o.Optional = c.gone <= o.Return // its own end is no later than closed
	}
	for _, g := range c.grants {
		for _, e := range g.ends {
			if c.torn && g.renewed {
				e.Return = e.Return.plus(3 * watchdogLease)
			}
			if g.reach != nil {
				*g.reach = max(*g.reach, e.Return)
			}
		}
	}
	for _, g := range c.grants {
		for _, e := range g.ends {
			if g.reach != nil {
				e.Return = *g.reach
			}
			c.w.rec.add(e)
		}
	}
}

// cut cuts the connections.
func (c *client) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.conns {
		if k.greeted.Load() {
			k.Close()
			delete(c.conns, k)
		}
	}
	c.torn = true
}

// slow reports whether a call may still be running after its wait time.
func (c *client) slow() bool { return c.w.addr != "" || c.wasCut() }

// wasCut reports whether requests may have been sent twice.
func (c *client) wasCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.torn
}

// kill cuts the connections permanently.
func (c *client) kill() {
	c.mu.Lock()
	c.dead = true
	c.mu.Unlock()
	c.cut()
}

func (c *client) close() {
	now := c.w.rec.now()
	c.mu.Lock()
	c.gone = now
	dead := c.dead
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	if dead {
		cancel() // no request will be answered
	}
	c.c.Close(ctx)
	cancel()
	c.rdb.Close()
	// A request may still be in the connection's buffer.
	if c.closed = c.w.rec.now().plus(time.Millisecond); c.w.addr != "" {
		c.closed = c.closed.plus(c.w.rec.slack)
	}
}

// elapse lets real or virtual time pass.
func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}

// resultOf returns the result that an error stands for.
func resultOf(err error) result {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, rlock.ErrTimeout):
		return refused
	case errors.Is(err, rlock.ErrClosed): // also a hold lost by Close
		return unknown
	case errors.Is(err, rlock.ErrLockLost):
		return lost
	case errors.Is(err, rlock.ErrNotHeld):
		return notHeld
	}
	return unknown
}
