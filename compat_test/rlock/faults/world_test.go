package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/compat_test/rlock/tcpproxy"
	"github.com/lockredis/lockredis/compat_test/rlock/topology"
	"github.com/lockredis/lockredis/internal/stall"
)

const (
	lease    = 2 * time.Second
	fairWait = 200 * time.Millisecond

	// calmLease is long, because a lock that is granted without an owner stays held for it.
	calmLease = 20 * time.Second
	// calmFree is how long a lock with the lease calmLease may be free with a waiter. It
	// has time for several timeouts of go-redis and rlock's pause between two tries.
	calmFree = 3 * time.Second

	processes = 6
	workers   = 5 // of each process

	// partWait is how long an owner of a multi-lock may keep a part while it waits for the
	// other one.
	partWait = 3 * time.Second

	// socketPatience is go-redis's timeout for a reply (ReadTimeout).
	socketPatience = 250 * time.Millisecond
)

// campaign is a run of one kind on one topology.
type campaign struct {
	t      *testing.T
	tp     *topology.Topology
	more   []*topology.Topology // the other servers of a quorum
	kind   kind
	rules  rules
	names  []string
	count  int // acquisitions
	seed   uint64
	server bool // faults of servers, too
	calm   bool // faults of the network only

	lease, fairWait time.Duration

	rec    *record
	direct []redis.UniversalClient // of each topology, without a proxy
	nodes  []*node
	ended  atomic.Bool

	mu        sync.Mutex
	contended map[string]time.Duration // by owner
	networks  []*tcpproxy.Network      // all
}

// node runs one process after the other.
type node struct {
	c      *campaign
	number int

	mu      sync.Mutex // guards the fields below
	current *running
	started int
}

// running is a process of a campaign.
type running struct {
	client
	rdbs   []redis.UniversalClient
	net    *tcpproxy.Network
	ctx    context.Context // of its acquisitions
	cancel context.CancelFunc
}

// mixed is the kind of a campaign with readers and writers.
const mixed kind = "read/write"

var campaignKinds = []kind{plainLock, fairLock, mixed, spinLock, fencedLock, multiLock, semaphore,
	permit, quorumLock}

func newCampaign(
	t *testing.T, tp *topology.Topology, k kind, count int, seed uint64, calm bool,
) *campaign {
	c := &campaign{t: t, tp: tp, kind: k, count: count, seed: seed, server: count > shortCount,
		rec:    &record{clock: stall.Watch(t), errs: map[string]int{}},
		direct: []redis.UniversalClient{tp.Client(t)}, contended: map[string]time.Duration{}}
	c.lease, c.fairWait = lease, fairWait
	c.rules = rules{lease: lease, free: lease + freeGrace, tokens: k == fencedLock, joint: k == multiLock}
	if calm {
		c.calm, c.server, c.lease, c.fairWait = true, false, calmLease, calmLease
		c.rules.lease, c.rules.free = calmLease, calmFree
	}
	if k == quorumLock {
		for range 2 {
			other := topology.Start(t, tp.Kind)
			c.more, c.direct = append(c.more, other), append(c.direct, other.Client(t))
		}
	}
	if k == multiLock {
		c.rules.free += partWait // an owner that was cut off holds one part and waits for another
	}
	if k == fairLock {
		c.rules.fair = c.fairWait
		c.rules.free += workers * fairWait // the waiters of a crashed process
	}
	for i := range 10 {
		c.names = append(c.names, fmt.Sprintf("%s:%d:%d", k, seed, i))
	}
	if c.counts() {
		c.rules.capacity = 4
		c.names = c.names[:5]
	}
	for i := range processes {
		n := &node{c: c, number: i}
		n.current = n.start()
		c.nodes = append(c.nodes, n)
	}
	return c
}

// counts reports whether the kind has permits.
func (c *campaign) counts() bool { return c.kind == semaphore || c.kind == permit }

