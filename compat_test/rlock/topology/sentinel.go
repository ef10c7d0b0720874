package topology

import (
	"errors"
	"fmt"
	"net"
	"testing"
)

const (
	// masterName is the name of the master in the sentinels' configuration.
	masterName = "lockmaster"

	// downAfter is how long a master may be silent, in ms. With a shorter time, a slow
	// reply on a busy machine would count as a dead master.
	downAfter = "1500"

	// peer is the user, and its password, for replicas and sentinels. Disabling the
	// user on a node cuts the node off from them, but not from clients, which use the
	// default user.
	peer = "peer"

	// Password is the password of the default user on a node with peers. Without
	// a password, a refused peer would continue as the default user.
	Password = "orders"
)

// peerConf has the directives of data nodes that can be cut off.
func peerConf() []string {
	return []string{"user default on >" + Password + " ~* &* +@all",
		"user " + peer + " on >" + peer + " ~* &* +@all", "masteruser " + peer, "masterauth " + peer}
}

// startSentinel starts one master, two replicas and three sentinels with quorum 2.
func startSentinel(tb testing.TB, program string) *Topology {
	tb.Helper()
	tp := &Topology{Kind: Sentinel}
	conf := append(dataConf(), peerConf()...)
	master := newNode(tb, program, conf)
	host, port, _ := net.SplitHostPort(master.Addr)
	tp.Nodes = []*Node{master}
	for range 2 {
		tp.Nodes = append(tp.Nodes,
			newNode(tb, program, append(conf[:len(conf):len(conf)], "replicaof "+host+" "+port)))
	}
	for range 3 {
		watcher := newNode(tb, program, []string{
			fmt.Sprintf("sentinel monitor %s %s %s 2", masterName, host, port),
			"sentinel auth-user " + masterName + " " + peer,
			"sentinel auth-pass " + masterName + " " + peer,
			"sentinel down-after-milliseconds " + masterName + " " + downAfter,
			"sentinel failover-timeout " + masterName + " 4000",
			"sentinel parallel-syncs " + masterName + " 2",
		}, "--sentinel")
		// Sentinels check roles every 10 s, and make an old master a replica only after
		// four hello periods of 2 s. That is most of the time of its return.
		if _, err := watcher.Do("SENTINEL", "DEBUG", "INFO-PERIOD", "500", "PUBLISH-PERIOD",
			"300"); err != nil {
			tb.Fatalf("SENTINEL DEBUG: %v", err)
		}
		tp.sentinels = append(tp.sentinels, watcher)
		tp.addrs = append(tp.addrs, watcher.Addr)
	}
	await(tb, "sentinel set", tp.sentinelsReady)
	return tp
}

// sentinelsReady returns nil when all processes run and all sentinels know each other.
// The sentinels must name the same master and see both its replicas in sync.
func (tp *Topology) sentinelsReady() error {
	master, err := tp.sentinelMaster()
	if err != nil {
		return err
	}
	if err := inStep(master, 2); err != nil {
		return err
	}
	for _, s := range tp.sentinels {
		fields, err := s.fields("SENTINEL", "MASTER", masterName)
		if err != nil {
			return err
		}
		if fields["num-slaves"] != "2" || fields["num-other-sentinels"] != "2" ||
			fields["flags"] != "master" {
			return fmt.Errorf("sentinel %s: %s replicas, %s others, master is %s",
				s.Addr, fields["num-slaves"], fields["num-other-sentinels"], fields["flags"])
		}
	}
	return nil
}

// sentinelMaster returns the node that all sentinels name, if that node agrees.
func (tp *Topology) sentinelMaster() (*Node, error) {
	var named *Node
	for _, s := range tp.sentinels {
		reply, err := s.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
		if err != nil {
			return nil, err
		}
		addr, _ := reply.([]any)
		if len(addr) != 2 {
			return nil, fmt.Errorf("sentinel %s says %v", s.Addr, reply)
		}
		n := tp.node(net.JoinHostPort(fmt.Sprint(addr[0]), fmt.Sprint(addr[1])))
		if n == nil || named != nil && n != named {
			return nil, errors.New("the sentinels do not agree")
		}
		named = n
	}
	if !named.reachable() {
		return nil, errors.New("the sentinels have not noticed that their master is gone")
	}
	role, err := named.role()
	if err == nil && role != "master" {
		err = fmt.Errorf("%s is to be master and says %s", named.Addr, role)
	}
	return named, err
}

// inStep returns nil when the master has n replicas that have finished their first
// sync.
func inStep(master *Node, replicas int) error {
	fields, err := master.info("replication")
	if err != nil {
		return err
	}
	if fields["connected_slaves"] != fmt.Sprint(replicas) {
		return fmt.Errorf("%s has %s replicas", master.Addr, fields["connected_slaves"])
	}
	reply, err := master.Do("WAIT", replicas, 500)
	if err == nil && reply != int64(replicas) {
		err = fmt.Errorf("%v replicas of %s are in step", reply, master.Addr)
	}
	return err
}

// fields returns a reply of names and values; in RESP3 it is a map.
func (n *Node) fields(args ...any) (map[string]string, error) {
	reply, err := n.Do(args...)
	if err != nil {
		return nil, err
	}
	pairs, ok := reply.(map[any]any)
	if !ok {
		return nil, fmt.Errorf("%v: a %T", args, reply)
	}
	fields := map[string]string{}
	for name, value := range pairs {
		fields[fmt.Sprint(name)] = fmt.Sprint(value)
	}
	return fields, nil
}

// node returns the data node at the address, or nil.
func (tp *Topology) node(addr string) *Node {
	for _, n := range tp.Nodes {
		if n.Addr == addr {
			return n
		}
	}
	return nil
}
