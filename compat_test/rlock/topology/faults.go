package topology

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// Master returns the key's master, when all nodes or sentinels that decide about it
// agree.
func (tp *Topology) Master(tb testing.TB, key string) *Node {
	tb.Helper()
	return tp.AwaitNewMaster(tb, key, nil)
}

// AwaitNewMaster waits until another node than old is the key's master.
func (tp *Topology) AwaitNewMaster(tb testing.TB, key string, old *Node) *Node {
	tb.Helper()
	var master *Node
	await(tb, "master for "+key, func() error {
		n, err := tp.master(key)
		if err == nil && n == old {
			err = fmt.Errorf("it is still %s", old.Addr)
		}
		master = n
		return err
	})
	return master
}

func (tp *Topology) master(key string) (*Node, error) {
	switch tp.Kind {
	case Lockredis:
		return nil, errors.New("lockredis is no process of its own")
	case Sentinel:
		return tp.sentinelMaster()
	case Cluster:
		slot, err := tp.slot(key)
		if err != nil {
			return nil, err
		}
		return tp.slotMaster(slot)
	}
	return tp.Nodes[0], nil
}

func (tp *Topology) slot(key string) (int64, error) {
	for _, n := range tp.Nodes {
		if n.reachable() {
			reply, err := n.Do("CLUSTER", "KEYSLOT", key)
			slot, _ := reply.(int64)
			return slot, err
		}
	}
	return 0, errors.New("no node can be reached")
}

// Failover makes the key's master hand over to a replica, waits for that and returns
// the new master. In a cluster no confirmed write is lost. With Sentinel, writes that
// have not reached the replica are lost.
func (tp *Topology) Failover(tb testing.TB, key string) *Node {
	tb.Helper()
	old := tp.Master(tb, key)
	var to *Node
	var order []any
	switch tp.Kind {
	case Sentinel:
		to, order = tp.sentinels[0], []any{"SENTINEL", "FAILOVER", masterName}
	case Cluster:
		to, order = tp.replica(tb, old), []any{"CLUSTER", "FAILOVER"}
	default:
		tb.Fatalf("%s has no replicas", tp.Kind)
	}
	var next time.Time
	await(tb, fmt.Sprint(order), func() error {
		now, err := tp.master(key)
		if err == nil && now != old {
			return nil
		}
		if err != nil || time.Now().Before(next) {
			return fmt.Errorf("no other master than %s: %v", old.Addr, err)
		}
		if _, err := to.Do(order...); err != nil {
			return err
		}
		next = time.Now().Add(failoverLimit)
		return errors.New("ordered")
	})
	return tp.Master(tb, key)
}

// failoverLimit is how long an order has before it is given again. A replica in a cluster
// gives an order up after 5 s, for instance when it did not get its votes. An order
// begins these seconds anew.
const failoverLimit = 7 * time.Second

// replica returns a replica of the master.
func (tp *Topology) replica(tb testing.TB, master *Node) *Node {
	tb.Helper()
	for _, n := range tp.Nodes {
		fields, err := n.info("replication")
		if err == nil && fields["master_host"]+":"+fields["master_port"] == master.Addr {
			return n
		}
	}
	tb.Fatalf("%s has no replica", master.Addr)
	return nil
}

// KillMaster kills the key's master and returns it. AwaitNewMaster waits for the new
// one.
func (tp *Topology) KillMaster(tb testing.TB, key string) *Node {
	tb.Helper()
	n := tp.Master(tb, key)
	n.Kill()
	return n
}

// Partition cuts a master off from its replicas, and from the sentinels or the rest of
// the cluster. Clients still reach every server. The other servers elect a new master,
// so there are two masters until Heal. In a cluster the old master refuses writes after
// cluster-node-timeout. In a Sentinel set it accepts them.
func (tp *Topology) Partition(tb testing.TB, n *Node) {
	tb.Helper()
	if !tp.Replicated() {
		tb.Fatalf("%s has no peers", tp.Kind)
	}
	if tp.Kind == Cluster {
		tp.buses.separate(n.id, true)
	}
	for _, command := range [][]any{{"ACL", "SETUSER", peer, "off"},
		{"CLIENT", "KILL", "USER", peer}} {
		if _, err := n.Do(command...); err != nil {
			tb.Fatalf("%s: %v: %v", n.Addr, command, err)
		}
	}
	n.setCut(true)
}

// Heal ends every fault: cut nodes are connected, frozen nodes continue, dead nodes
// are started, empty. It returns when the topology is as ready as after Start; the
// master may be another node.
func (tp *Topology) Heal(tb testing.TB) {
	tb.Helper()
	for _, n := range tp.Nodes {
		n.Thaw(tb)
		n.Restart(tb)
		if n.cutOff() {
			if _, err := n.Do("ACL", "SETUSER", peer, "on"); err != nil {
				tb.Fatalf("%s: %v", n.Addr, err)
			}
			n.setCut(false)
		}
		if tp.Kind == Cluster {
			tp.buses.separate(n.id, false)
		}
	}
	switch tp.Kind {
	case Sentinel:
		await(tb, "sentinel set", tp.sentinelsReady)
	case Cluster:
		await(tb, "cluster", tp.clusterReady)
	}
}

func (n *Node) setCut(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
}

func (n *Node) cutOff() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

// reachable reports whether the rest of the topology can reach the node.
func (n *Node) reachable() bool {
	running := n.Running()
	n.mu.Lock()
	defer n.mu.Unlock()
	return running && !n.cut && !n.frozen
}
