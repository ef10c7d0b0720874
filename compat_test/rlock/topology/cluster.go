package topology

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
)

const (
	clusterMasters = 3
	clusterSlots   = 16384

	// nodeTimeout is cluster-node-timeout in ms; see downAfter.
	nodeTimeout = "2000"
)

// startCluster starts three masters with a replica each. The nodes talk through buses,
// which can be cut.
func startCluster(tb testing.TB, program string) *Topology {
	tb.Helper()
	tp := &Topology{Kind: Cluster, buses: newBuses(tb)}
	for range 2 * clusterMasters {
		inner := freePort(tb)
		outer := tp.buses.listen(tb, inner)
		n := newNode(tb, program, append(append(dataConf(), peerConf()...),
			"cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-node-timeout "+nodeTimeout,
			"cluster-port "+inner, "cluster-announce-ip 127.0.0.1", "cluster-announce-bus-port "+outer))
		id, err := n.text("CLUSTER", "MYID")
		if err != nil {
			tb.Fatal(err)
		}
		n.id = id
		tp.buses.name(inner, id)
		tp.introduce(tb, n, outer)
		tp.Nodes = append(tp.Nodes, n)
		tp.addrs = append(tp.addrs, n.Addr)
	}
	tp.shareOut(tb)
	await(tb, "cluster", tp.clusterReady)
	return tp
}

// introduce gives a new node its own epoch, so that slots are not contested, and makes
// it meet the first node.
func (tp *Topology) introduce(tb testing.TB, n *Node, bus string) {
	tb.Helper()
	if err := n.setUp("CLUSTER", "SET-CONFIG-EPOCH", len(tp.Nodes)+1); err != nil {
		tb.Fatalf("CLUSTER SET-CONFIG-EPOCH: %v", err)
	}
	if len(tp.Nodes) == 0 {
		return
	}
	host, port, _ := net.SplitHostPort(n.Addr)
	if err := tp.Nodes[0].setUp("CLUSTER", "MEET", host, port, bus); err != nil {
		tb.Fatalf("CLUSTER MEET: %v", err)
	}
}

// shareOut gives the slots to the first nodes. The other nodes become their replicas.
func (tp *Topology) shareOut(tb testing.TB) {
	tb.Helper()
	await(tb, "cluster's nodes", tp.nodesKnown)
	for i, n := range tp.Nodes {
		command := []any{"CLUSTER", "ADDSLOTSRANGE", i * clusterSlots / clusterMasters,
			(i+1)*clusterSlots/clusterMasters - 1}
		if i >= clusterMasters {
			command = []any{"CLUSTER", "REPLICATE", tp.Nodes[i-clusterMasters].id}
		}
		if err := n.setUp(command...); err != nil {
			tb.Fatalf("%v: %v", command, err)
		}
	}
}

// nodesKnown returns nil when every node knows every other.
func (tp *Topology) nodesKnown() error {
	for _, n := range tp.Nodes {
		text, err := n.text("CLUSTER", "NODES")
		if err != nil {
			return err
		}
		for _, other := range tp.Nodes {
			if !strings.Contains(text, other.id) || strings.Contains(text, "handshake") {
				return fmt.Errorf("%s does not know %s:\n%s", n.Addr, other.Addr, text)
			}
		}
	}
	return nil
}

// clusterReady returns nil when all nodes run and see the same healthy cluster. Every
// master must have a replica that is in sync.
func (tp *Topology) clusterReady() error {
	masters := 0
	for _, n := range tp.Nodes {
		fields, err := n.info("replication")
		if err != nil {
			return err
		}
		if fields["role"] == "master" {
			masters++
			if err := inStep(n, 1); err != nil {
				return err
			}
		}
		state, err := n.text("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		nodes, err := n.text("CLUSTER", "NODES")
		if err != nil {
			return err
		}
		if !strings.Contains(state, "cluster_state:ok") || strings.Contains(nodes, "fail") ||
			strings.Count(nodes, " connected") != len(tp.Nodes) {
			return fmt.Errorf("%s sees\n%s", n.Addr, nodes)
		}
	}
	if masters != clusterMasters {
		return fmt.Errorf("%d masters", masters)
	}
	for i := range clusterMasters {
		if _, err := tp.slotMaster(int64(i * clusterSlots / clusterMasters)); err != nil {
			return err
		}
	}
	return nil
}

// slotMaster returns the node that all reachable nodes see as the slot's master, if
// that node agrees.
func (tp *Topology) slotMaster(slot int64) (*Node, error) {
	var named *Node
	for _, n := range tp.Nodes {
		if !n.reachable() {
			continue
		}
		addr, err := n.masterOf(slot)
		if err != nil {
			return nil, err
		}
		m := tp.node(addr)
		if m == nil || named != nil && m != named {
			return nil, errors.New("the nodes do not agree")
		}
		named = m
	}
	if named == nil || !named.reachable() {
		return nil, errors.New("the nodes have not noticed that their master is gone")
	}
	role, err := named.role()
	if err == nil && role != "master" {
		err = fmt.Errorf("%s is to be master and says %s", named.Addr, role)
	}
	return named, err
}

// masterOf returns the address of a slot's master as seen by this node.
func (n *Node) masterOf(slot int64) (string, error) {
	reply, err := n.Do("CLUSTER", "SLOTS")
	if err != nil {
		return "", err
	}
	ranges, _ := reply.([]any)
	for _, r := range ranges {
		entry, _ := r.([]any)
		if len(entry) < 3 {
			continue
		}
		first, _ := entry[0].(int64)
		last, _ := entry[1].(int64)
		if master, _ := entry[2].([]any); first <= slot && slot <= last && len(master) > 1 {
			return net.JoinHostPort(fmt.Sprint(master[0]), fmt.Sprint(master[1])), nil
		}
	}
	return "", fmt.Errorf("%s knows no master of slot %d", n.Addr, slot)
}
