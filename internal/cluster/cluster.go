package cluster

// Cluster is what a node knows about its cluster. The lock of the node's engine guards it.
type Cluster struct {
	// Migrating has the ids of the nodes that slots of this node move to. Importing has those
	// of the nodes that slots come from.
	Migrating, Importing map[int]string

	bus  *Bus
	self int // index of the node
	home Set // its slots when it joined
	// homePrimary is the index of its primary when it joined, -1: it had none.
	homePrimary int
	view        *View
}

// View returns what the node's commands know about the cluster.
func (c *Cluster) View() *View { return c.view }

// Self returns the node itself.
func (c *Cluster) Self() *Node { return &c.view.Nodes[c.self] }

// Owns reports whether the node owns the slot.
func (c *Cluster) Owns(slot int) bool { return c.Self().Slots.Has(slot) }

// Owner returns the node that owns the slot, nil when no node owns it.
func (c *Cluster) Owner(slot int) *Node {
	if n := c.Self(); n.Slots.Has(slot) {
		return n
	}
	return c.view.Owner(slot)
}

// Node returns the node with an id, nil when the cluster has no such node.
func (c *Cluster) Node(id string) *Node { return c.view.Node(id) }

// OK reports whether the cluster serves commands, see View.
func (c *Cluster) OK(fullCoverage bool) bool { return c.view.OK(fullCoverage) }

// Change changes what all nodes know. change may change v and self, which is the node in v. v is
// the newest View: another node may have changed it since the command began.
func (c *Cluster) Change(change func(v *View, self *Node)) {
	c.view = c.bus.change(func(v *View) { change(v, &v.Nodes[c.self]) })
}

// Adopt takes the newest View. It returns the View before, nil when that is the newest.
func (c *Cluster) Adopt() (before *View) {
	newest := c.bus.view.Load()
	if newest == c.view {
		return nil
	}
	before, c.view = c.view, newest
	return before
}

// Lost returns the slots that the node has owned in an earlier View and does not own now.
func (c *Cluster) Lost(before *View) Set { return missing(before.Nodes[c.self].Slots, c.Self().Slots) }

// Unserved returns the slots whose shard channels the node has served in an earlier View and does not
// serve now: those that it has lost, or that its primary has.
func (c *Cluster) Unserved(before *View) Set {
	was, is := &before.Nodes[c.self], c.Self()
	if was.Primary == "" {
		return missing(was.Slots, is.Slots)
	}
	return missing(before.Head(was).Slots, c.view.Head(is).Slots)
}

// missing returns the slots that are in was and not in is.
func missing(was, is Set) (lost Set) {
	if was == is {
		return lost
	}
	for r := range was.Ranges() {
		for slot := r.First; slot <= r.Last; slot++ {
			if !is.Has(slot) {
				lost.Add(slot)
			}
		}
	}
	return lost
}

// SetDown says that the node has ended at a time, in Unix ms, or with 0 that it serves again. It
// may be called without the engine's lock.
func (c *Cluster) SetDown(since int64) {
	c.bus.change(func(v *View) {
		switch n := &v.Nodes[c.self]; {
		case since == 0:
			n.Health, n.Since = Online, 0
			if heir := v.Node(n.Heir); heir != nil && n.Slots.Len() == 0 {
				v.Follow(n, heir)
			}
		case n.Health == Online:
			n.Health, n.Since = Suspected, since
		}
	})
}

// Publish passes a message on to the subscribers of the other nodes, or with sharded to those of the
// nodes of this shard.
func (c *Cluster) Publish(channel, payload []byte, sharded bool) {
	c.bus.publish(c.self, channel, payload, sharded)
}

// Primary returns the node that this one is a replica of. Nil: it is a primary.
func (c *Cluster) Primary() *Node { return c.view.PrimaryOf(c.Self()) }