// start returns a new process.
func (n *node) start() *running {
	c := n.c
	p := &running{net: tcpproxy.New(c.t)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for _, tp := range append([]*topology.Topology{c.tp}, c.more...) {
		p.rdbs = append(p.rdbs, tp.Client(c.t, func(o *redis.UniversalOptions) {
			o.Dialer, o.ReadTimeout, o.WriteTimeout, o.DialTimeout = p.net.Dial, socketPatience,
				socketPatience, socketPatience
		}))
	}
	o := clientOptions{lease: c.lease, fairWait: c.fairWait, contended: c.waits,
		unlockOnClose: n.number%2 == 1}
	if c.kind == quorumLock {
		p.client = newQuorum(p.rdbs, o)
	} else {
		p.client = newClient(p.rdbs[0], o)
	}
	n.started++
	p.net.Follow(c.plan(uint64(n.number*1000 + n.started)))
	c.mu.Lock()
	c.networks = append(c.networks, p.net)
	c.mu.Unlock()
	return p
}

// end closes the process's connections.
func (p *running) end() {
	for _, rdb := range p.rdbs {
		rdb.Close()
	}
	p.net.Close()
}

func (n *node) process() *running {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.current
}

// replace starts a new process and returns the old one.
func (n *node) replace() *running {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := n.current
	n.current = n.start()
	return old
}

// waits is rlock's observer: an owner begins to wait.
func (c *campaign) waits(_, owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.contended[owner] = c.rec.now()
}

func (c *campaign) contendedAt(owner string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.contended[owner]
	delete(c.contended, owner)
	return at
}

// faults returns how many faults there have been.
func (c *campaign) faults() (sum int) {
	c.mu.Lock()
	networks := c.networks
	c.mu.Unlock()
	for _, n := range networks {
		sum += n.Faults()
	}
	c.rec.mu.Lock()
	defer c.rec.mu.Unlock()
	return sum + c.rec.faults
}

// plan returns the phases of a process's network, in an order of its own.
func (c *campaign) plan(number uint64) *tcpproxy.Plan {
	const (
		phase = 700 * time.Millisecond
		long  = socketPatience + 200*time.Millisecond // past go-redis's patience
	)
	phases := []tcpproxy.Phase{
		{Name: "quiet", For: phase},
		{Name: "retransmissions", For: phase, Commands: []tcpproxy.Chance{
			{Of: 0.04, Kind: tcpproxy.HoldRequest, Min: 20 * time.Millisecond, Max: long},
			{Of: 0.04, Kind: tcpproxy.HoldReply, Min: 20 * time.Millisecond, Max: long}},
			Messages: []tcpproxy.Chance{
				{Of: 0.1, Kind: tcpproxy.HoldReply, Min: 20 * time.Millisecond, Max: long}}},
		{Name: "losses", For: phase, Commands: []tcpproxy.Chance{
			{Of: 0.03, Kind: tcpproxy.LoseReply}, {Of: 0.02, Kind: tcpproxy.ResetReply},
			{Of: 0.02, Kind: tcpproxy.Reset}},
			Messages: []tcpproxy.Chance{{Of: 0.03, Kind: tcpproxy.Reset}},
			Accepts:  []tcpproxy.Chance{{Of: 0.1, Kind: tcpproxy.Reset}}},
		{Name: "quiet", For: phase},
		{Name: "silence", For: phase, Commands: []tcpproxy.Chance{
			{Of: 0.01, Kind: tcpproxy.VanishReply}, {Of: 0.01, Kind: tcpproxy.Vanish}},
			Messages: []tcpproxy.Chance{{Of: 0.02, Kind: tcpproxy.Vanish}},
			Accepts:  []tcpproxy.Chance{{Of: 0.1, Kind: tcpproxy.Vanish}}},
		{Name: "everything", For: phase, Commands: []tcpproxy.Chance{
			{Of: 0.03, Kind: tcpproxy.HoldRequest, Min: 20 * time.Millisecond, Max: long},
			{Of: 0.02, Kind: tcpproxy.LoseReply}, {Of: 0.01, Kind: tcpproxy.Reset},
			{Of: 0.005, Kind: tcpproxy.VanishReply}}},
	}
	if c.calm {
		// Without silent connections: rlock needs seconds to notice that no message comes.
		phases = slices.DeleteFunc(phases, func(p tcpproxy.Phase) bool { return p.Name == "silence" })
		last := &phases[len(phases)-1]
		last.Commands = last.Commands[:3]
	}
	rnd := rand.New(rand.NewPCG(c.seed, number))
	rnd.Shuffle(len(phases), func(i, j int) { phases[i], phases[j] = phases[j], phases[i] })
	return &tcpproxy.Plan{Seed: c.seed<<16 + number, Phases: phases}
}
