package lockredis_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
)

// startNodes starts a cluster of n nodes on free ports.
func startNodes(t *testing.T, n int) []*lockredis.Server {
	t.Helper()
	nodes := lockredis.NewCluster(make([]lockredis.Config, n)...)
	for _, srv := range nodes {
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { srv.Close() })
	}
	return nodes
}

// call sends a command that must succeed, and returns the text of its reply.
func call(t *testing.T, c *wire.Conn, line string) string {
	t.Helper()
	v, err := c.Do(strings.Fields(line)...)
	if err != nil || v.IsError() {
		t.Fatalf("%s: %s %v", line, v, err)
	}
	return string(v.Str)
}

func TestClustersInAProcessAreIndependent(t *testing.T) {
	var heard []*wire.Conn
	var first []*wire.Conn
	for range 4 {
		nodes := startNodes(t, 3)
		c := dial(t, nodes[0])
		if n := strings.Count(call(t, c, "CLUSTER NODES"), "\n"); n != 3 {
			t.Errorf("%d nodes", n)
		}
		sub := dial(t, nodes[1])
		expect(t, sub, "SUBSCRIBE news", "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n")
		first, heard = append(first, c), append(heard, sub)
	}
	call(t, first[0], "CLUSTER DELSLOTS 0")
	call(t, first[0], "PUBLISH news m")
	if !strings.Contains(call(t, first[0], "CLUSTER INFO"), "cluster_slots_assigned:16383") {
		t.Error("the slot is still there")
	}
	for i, c := range first[1:] {
		if !strings.HasPrefix(call(t, c, "CLUSTER INFO"), "cluster_state:ok") {
			t.Errorf("cluster %d lost a slot, too", i+1)
		}
		call(t, c, "PUBLISH news own")
		if v, err := heard[i+1].Receive(); err != nil || string(v.Elems[2].Str) != "own" {
			t.Errorf("cluster %d heard %s, %v", i+1, v, err)
		}
	}
	if v, err := heard[0].Receive(); err != nil || string(v.Elems[2].Str) != "m" {
		t.Errorf("heard %s, %v", v, err)
	}
}

// The nodes move slots to each other, send keys to each other, publish and end, all at the same time.
// No node waits for another one's engine.
func TestNodesThatChangeTheClusterAtTheSameTimeAgreeAtTheEnd(t *testing.T) {
	const n, rounds = 4, 50
	nodes := startNodes(t, n)
	ids, ports := make([]string, n), make([]string, n)
	for i, srv := range nodes {
		ids[i], ports[i] = call(t, dial(t, srv), "CLUSTER MYID"), portOf(t, srv.Addr())
	}
	var all sync.WaitGroup
	for i, srv := range nodes {
		c := dial(t, srv)
		c.SetTimeout(time.Minute)
		next := (i + 1) % n
		other := dial(t, nodes[next])
		other.SetTimeout(time.Minute)
		all.Go(func() {
			for round := range rounds {
				slot := i*(1<<14)/n + round // of node i at the start
				for _, step := range []struct {
					c    *wire.Conn
					line string
				}{
					{other, fmt.Sprintf("CLUSTER SETSLOT %d IMPORTING %s", slot, ids[i])},
					{c, fmt.Sprintf("CLUSTER SETSLOT %d MIGRATING %s", slot, ids[next])},
					{c, "PUBLISH news m"},
					{c, fmt.Sprintf("MIGRATE 127.0.0.1 %s none-{%d} 0 5000", ports[next], round)},
					{other, fmt.Sprintf("CLUSTER SETSLOT %d NODE %s", slot, ids[next])},
					{c, fmt.Sprintf("CLUSTER SETSLOT %d NODE %s", slot, ids[next])},
					{c, "CLUSTER NODES"},
				} {
					if _, err := step.c.Do(strings.Fields(step.line)...); err != nil {
						t.Errorf("%s: %v", step.line, err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	var want string
	for i, srv := range nodes {
		c := dial(t, srv)
		v, err := c.Do("CLUSTER", "SLOTS")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = v.String()
		}
		if v.String() != want {
			t.Errorf("node %d sees %s, node 0 %s", i, v, want)
		}
		for _, line := range strings.Split(call(t, c, "CLUSTER NODES"), "\n") {
			if mine := fmt.Sprintf(" %d-%d", i*(1<<14)/n+rounds, (i+1)*(1<<14)/n-1); strings.Contains(line, ids[i]) &&
				!strings.Contains(line, mine) {
				t.Errorf("the slots %s are not those of node %d: %s", mine, i, line)
			}
		}
	}
}

func TestANodeWhoseDataIsLostToAnotherNodeDeletesIt(t *testing.T) {
	nodes := startNodes(t, 2)
	a, b := dial(t, nodes[0]), dial(t, nodes[1])
	call(t, a, "SET b 1") // slot 3300
	id := call(t, b, "CLUSTER MYID")
	call(t, b, "CLUSTER SETSLOT 3300 NODE "+id)
	expect(t, a, "GET b", "-MOVED 3300 "+nodes[1].Addr()+"\r\n")
	expect(t, a, "DBSIZE", ":0\r\n")
}

func TestShutdownOfANodeIsSeenByTheOthers(t *testing.T) {
	nodes := startNodes(t, 3)
	c := dial(t, nodes[0])
	last := dial(t, nodes[2])
	if err := last.Send("SHUTDOWN", "NOSAVE"); err != nil {
		t.Fatal(err)
	}
	<-nodes[2].Done()
	expect(t, c, "SET b 1", "-CLUSTERDOWN The cluster is down\r\n")
	if text := call(t, c, "CLUSTER NODES"); !strings.Contains(text, " master,fail - ") {
		t.Errorf("the nodes:\n%s", text)
	}
}