// Reads reports whether the node is a replica of n, whose slots clients of READONLY may read.
func (c *Cluster) Reads(n *Node) bool { return n != nil && c.Self().Primary == n.ID }

// Replicate makes the node a replica of the primary with an id.
//
// Differs from Redis: the node's own replicas follow that primary, too.
func (c *Cluster) Replicate(id string) {
	clear(c.Migrating)
	clear(c.Importing)
	c.Change(func(v *View, self *Node) {
		if primary := v.Node(id); primary != nil && primary.Primary == "" {
			v.Follow(self, primary)
			for _, r := range v.Replicas(self) {
				v.Follow(r, primary)
			}
		}
	})
}

// AskForLead asks the primary of this node to hand its slots over.
func (c *Cluster) AskForLead() { c.bus.ask(c.self) }

// TakeOver makes this replica the primary of its shard, unless it is no replica any more or may says no.
// elected says that the other primaries have voted, which begins a new epoch.
func (c *Cluster) TakeOver(elected bool, may func(v *View, self *Node) bool) {
	c.giveTo(c.Self().ID, elected, may)
}

// HandOver makes a replica of this node the primary of the shard, if it still is a replica, and online.
func (c *Cluster) HandOver(id string) {
	c.giveTo(id, true, func(v *View, n *Node) bool {
		return v.majority && n.Health == Online && n.Primary == v.Nodes[c.self].ID
	})
}

func (c *Cluster) giveTo(id string, elected bool, may func(v *View, n *Node) bool) {
	c.Change(func(v *View, _ *Node) {
		n := v.Node(id)
		if n == nil || v.PrimaryOf(n) == nil || !may(v, n) {
			return
		}
		v.TakeOver(n)
		if elected {
			v.Epoch++
			n.Epoch = v.Epoch
		} else {
			v.Bump(n)
		}
	})
}

// Reset closes all slots that are on the move, and makes the node a primary that owns nothing. If newID
// is not "", the node also gets that id and forgets its epochs.
func (c *Cluster) Reset(newID string) {
	clear(c.Migrating)
	clear(c.Importing)
	c.Change(func(v *View, self *Node) {
		self.Slots, self.Primary = Set{}, ""
		if newID == "" {
			return
		}
		v.rename(self.ID, newID)
		self.ID, self.Epoch = newID, 0
		if len(v.Nodes) == 1 {
			v.Epoch = 0
		}
	})
}

// PutBack ends the migration and import of all slots, and gives the node the slots that it had when it
// joined, or makes it the replica of the node that it was a replica of. A slot that it got later stays
// with it until that slot's first owner calls PutBack. PutBack returns the View before the change, nil if
// nothing changed.
func (c *Cluster) PutBack() (before *View) {
	clear(c.Migrating)
	clear(c.Importing)
	primary := ""
	if c.homePrimary >= 0 {
		primary = c.view.Nodes[c.homePrimary].ID
	}
	if self := c.Self(); self.Slots == c.home && self.Primary == primary {
		return nil
	}
	before = c.view
	c.Change(func(v *View, self *Node) {
		self.Primary, self.Heir = primary, ""
		for r := range c.home.Ranges() {
			for slot := r.First; slot <= r.Last; slot++ {
				v.Give(slot, self)
			}
		}
	})
	return before
}

// Share returns the slots of the i-th of n nodes, as redis-cli --cluster create divides them.
func Share(i, n int) (s Set) {
	first, last := shareStart(i, n), shareStart(i+1, n)-1
	if i == n-1 {
		last = Slots - 1
	}
	s.AddRange(Range{first, last})
	return s
}

// ShareOf returns the index of the one of n nodes that Share gives the slot to.
func ShareOf(slot, n int) (i int) {
	for i < n-1 && slot >= shareStart(i+1, n) {
		i++
	}
	return i
}

// shareStart rounds i/n of the slots to the nearest slot.
func shareStart(i, n int) int { return (2*i*Slots + n) / (2 * n) }
