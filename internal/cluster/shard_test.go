package cluster

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// replicated returns the nodes of a cluster with replicas.
func replicated(primaries, n int) (nodes []*Cluster, peers []*inbox) {
	bus := NewReplicatedBus(primaries)
	for i := range n {
		p := &inbox{}
		nodes = append(nodes, bus.Join(
			Node{ID: fmt.Sprint("n", i), Slots: Share(i%primaries, primaries), Offset: new(atomic.Int64)}, p))
		peers = append(peers, p)
	}
	adopt(nodes)
	return nodes, peers
}

func adopt(nodes []*Cluster) {
	for _, c := range nodes {
		c.Adopt()
	}
}

// places returns what each node is to the first one: its primary or "-", its heir, its epoch and slots.
func places(nodes []*Cluster) string {
	adopt(nodes)
	var all []string
	v := nodes[0].View()
	for i := range v.Nodes {
		n := &v.Nodes[i]
		place := n.ID + ":" + n.Primary
		if n.Heir != "" {
			place += "<" + n.Heir
		}
		all = append(all, fmt.Sprintf("%s@%d:%s", place, v.EpochOf(n), &n.Slots))
	}
	return strings.Join(all, " ")
}

func any(*View, *Node) bool { return true }

func TestReplicasJoinInTurn(t *testing.T) {
	nodes, _ := replicated(2, 5)
	if got := places(nodes); got != "n0:@1:0-8191 n1:@2:8192-16383 n2:n0@1: n3:n1@2: n4:n0@1:" {
		t.Error(got)
	}
	if !nodes[4].Reads(nodes[4].Owner(0)) || nodes[3].Reads(nodes[3].Owner(0)) ||
		nodes[0].Reads(nodes[0].Self()) {
		t.Error("a replica reads the slots of its primary only")
	}
}

func TestTheOtherNodesOfAShardFollowTheReplicaThatTakesOver(t *testing.T) {
	nodes, _ := replicated(1, 3)
	nodes[1].TakeOver(true, any)
	if got := places(nodes); got != "n0:n1@4: n1:@4:0-16383 n2:n1@4:" {
		t.Error(got)
	}
	nodes[2].TakeOver(true, func(*View, *Node) bool { return false })
	nodes[1].TakeOver(true, any) // it is a primary
	if got := places(nodes); got != "n0:n1@4: n1:@4:0-16383 n2:n1@4:" {
		t.Error("changed: ", got)
	}
}

func TestTheReplicasOfANodeThatBecomesAReplicaFollowItsPrimary(t *testing.T) {
	nodes, _ := replicated(2, 4)
	nodes[1].Change(func(v *View, self *Node) {
		for slot := range Slots {
			v.Give(slot, &v.Nodes[0])
		}
	})
	nodes[1].Replicate("n0")
	if got := places(nodes); got != "n0:@1:0-16383 n1:n0@1: n2:n0@1: n3:n0@1:" {
		t.Error(got)
	}
}

func TestAPrimaryThatReturnsFollowsTheNodeThatHasItsSlots(t *testing.T) {
	nodes, _ := replicated(1, 3)
	nodes[0].SetDown(1)
	adopt(nodes)
	nodes[1].TakeOver(false, any)
	nodes[1].SetDown(2)
	adopt(nodes)
	nodes[2].TakeOver(false, any)
	if got := places(nodes); got != "n0:<n2@1: n1:<n2@4: n2:@5:0-16383" {
		t.Error(got)
	}
	nodes[0].SetDown(0)
	nodes[1].SetDown(0)
	if got := places(nodes); got != "n0:n2@5: n1:n2@5: n2:@5:0-16383" {
		t.Error(got)
	}
	nodes[2].Reset("other")
	if got := places(nodes); got != "n0:other@0: n1:other@0: other:@0:" {
		t.Error("another id: ", got)
	}
}

func TestTheReplicaWithMostDataComesFirst(t *testing.T) {
	nodes, _ := replicated(1, 5)
	rank := func() (ranks []int) {
		adopt(nodes)
		v := nodes[0].View()
		for i := 1; i < len(v.Nodes); i++ {
			ranks = append(ranks, v.Rank(&v.Nodes[i]))
		}
		return ranks
	}
	if got := fmt.Sprint(rank()); got != "[0 1 2 3]" {
		t.Error("with as much data each: ", got)
	}
	nodes[3].Self().Offset.Store(10)
	nodes[4].Self().Offset.Store(20)
	if got := fmt.Sprint(rank()); got != "[2 3 1 0]" {
		t.Error(got)
	}
	nodes[4].Change(func(_ *View, self *Node) { self.NoFailover = true })
	nodes[3].SetDown(1)
	if got := fmt.Sprint(rank()); got != "[0 1 0 0]" {
		t.Error("two of them do not take over: ", got)
	}
}

func TestANodeWithPutBackSlotsHasItsPrimaryBack(t *testing.T) {
	nodes, _ := replicated(2, 4)
	start := strings.ReplaceAll(places(nodes), "@", "")
	nodes[2].TakeOver(false, any)
	for _, c := range nodes {
		c.Adopt()
		c.PutBack()
	}
	got := places(nodes)
	if want := strings.ReplaceAll(start, "@", ""); strings.ReplaceAll(got, "@", "") != want {
		t.Errorf("%s, at the start %s", got, want)
	}
}

func TestAReplicaLosesTheShardChannelsThatItsPrimaryLoses(t *testing.T) {
	nodes, _ := replicated(2, 4)
	before := nodes[2].View()
	nodes[0].Change(func(v *View, self *Node) { v.Give(0, &v.Nodes[1]) })
	adopt(nodes)
	if lost := nodes[2].Unserved(before); lost.String() != "0" {
		t.Errorf("the replica has lost %s", &lost)
	}
	before = nodes[0].View()
	nodes[2].TakeOver(true, any)
	adopt(nodes)
	if lost := nodes[2].Unserved(before); lost.Len() > 0 {
		t.Errorf("the replica that takes over has lost %s", &lost)
	}
	if lost := nodes[0].Unserved(before); lost.String() != "1-8191" {
		t.Errorf("its primary has lost %s", &lost)
	}
}

func TestAShardMessageReachesTheNodesOfTheShard(t *testing.T) {
	nodes, peers := replicated(2, 6)
	nodes[2].Publish([]byte("channel"), []byte("m"), true)
	for i, p := range peers {
		if heard := len(p.messages) == 1; heard != (i == 0 || i == 4) {
			t.Errorf("node %d heard %q", i, p.messages)
		}
	}
}
