package engine

import (
	"sync"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
)

// peer is how an engine hears from the other nodes of its cluster. They note what there is in an
// inbox, and do not wait for this engine's lock. A goroutine of the engine reads the inbox.
type peer struct {
	e    *Engine
	wake chan struct{} // capacity 1

	// The lock of the engine guards these.

	placed *cluster.View // that the node's place among primaries and replicas fits
	began  bool          // the node's data are read: it may follow a primary
	waits  bool          // the node tries again to take over, see elect
	due    bool          // it tries now

	mu       sync.Mutex // guards the inbox
	messages []message
	asks     *cluster.Node // the replica that asks this primary for its slots; nil: none
}

// message is a message of PUBLISH, or SPUBLISH, from another node.
type message struct {
	channel, payload []byte
	sharded          bool
}

func newPeer(e *Engine) *peer { return &peer{e: e, wake: make(chan struct{}, 1)} }

// Changed is cluster.Peer's.
func (p *peer) Changed() {
	select {
	case p.wake <- struct{}{}:
	default: // the goroutine is about to look
	}
}

// Deliver is cluster.Peer's. After Close nothing reads the inbox.
func (p *peer) Deliver(channel, payload []byte, sharded bool) {
	if p.e.closed.Load() {
		return
	}
	p.mu.Lock()
	p.messages = append(p.messages, message{channel, payload, sharded})
	p.mu.Unlock()
	p.Changed()
}

// HandOver is cluster.Peer's.
func (p *peer) HandOver(n cluster.Node) {
	p.mu.Lock()
	p.asks = &n
	p.mu.Unlock()
	p.Changed()
}

// run reads the inbox until the engine is closed.
func (p *peer) run() {
	defer p.e.done.Done()
	for {
		select {
		case <-p.e.timer.quit:
			return
		case <-p.wake:
		}
		p.e.Outside(p.read)
	}
}

// read does what other nodes have noted.
func (p *peer) read() {
	e := p.e
	defer func() {
		if cause := recover(); cause != nil {
			e.panics.log("the cluster's bus", nil, cause)
		}
	}()
	e.journal.Unit(journal.UnitBegins)
	p.follow()
	p.elect()
	e.journal.Unit(journal.UnitEnds)
	p.mu.Lock()
	messages, asks := p.messages, p.asks
	p.messages, p.asks = nil, nil
	p.mu.Unlock()
	for _, m := range messages {
		e.env.PubSub.Publish(m.channel, m.payload, m.sharded)
	}
	if asks != nil {
		p.handOver(asks)
	}
	e.parking.serveReady()
}

// announce tells the other nodes how this node is reached, and whether it takes over.
func (p *peer) announce() {
	reach, noFailover := p.e.env.Reach(), p.e.env.Config.Cluster.NoFailover
	p.e.env.Cluster.Change(func(_ *cluster.View, self *cluster.Node) {
		self.Reach, self.NoFailover = reach, noFailover
	})
}

// follow takes what the other nodes have changed since the last unit, and the place of the node. As in
// Redis, keys of a slot that another node has taken are deleted; but those of a node that has become a
// replica, or will be one, are replaced by its primary's.
func (p *peer) follow() {
	cl := p.e.env.Cluster
	before := cl.Adopt()
	if self := cl.Self(); before != nil && self.Primary == "" && self.Heir == "" {
		lost := cl.Lost(before)
		for r := range lost.Ranges() {
			for slot := r.First; slot <= r.Last; slot++ {
				p.dropSlot(slot)
			}
		}
	}
	if p.placed != cl.View() {
		p.place()
	}
	if before != nil {
		p.e.env.ViewChanged(before)
	}
}

// dropSlot deletes the keys of a slot.
func (p *peer) dropSlot(slot int) {
	e := p.e
	db := e.env.Space.DB(0)
	keys := db.SlotKeys(slot, db.SlotLen(slot))
	if len(keys) == 0 {
		return
	}
	defer e.journal.Because(journal.ByMigrate)()
	c := command.Ctx{Env: &e.env, DB: db, From: command.FromWait}
	for _, key := range keys {
		name := []byte(key)
		if entry := db.Peek(name); entry != nil {
			c.Delete(entry, e.env.Space.Lazyfree.ServerDel, 1)
			c.Tell(command.WordDel, name)
		}
	}
}
