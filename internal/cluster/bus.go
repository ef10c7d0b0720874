package cluster

import (
	"bytes"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Bus connects the nodes of a cluster. They are in one process: the bus is a View that they
// share, and messages that it passes on. A method may be called inside a node's engine.
type Bus struct {
	view atomic.Pointer[View]
	// primaries is how many nodes are primaries at the start. The nodes that join after them are their
	// replicas, in turn. 0: all nodes are primaries.
	primaries int

	mu    sync.Mutex // guards changes of view, and peers. No other lock of a node is taken under it
	peers []Peer     // by the index of the node
}

// Peer is how a node hears from the other nodes. The methods are called under the lock of the bus,
// and inside another node's engine: they only note what there is to do.
type Peer interface {
	// Changed says that there is another View.
	Changed()
	// Deliver passes on a message of PUBLISH. The peer may keep channel and payload.
	Deliver(channel, payload []byte, sharded bool)
	// HandOver asks the peer to hand its slots over to its replica n.
	HandOver(n Node)
}

// NewBus returns a bus without nodes. All nodes that join it will be primaries.
func NewBus() *Bus { return NewReplicatedBus(0) }

// NewReplicatedBus returns a bus without nodes. The first nodes that join it will be primaries, so many,
// and the others their replicas in turn. 0: all will be primaries.
func NewReplicatedBus(primaries int) *Bus {
	b := &Bus{primaries: primaries}
	b.view.Store(&View{})
	return b
}

// Join adds a node to the cluster. p is nil for a node that stays alone. The nodes of a cluster get
// the epochs 1, 2 and so on, as from redis-cli --cluster create.
func (b *Bus) Join(n Node, p Peer) *Cluster {
	c := &Cluster{bus: b, homePrimary: -1, Migrating: map[int]string{}, Importing: map[int]string{}}
	b.change(func(v *View) {
		c.self = len(v.Nodes)
		if b.primaries > 0 && c.self >= b.primaries {
			c.homePrimary = c.self % b.primaries
			n.Primary, n.Slots = v.Nodes[c.homePrimary].ID, Set{}
		}
		c.home = n.Slots
		if p != nil {
			v.Epoch++
			n.Epoch = v.Epoch
			b.peers = append(b.peers, p)
		}
		v.Nodes = append(v.Nodes, n)
	})
	c.view = b.view.Load()
	return c
}

// Find returns the index of the node that announces an address, "host:port", -1 if there is none.
func (b *Bus) Find(addr string) int {
	nodes := b.view.Load().Nodes
	for i := range nodes {
		if at := nodes[i].Reach; net.JoinHostPort(at.IP, strconv.Itoa(at.First)) == addr {
			return i
		}
	}
	return -1
}

// change makes another View of the newest one and tells all peers.
func (b *Bus) change(do func(v *View)) *View {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.view.Load().copied()
	do(v)
	v.settle()
	b.view.Store(v)
	for _, p := range b.peers {
		p.Changed()
	}
	return v
}

// publish passes a message on to all nodes but the one with index from; with sharded, to those of its
// shard.
func (b *Bus) publish(from int, channel, payload []byte, sharded bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.peers) < 2 {
		return
	}
	v := b.view.Load()
	shard := v.Head(&v.Nodes[from])
	cloned := false
	for i, p := range b.peers {
		if i == from || sharded && v.Head(&v.Nodes[i]) != shard {
			continue
		}
		if !cloned {
			channel, payload, cloned = bytes.Clone(channel), bytes.Clone(payload), true
		}
		p.Deliver(channel, payload, sharded)
	}
}

// ask asks the primary of the node with an index to hand its slots over to that node.
func (b *Bus) ask(replica int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.view.Load()
	for i := range v.Nodes {
		if v.Nodes[i].ID == v.Nodes[replica].Primary {
			b.peers[i].HandOver(v.Nodes[replica])
		}
	}
}
