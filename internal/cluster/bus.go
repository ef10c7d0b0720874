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

	mu    sync.Mutex // guards changes of view, and peers. No other lock of a node is taken under it
	peers []Peer     // by the index of the node
}

// Peer is how a node hears from the other nodes. The methods are called under the lock of the bus,
// and inside another node's engine: they only note what there is to do.
type Peer interface {
	// Changed says that there is another View.
	Changed()
	// Deliver passes on a message of PUBLISH. The peer may keep channel and payload.
	Deliver(channel, payload []byte)
}

// NewBus returns a bus without nodes.
func NewBus() *Bus {
	b := &Bus{}
	b.view.Store(&View{})
	return b
}

// Join adds a node to the cluster. p is nil for a node that stays alone. The nodes of a cluster get
// the epochs 1, 2 and so on, as from redis-cli --cluster create.
func (b *Bus) Join(n Node, p Peer) *Cluster {
	c := &Cluster{bus: b, home: n.Slots, Migrating: map[int]string{}, Importing: map[int]string{}}
	b.change(func(v *View) {
		c.self = len(v.Nodes)
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

// publish passes a message on to all nodes but the one with index from.
func (b *Bus) publish(from int, channel, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.peers) < 2 {
		return
	}
	channel, payload = bytes.Clone(channel), bytes.Clone(payload)
	for i, p := range b.peers {
		if i != from {
			p.Deliver(channel, payload)
		}
	}
}
