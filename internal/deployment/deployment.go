package deployment

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/resp"
)

// Node is a server of a deployment.
type Node struct {
	Addr   string // that it announces, "host:port"
	Inside backdoor.Inside
}

// Deployment is a primary with its replicas, and its Sentinels if it has any.
type Deployment struct {
	links *Links
	nodes []Node

	mu       sync.Mutex // held during a failover and other changes of the nodes' places
	leader   int        // of the last failover
	monitors []backdoor.Monitor
}

// New returns a deployment of started servers. The index of a node is that in links.
func New(links *Links, nodes []Node) *Deployment { return &Deployment{links: links, nodes: nodes} }

// Watch adds the Sentinels.
func (d *Deployment) Watch(monitors []backdoor.Monitor) { d.monitors = monitors }

// patience is how long a node may take to follow another one, or to promote.
const patience = 20 * time.Second

// Form has all nodes follow the first one, and waits until they do.
func (d *Deployment) Form(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gather(ctx, 0)
}

// gather has the nodes that can reach a primary follow it, and waits until they do. A node that has
// ended is left out.
func (d *Deployment) gather(ctx context.Context, primary int) error {
	var following []int
	for i := range d.nodes {
		if i == primary || d.down(i) || d.links.IsCut(i, primary) {
			continue
		}
		if err := d.follow(i, primary); err != nil {
			return err
		}
		following = append(following, i)
	}
	for _, i := range following {
		if err := d.awaitLink(ctx, primary, i); err != nil {
			return err
		}
	}
	return nil
}

// follow has a node follow another one, or lead if primary is -1. A link that is gone is made again.
func (d *Deployment) follow(i, primary int) (err error) {
	host, port := "NO", "ONE"
	if primary >= 0 {
		host, port, _ = net.SplitHostPort(d.nodes[primary].Addr)
	}
	inside := &d.nodes[i].Inside
	inside.Call(0, resp.Args{[]byte("REPLICAOF"), []byte(host), []byte(port)}, func(reply resp.Reply) {
		if reply.IsError() {
			err = fmt.Errorf("node %d: REPLICAOF %s %s: %s", i, host, port, reply.Text())
		}
	})
	inside.Relink()
	return err
}

// awaitLink waits until a node that follows a primary has all that the primary lets through.
func (d *Deployment) awaitLink(ctx context.Context, primary, i int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	from, to := &d.nodes[primary], &d.nodes[i]
	target, known := int64(0), false
	for pause := time.Duration(0); ; pause = min(pause+50*time.Microsecond, 2*time.Millisecond) {
		if !known {
			target, known = from.Inside.Let(to.Addr)
		}
		follows, up, offset, down := to.Inside.Standing()
		switch {
		case known && up && follows == from.Addr && offset >= target:
			return nil
		case down || d.down(primary) || d.links.IsCut(primary, i):
			return nil // there is nothing to wait for any more
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the replica %s has no link to the primary %s: %w", to.Addr, from.Addr, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// down reports whether a node has ended.
func (d *Deployment) down(i int) bool {
	inside := &d.nodes[i].Inside
	_, _, _, down := inside.Standing()
	return down || inside.Running() != nil
}

// Settle waits until the replicas of a node have all that it lets through, and until it has that of its
// primary. It does not wait for a link that is cut.
func (d *Deployment) Settle(ctx context.Context, node int) error {
	if d.down(node) {
		return nil
	}
	for i := range d.nodes {
		if err := d.awaitPair(ctx, node, i); err != nil {
			return err
		}
	}
	return nil
}

// Primary returns the index of the node that leads: the one that the Sentinels name, else the one of the
// last failover.
func (d *Deployment) Primary() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.primary()
}

func (d *Deployment) primary() int {
	if m := d.monitor(); m != nil {
		addr := m.Addr()
		for i := range d.nodes {
			if d.nodes[i].Addr == addr {
				return i
			}
		}
	}
	if !d.leads(d.leader) { // a client has sent REPLICAOF
		for i := range d.nodes {
			if d.leads(i) && !d.down(i) {
				return i
			}
		}
	}
	return d.leader
}

// leads reports whether a node is a primary.
func (d *Deployment) leads(i int) bool {
	follows, _, _, _ := d.nodes[i].Inside.Standing()
	return follows == ""
}

// monitor returns a Sentinel that runs, nil if there is none.
func (d *Deployment) monitor() backdoor.Monitor {
	for _, m := range d.monitors {
		if m.Running() == nil {
			return m
		}
	}
	return nil
}

// Cut breaks the link between two nodes. What was written before has arrived. The index of all
// Sentinels is Sentinels.
func (d *Deployment) Cut(ctx context.Context, a, b int) error {
	err := d.awaitPair(ctx, a, b)
	d.links.Cut(a, b)
	return err
}

// Heal ends Cut. If one of the nodes is a replica of the other one, Heal waits until it has all data.
func (d *Deployment) Heal(ctx context.Context, a, b int) error {
	d.links.Heal(a, b)
	return d.awaitPair(ctx, a, b)
}

// awaitPair waits until one of two nodes has all that the other one lets through, if it is its replica.
func (d *Deployment) awaitPair(ctx context.Context, a, b int) error {
	if a < 0 || b < 0 {
		return nil
	}
	for _, p := range [][2]int{{a, b}, {b, a}} {
		to := &d.nodes[p[1]].Inside
		if follows, _, _, down := to.Standing(); follows != d.nodes[p[0]].Addr || down {
			continue
		}
		to.Relink()
		if err := d.awaitLink(ctx, p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}

// Lag holds back the last writes for a node, whichever node it follows. 0 ends that.
func (d *Deployment) Lag(i, writes int) {
	for j := range d.nodes {
		d.nodes[j].Inside.SetLag(d.nodes[i].Addr, writes)
	}
}

// HealAll ends all cuts and lags. All nodes that run follow the primary: another one that leads loses
// what only it has.
func (d *Deployment) HealAll(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for a := Sentinels; a < len(d.nodes); a++ {
		for b := a + 1; b < len(d.nodes); b++ {
			d.links.Heal(a, b)
		}
	}
	for i := range d.nodes {
		d.Lag(i, 0)
	}
	return d.gather(ctx, d.primary())
}
