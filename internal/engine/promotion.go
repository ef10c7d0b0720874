package engine

import (
	"time"

	"github.com/lockredis/lockredis/internal/cluster"
)

// A cluster's node among primaries and replicas: whom it follows, when it takes over, and how it hands
// its slots over.

// place makes the node a replica of the primary that the View names, or a primary.
func (p *peer) place() {
	e, cl := p.e, p.e.env.Cluster
	if !p.began {
		return
	}
	p.placed = cl.View()
	primary := cl.Primary()
	if primary == nil {
		if e.replicas.Follows() {
			e.replicas.Lead()
		}
		return
	}
	at := primary.Reach.For(e.env.Config.TLS.Links)
	if at.Port != 0 { // else it is not started
		e.replicas.AbortFailover()
		e.replicas.Follow(at.IP, at.Port)
	}
}

// begin has the node take its place. Its data are read.
func (p *peer) begin() {
	p.began = true
	p.place()
}

// elect makes this replica take over if its primary has failed, and the primaries that are left may vote.
// The replica that has most of the primary's stream comes first. Each other one tries later, by a second
// for each replica before it.
//
// Redis 7.0.15: clusterHandleSlaveFailover in cluster.c. It waits before each election, at least half a
// second.
func (p *peer) elect() {
	v, self := p.e.env.Cluster.View(), p.e.env.Cluster.Self()
	due := p.due
	p.due = false
	if p.waits || !p.may(v, self) {
		return
	}
	rank := v.Rank(self)
	if due || rank == 0 {
		p.takeOver(true, p.may)
		return
	}
	p.waits = true
	p.e.env.Server.After(time.Duration(rank)*time.Second, func() {
		p.e.Outside(func() { p.waits, p.due = false, true })
		p.Changed()
	})
}

// may reports whether self takes over in v.
func (p *peer) may(v *cluster.View, self *cluster.Node) bool {
	primary := v.PrimaryOf(self)
	return primary != nil && primary.Health == cluster.Failed && primary.Slots.Len() > 0 &&
		self.Health == cluster.Online && v.Majority() &&
		!p.e.env.Config.Cluster.NoFailover && p.fresh()
}

// fresh reports whether the data of this replica are new enough for it to take over: it was linked with
// its primary, and not too long ago.
func (p *peer) fresh() bool {
	set := &p.e.env.Config.Cluster
	if set.ReplicaValidity == 0 {
		return true
	}
	seconds, linked := p.e.replicas.Age()
	age := seconds * 1000
	if age > set.NodeTimeout {
		age -= set.NodeTimeout
	}
	return linked && age <= p.e.env.Config.Replication.PingPeriod*1000+set.NodeTimeout*set.ReplicaValidity
}

// takeOver makes this replica the primary of its shard, if it may. elected says that the others vote.
func (p *peer) takeOver(elected bool, may func(v *cluster.View, self *cluster.Node) bool) {
	cl := p.e.env.Cluster
	before := cl.View()
	cl.TakeOver(elected, may)
	p.place()
	p.e.env.ViewChanged(before)
	if cl.Self().Primary == "" {
		p.e.log.Info("Failover election won: I'm the new master.")
	}
}

// handOver hands the slots of this primary over to a replica that asks for them, as soon as it has the
// whole stream. Clients that write wait meanwhile.
//
// Redis 7.0.15: clusterProcessPacket in cluster.c, CLUSTERMSG_TYPE_MFSTART.
func (p *peer) handOver(to *cluster.Node) {
	e, cl := p.e, p.e.env.Cluster
	if n := cl.Node(to.ID); n == nil || n.Primary != cl.Self().ID {
		return
	}
	at := to.Reach.For(e.env.Config.TLS.Links)
	e.replicas.HandOver(at.IP, at.Port, func() {
		before := cl.View()
		cl.HandOver(to.ID)
		p.place()
		e.env.ViewChanged(before)
	})
}
