package cluster

import (
	"fmt"
	"strings"
)

// Cluster is what a node knows about its cluster.
type Cluster struct {
	// Self is the node itself, the only one it knows.
	Self Node
	// Epoch is the newest configuration epoch that the node has seen.
	Epoch uint64
}

// Node is a node of the cluster.
type Node struct {
	ID    string // 40 hex digits
	Epoch uint64 // the configuration epoch, 0 until one is set
	Slots Set
}

// New returns the cluster of a node that is alone.
func New(id string, slots Set) *Cluster { return &Cluster{Self: Node{ID: id, Slots: slots}} }

// Owner returns the node that owns the slot, nil when no node owns it.
func (c *Cluster) Owner(slot int) *Node {
	if c.Self.Slots.Has(slot) {
		return &c.Self
	}
	return nil
}

// Node returns the node with an id, nil when the cluster has no such node.
func (c *Cluster) Node(id string) *Node {
	if id == c.Self.ID {
		return &c.Self
	}
	return nil
}

// Size returns the number of masters that own a slot.
func (c *Cluster) Size() int { return min(c.Self.Slots.Len(), 1) }

// OK reports whether the cluster serves commands: a master owns a slot, and with
// fullCoverage every slot has an owner.
func (c *Cluster) OK(fullCoverage bool) bool {
	return c.Size() > 0 && (!fullCoverage || c.Self.Slots.Len() == Slots)
}

// BumpEpoch gives the node the newest epoch if it has none or an older one. It reports
// whether the node's epoch changed.
func (c *Cluster) BumpEpoch() bool {
	if c.Self.Epoch != 0 && c.Self.Epoch == c.Epoch {
		return false
	}
	c.Epoch++
	c.Self.Epoch = c.Epoch
	return true
}

// Reset makes the node own nothing. If newID is not "", the node also gets that id and
// forgets its epochs.
func (c *Cluster) Reset(newID string) {
	c.Self.Slots = Set{}
	if newID != "" {
		*c = Cluster{Self: Node{ID: newID}}
	}
}

// Address says how clients and other nodes reach a node.
type Address struct {
	IP      string // "" when the node does not know it
	Host    string // cluster-announce-hostname, "": none
	Port    int    // for the client that asks
	BusPort int    // for other nodes, 0: none
	Plain   int    // the port without TLS, 0: none
	TLS     int    // the port with TLS, 0: none
}

// Line returns the node's line in its own CLUSTER NODES, with the newline.
func (n *Node) Line(at Address) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:%d@%d", n.ID, at.IP, at.Port, at.BusPort)
	if at.Host != "" {
		b.WriteString("," + at.Host)
	}
	fmt.Fprintf(&b, " myself,master - 0 0 %d connected", n.Epoch)
	for r := range n.Slots.Ranges() {
		b.WriteString(" " + r.String())
	}
	b.WriteByte('\n')
	return b.String()
}
