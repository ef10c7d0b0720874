package cluster

import "sync/atomic"

// Node is a node of a cluster.
type Node struct {
	ID    string // 40 hex digits
	Epoch uint64 // the configuration epoch, 0 until one is set. A replica's has no effect, see View.EpochOf
	Slots Set    // of a primary; a replica has none
	// Primary is the id of the node that this one is a replica of, "": it is a primary.
	Primary string
	// Heir is the id of the node that has taken the slots of this primary. It will be the replica of that
	// node as soon as it is online again. "": none.
	Heir   string
	Reach  Reach
	Joined int64 // Unix ms
	Health Health
	Since  int64 // when the node has ended, in Unix ms; 0: it is online
	// NoFailover says that the node, as a replica, takes over only on request.
	NoFailover bool
	// Offset is up to where the node has the stream of its shard. It is always the newest; nil: unknown.
	Offset *atomic.Int64
}

// Health says whether a node serves.
type Health uint8

// A node that has ended is suspected, and failed as soon as a majority of the nodes with slots is
// online to agree on it.
const (
	Online Health = iota
	Suspected
	Failed
)

// String returns the health as CLUSTER NODES shows it among the flags: "", ",fail?" or ",fail".
func (h Health) String() string { return [...]string{"", ",fail?", ",fail"}[h] }

// View is what the nodes of a cluster know. It never changes.
type View struct {
	Epoch uint64 // the newest configuration epoch
	Nodes []Node

	// Counts of the above, see settle.

	Assigned  int // slots that a node owns
	Suspected int // slots of suspected nodes
	Failed    int // slots of failed nodes
	Size      int // nodes that own a slot
	majority  bool
}

// copied returns a View that may be changed, until settle has been called. Its majority is that of before
// the change.
func (v *View) copied() *View {
	return &View{
		Epoch: v.Epoch, Nodes: append(make([]Node, 0, len(v.Nodes)+1), v.Nodes...), majority: v.majority,
	}
}

// settle counts what the nodes make up together, and decides who has failed.
func (v *View) settle() {
	online := 0
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Slots.Len() > 0 {
			v.Size++
			v.Assigned += n.Slots.Len()
			if n.Health == Online {
				online++
			}
		}
	}
	v.majority = online > v.Size/2
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Health == Suspected && v.majority {
			n.Health = Failed
		}
		switch n.Health {
		case Suspected:
			v.Suspected += n.Slots.Len()
		case Failed:
			v.Failed += n.Slots.Len()
		}
	}
}

// OK reports whether the cluster serves commands: the majority of the nodes that own slots is
// online, and with fullCoverage every slot has an owner that has not failed.
func (v *View) OK(fullCoverage bool) bool {
	return v.majority && (!fullCoverage || v.Assigned-v.Failed == Slots)
}

// owner returns the index of the node that owns the slot, -1 when no node owns it.
func (v *View) owner(slot int) int {
	for i := range v.Nodes {
		if v.Nodes[i].Slots.Has(slot) {
			return i
		}
	}
	return -1
}

// Owner returns the node that owns the slot, nil when no node owns it.
func (v *View) Owner(slot int) *Node {
	if i := v.owner(slot); i >= 0 {
		return &v.Nodes[i]
	}
	return nil
}

// Node returns the node with an id, nil when the cluster has no such node.
func (v *View) Node(id string) *Node {
	for i := range v.Nodes {
		if v.Nodes[i].ID == id {
			return &v.Nodes[i]
		}
	}
	return nil
}

// Give makes n, a node of v, the owner of a slot. Nil: no node owns it.
func (v *View) Give(slot int, n *Node) {
	if owner := v.Owner(slot); owner != nil {
		owner.Slots.Remove(slot)
	}
	if n != nil {
		n.Slots.Add(slot)
	}
}

// Bump gives n, a node of v, the newest epoch if it has none or an older one. It reports whether
// the node's epoch changed.
func (v *View) Bump(n *Node) bool {
	if n.Epoch != 0 && n.Epoch == v.Epoch {
		return false
	}
	v.Epoch++
	n.Epoch = v.Epoch
	return true
}
