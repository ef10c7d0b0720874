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
	for r := range owned.Ranges() {
		v, err := s.do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(r.First), strconv.Itoa(r.Last))
		if err != nil || v.IsError() {
			tb.Fatalf("give slots %v to %s: %s %v", r, s.Addr, v, err)
		}
	}
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
	deadline := time.Now().Add(startLimit)
	for {
		v, err := s.do("CLUSTER", "INFO")
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(string(v.Str), "cluster_state:ok"):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the cluster of %s is down after %s: %s", s.Addr, startLimit, v)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// StartCluster starts a cluster of redis-servers, all of them masters, with the slots that
// redis-cli --cluster create gives them. It waits until every node knows the others and serves
// commands, which takes some seconds.
func StartCluster(tb testing.TB, n int, args ...string) []*Server {
	tb.Helper()
	nodes, buses := make([]*Server, n), make([]string, n)
	for i := range nodes {
		var err error
		if buses[i], err = FreePort(); err != nil {
			tb.Fatal(err)
		}
		nodes[i] = Start(tb, append([]string{"--cluster-enabled", "yes", "--cluster-port", buses[i]}, args...)...)
		slots := cluster.Share(i, n)
		for r := range slots.Ranges() {
			nodes[i].setUp(tb, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(r.First), strconv.Itoa(r.Last))
		}
		nodes[i].setUp(tb, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i, s := range nodes[1:] {
		host, port, _ := net.SplitHostPort(s.Addr)
		nodes[0].setUp(tb, "CLUSTER", "MEET", host, port, buses[i+1])
	}
	for _, s := range nodes {
		if err := s.awaitPeers(n); err != nil {
			tb.Fatal(err)
		}
	}
	return nodes
}

// setUp sends a command that must succeed.
func (s *Server) setUp(tb testing.TB, args ...string) {
	tb.Helper()
	if v, err := s.do(args...); err != nil || v.IsError() {
		tb.Fatalf("%v to %s: %s %v", args, s.Addr, v, err)
	}
}

// awaitPeers waits until the node is one of n nodes that serve all slots.
func (s *Server) awaitPeers(n int) error {
	deadline := time.Now().Add(startLimit)
	for {
		info, err := s.do("CLUSTER", "INFO")
		if err != nil {
			return err
		}
		nodes, err := s.do("CLUSTER", "NODES")
		switch text := string(info.Str); {
		case err != nil:
			return err
		case strings.Contains(text, "cluster_state:ok") && strings.Contains(text, fmt.Sprintf("cluster_size:%d\r", n)) &&
			strings.Count(string(nodes.Str), " connected ") == n &&
			strings.Contains(text, fmt.Sprintf("cluster_current_epoch:%d\r", n)):
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the cluster of %s is not there after %s: %s\n%s", s.Addr, startLimit, info, nodes)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
