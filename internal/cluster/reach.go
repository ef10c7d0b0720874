package cluster

import (
	"fmt"
	"strings"
)

// Reach says how clients and other nodes reach a node, as the node announces it.
type Reach struct {
	IP   string // "" when the node does not know it
	Host string // cluster-announce-hostname, "": none
	// First is the node's port, Second the port without TLS beside a First with TLS; 0: none.
	First, Second int
	Bus           int  // the port for other nodes, 0: none
	Secure        bool // First speaks TLS
}

// Address says how a client reaches a node.
type Address struct {
	IP      string // "" when the node does not know it
	Host    string // cluster-announce-hostname, "": none
	Port    int    // for the client that asks
	BusPort int    // for other nodes, 0: none
	Plain   int    // the port without TLS, 0: none
	TLS     int    // the port with TLS, 0: none
}

// For returns the address for a client that uses TLS, or does not.
func (r Reach) For(tls bool) Address {
	at := Address{IP: r.IP, Host: r.Host, Port: r.First, BusPort: r.Bus, Plain: r.First}
	if r.Second != 0 && !tls {
		at.Port = r.Second
	}
	if r.Secure {
		at.Plain, at.TLS = r.Second, r.First
	}
	return at
}

// Line returns the node's line in the CLUSTER NODES of node self, with the newline. now is in
// Unix ms.
func (n *Node) Line(at Address, c *Cluster, now int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:%d@%d", n.ID, at.IP, at.Port, at.BusPort)
	if at.Host != "" {
		b.WriteString("," + at.Host)
	}
	self := n == c.Self()
	flags, primary, epoch := "master", "-", c.view.EpochOf(n)
	if n.Primary != "" {
		flags, primary = "slave", n.Primary
	}
	if self {
		flags = "myself," + flags
	}
	flags += n.Health.String()
	if n.NoFailover {
		flags += ",nofailover"
	}
	switch {
	case self && len(c.view.Nodes) == 1:
		fmt.Fprintf(&b, " %s %s 0 0 %d connected", flags, primary, epoch)
	case !self && n.Health != Online:
		fmt.Fprintf(&b, " %s %s %d %d %d disconnected", flags, primary, n.Since, n.Since, epoch)
	default:
		fmt.Fprintf(&b, " %s %s 0 %d %d connected", flags, primary, now, epoch)
	}
	for r := range n.Slots.Ranges() {
		b.WriteString(" " + r.String())
	}
	if self {
		c.moves(&b)
	}
	b.WriteByte('\n')
	return b.String()
}

// moves writes the slots that the node sends and receives: "[5->-id]" and "[6-<-id]".
func (c *Cluster) moves(b *strings.Builder) {
	if len(c.Migrating)+len(c.Importing) == 0 {
		return
	}
	for slot := range Slots {
		if id := c.Migrating[slot]; id != "" {
			fmt.Fprintf(b, " [%d->-%s]", slot, id)
		} else if id := c.Importing[slot]; id != "" {
			fmt.Fprintf(b, " [%d-<-%s]", slot, id)
		}
	}
}
