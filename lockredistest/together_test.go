package lockredistest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockredis/lockredis/lockredistest"
)

// ending is a lock client of one node. It records each lease that ends there, and by how much the clocks
// of the nodes differ then.
type ending struct {
	srv   *lockredistest.Server // any node
	start time.Time
	seen  *[]string // of all nodes
}

func (e ending) LeaseID() string { return alice[:36] }

func (e ending) LeaseEnded(_ int, name, _ string) {
	least, most := e.srv.Now(), e.srv.Now()
	for _, n := range e.srv.Nodes() {
		if now := n.Now(); now.Before(least) {
			least = now
		} else if now.After(most) {
			most = now
		}
	}
	apart := ""
	if most.Sub(least) > time.Millisecond {
		apart = fmt.Sprint(", apart by ", most.Sub(least))
	}
	*e.seen = append(*e.seen, fmt.Sprint(name, " at ", most.Sub(e.start), apart))
}

// nodesWithLocks returns the first of three nodes. Node 0 has leases of 1 s and 6 s, node 1 of 2 s and 5 s,
// node 2 of 3 s and 4 s, and each node has another one of 2 s. seen tells the leases that have ended.
func nodesWithLocks(t *testing.T) (srv *lockredistest.Server, seen *[]string) {
	t.Helper()
	srv = lockredistest.RunT(t, lockredistest.Primaries(3), lockredistest.ManualClock(), lockredistest.AllowLeaks())
	start := srv.Now().Truncate(time.Millisecond)
	srv.SetTimeAll(start)
	seen = new([]string)
	for i, n := range srv.Nodes() {
		t.Cleanup(join(n, ending{srv, start, seen}))
		for _, seconds := range []int{i + 1, 6 - i} {
			run(t, n.Client(), lock, []string{fmt.Sprint("node", i, " ", seconds)}, 1000*seconds, alice, "")
		}
		run(t, n.Client(), lock, []string{"all"}, 2000, alice, "")
	}
	return srv, seen
}

func TestAdvanceAllStopsAtTheDeadlinesOfAllNodes(t *testing.T) {
	srv, seen := nodesWithLocks(t)
	want := []string{
		"node0 1 at 1s", "all at 2s", "all at 2s", "all at 2s", "node1 2 at 2s", "node2 3 at 3s",
		"node2 4 at 4s", "node1 5 at 5s", "node0 6 at 6s",
	}
	srv.Node(1).AdvanceAll(5500 * time.Millisecond)
	check := func(want []string) {
		t.Helper()
		slices.Sort((*seen)[min(1, len(*seen)):min(5, len(*seen))]) // the leases of 2 s
		if !slices.Equal(*seen, want) {
			t.Errorf("%q\nwant %q", *seen, want)
		}
	}
	check(want[:8])
	srv.AdvanceAll(500 * time.Millisecond)
	check(want)
	for i, n := range srv.Nodes() {
		if now := n.Now(); !now.Equal(srv.Now()) {
			t.Errorf("node %d: %v, and %v at the first one", i, now, srv.Now())
		}
	}
}

func TestSetTimeAllSetsClocksBackAndForth(t *testing.T) {
	srv, seen := nodesWithLocks(t)
	start := srv.Now()
	srv.Node(2).SetTime(start.Add(-time.Hour))
	srv.Node(0).SetTime(start.Add(1500 * time.Millisecond))
	srv.SetTimeAll(start.Add(time.Second))
	for i, n := range srv.Nodes() {
		if passed := n.Now().Sub(start); passed != time.Second {
			t.Errorf("node %d is %v after the start, want 1s", i, passed)
		}
	}
	srv.SetTimeAll(start.Add(2 * time.Second))
	slices.Sort(*seen)
	want := []string{"all at 2s", "all at 2s", "all at 2s", "node0 1 at 1s, apart by 1h0m1s", "node1 2 at 2s"}
	if !slices.Equal(*seen, want) {
		t.Errorf("%q\nwant %q", *seen, want)
	}
}
