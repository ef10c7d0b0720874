package redistest

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/cluster"
)

// slotsDirective is lockredis's own: the slots that a cluster node owns at its start.
const slotsDirective = "--cluster-slots"

// StartNode is Start for a cluster of one redis-server. The node owns the slots of the
// argument "--cluster-slots", which redis-server does not get, or else all slots. It waits
// until the cluster serves commands, which takes redis-server two seconds. A cluster that
// stays down, because slots are missing, is not waited for.
func StartNode(tb testing.TB, args ...string) *Server {
	tb.Helper()
	owned := cluster.All()
	if i := slices.Index(args, slotsDirective); i >= 0 {
		end := i + 1
		for end < len(args) && !strings.HasPrefix(args[end], "--") {
			end++
		}
		var err error
		if owned, err = cluster.ParseSet(args[i+1 : end]); err != nil {
			tb.Fatalf("%s: %v", slotsDirective, err)
		}
		args = slices.Concat(args[:i], args[end:])
	}
	if !slices.Contains(args, "--cluster-enabled") {
		args = append([]string{"--cluster-enabled", "yes"}, args...)
	}
	if !slices.Contains(args, "--cluster-port") { // its own choice may not be free
		bus, err := FreePort()
		if err != nil {
			tb.Fatal(err)
		}
		args = append(slices.Clone(args), "--cluster-port", bus)
	}
	s := Start(tb, args...)
	s.addSlots(tb, owned)
	if err := s.awaitSlots(&owned); err != nil {
		tb.Fatal(err)
	}
	return s
}

// awaitSlots waits until the node serves commands if the slots that it owns suffice.
func (s *Server) awaitSlots(owned *cluster.Set) error {
	v, err := s.do("CONFIG", "GET", "cluster-require-full-coverage")
	if err != nil || len(v.Elems) != 2 {
		return fmt.Errorf("configuration of %s: %s %w", s.Addr, v, err)
	}
	if owned.Len() == 0 || owned.Len() < cluster.Slots && string(v.Elems[1].Str) == "yes" {
		return nil
	}
	return s.awaitCluster("serves no commands", func(info, _ string) bool {
		return strings.HasPrefix(info, "cluster_state:ok")
	})
}

// StartCluster starts a cluster of redis-servers, all of them masters, with the slots that
// redis-cli --cluster create gives them. It waits until every node knows the others and serves
// commands, which takes some seconds.
func StartCluster(tb testing.TB, n int, args ...string) []*Server {
	tb.Helper()
	return StartReplicatedCluster(tb, n, 0, args...)
}

// StartReplicatedCluster is StartCluster with replicas: the masters are first, the others follow them
// in turn. It waits until their links are up, too.
func StartReplicatedCluster(tb testing.TB, masters, perMaster int, args ...string) []*Server {
	tb.Helper()
	n := masters * (1 + perMaster)
	nodes, buses := make([]*Server, n), make([]string, n)
	for i := range nodes {
		var err error
		if buses[i], err = FreePort(); err != nil {
			tb.Fatal(err)
		}
		nodes[i] = Start(tb, append([]string{"--cluster-enabled", "yes", "--cluster-port", buses[i]}, args...)...)
		if i < masters {
			nodes[i].addSlots(tb, cluster.Share(i, masters))
		}
		nodes[i].setUp(tb, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i, s := range nodes[1:] {
		host, port, _ := net.SplitHostPort(s.Addr)
		nodes[0].setUp(tb, "CLUSTER", "MEET", host, port, buses[i+1])
	}
	awaitPeers := func(links int) {
		for _, s := range nodes {
			if err := s.awaitPeers(masters, n, links); err != nil {
				tb.Fatal(err)
			}
		}
	}
	awaitPeers(0)
	for i, s := range nodes[masters:] {
		id, err := nodes[i%masters].do("CLUSTER", "MYID")
		if err != nil {
			tb.Fatal(err)
		}
		s.setUp(tb, "CLUSTER", "REPLICATE", string(id.Str))
	}
	if perMaster > 0 {
		awaitPeers(perMaster * masters)
	}
	return nodes
}

// addSlots gives slots to the node.
func (s *Server) addSlots(tb testing.TB, slots cluster.Set) {
	tb.Helper()
	for r := range slots.Ranges() {
		s.setUp(tb, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(r.First), strconv.Itoa(r.Last))
	}
}

// setUp sends a command that must succeed.
func (s *Server) setUp(tb testing.TB, args ...string) {
	tb.Helper()
	if v, err := s.do(args...); err != nil || v.IsError() {
		tb.Fatalf("%v to %s: %s %v", args, s.Addr, v, err)
	}
}

// awaitPeers waits until the node is one of n nodes that serve all slots, and knows of so many replicas.
// Its own link is up then, if it is one.
func (s *Server) awaitPeers(masters, n, replicas int) error {
	return s.awaitCluster("does not know its peers", func(info, nodes string) bool {
		known := strings.Contains(info, "cluster_state:ok") &&
			strings.Contains(info, fmt.Sprintf("cluster_size:%d\r", masters)) &&
			strings.Contains(info, fmt.Sprintf("cluster_current_epoch:%d\r", n)) &&
			strings.Count(nodes, " connected") == n && strings.Count(nodes, "slave ") == replicas
		if !known || replicas == 0 {
			return known
		}
		own, err := Info(s.Addr, "replication")
		return err == nil && (own["role"] == "slave" && own["master_link_status"] == "up" ||
			own["role"] == "master" && own["connected_slaves"] == fmt.Sprint(replicas/masters))
	})
}

// awaitCluster waits until the replies to CLUSTER INFO and CLUSTER NODES are as is wants them. failure
// says what the node does not do till then.
func (s *Server) awaitCluster(failure string, is func(info, nodes string) bool) error {
	for deadline := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		info, err := s.do("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		nodes, err := s.do("CLUSTER", "NODES")
		switch {
		case err != nil:
			return err
		case is(string(info.Str), string(nodes.Str)):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the node %s %s after %s: %s\n%s", s.Addr, failure, startLimit, info, nodes)
		}
	}
}
