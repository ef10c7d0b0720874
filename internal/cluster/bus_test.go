package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// inbox is a Peer that counts what it hears.
type inbox struct {
	changes  int
	messages []string
}

func (p *inbox) Changed()      { p.changes++ }
func (p *inbox) HandOver(Node) {}
func (p *inbox) Deliver(channel, payload []byte, _ bool) {
	p.messages = append(p.messages, string(channel)+" "+string(payload))
}

// form returns the nodes of a cluster that share all slots.
func form(n int) (nodes []*Cluster, peers []*inbox) {
	bus := NewBus()
	for i := range n {
		p := &inbox{}
		nodes = append(nodes, bus.Join(Node{ID: fmt.Sprint("n", i), Slots: Share(i, n)}, p))
		peers = append(peers, p)
	}
	for _, c := range nodes {
		c.Adopt()
	}
	return nodes, peers
}

func TestTheSharesOfNodesAreThoseOfRedisCli(t *testing.T) {
	for n, want := range map[int]string{
		1: "0-16383", 2: "0-8191 8192-16383", 3: "0-5460 5461-10922 10923-16383",
		6: "0-2730 2731-5460 5461-8191 8192-10922 10923-13652 13653-16383",
		7: "0-2340 2341-4680 4681-7021 7022-9361 9362-11702 11703-14042 14043-16383",
	} {
		var got []string
		for i := range n {
			s := Share(i, n)
			got = append(got, s.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d nodes: %v, want %s", n, got, want)
		}
	}
}

func TestEverySlotIsInTheShareOfOneNode(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 16, 100, 1000} {
		all := 0
		for i := range n {
			s := Share(i, n)
			all += s.Len()
			for r := range s.Ranges() {
				if ShareOf(r.First, n) != i || ShareOf(r.Last, n) != i {
					t.Errorf("%d nodes: slots %v are of node %d", n, r, i)
				}
			}
		}
		if all != Slots {
			t.Errorf("%d nodes have %d slots", n, all)
		}
	}
}

func TestANodeSeesAChangeWhenItAdoptsIt(t *testing.T) {
	nodes, peers := form(3)
	a, b := nodes[0], nodes[1]
	peers[1].changes = 0
	a.Change(func(v *View, self *Node) { v.Give(5, v.Node("n1")) })
	if a.Owns(5) || b.Owns(5) || peers[1].changes != 1 {
		t.Fatalf("before: %v %v, %d notices", a.Owns(5), b.Owns(5), peers[1].changes)
	}
	if before := b.Adopt(); before == nil || !b.Owns(5) || b.Adopt() != nil {
		t.Fatal("the node has not adopted the change once")
	}
	before := b.View()
	b.Change(func(v *View, self *Node) { v.Give(5, v.Node("n2")) })
	if lost := b.Lost(before); lost.String() != "5" {
		t.Errorf("lost %s", lost.String())
	}
}

func TestTheMajorityDecidesWhoHasFailed(t *testing.T) {
	nodes, _ := form(3)
	a := nodes[0]
	state := func() (text string) {
		a.Adopt()
		for i := range a.View().Nodes {
			text += strings.Fields(a.View().Nodes[i].Line(Address{}, a, 7))[2] + " "
		}
		return text + fmt.Sprint(a.OK(true), a.OK(false))
	}
	for _, step := range []struct {
		node  int
		since int64
		want  string
	}{
		{2, 5, "myself,master master master,fail false true"},
		{1, 6, "myself,master master,fail? master,fail false false"},
		{2, 0, "myself,master master,fail master false true"},
		{1, 0, "myself,master master master true true"},
	} {
		nodes[step.node].SetDown(step.since)
		if got := state(); got != step.want {
			t.Errorf("%+v: %s", step, got)
		}
	}
}

func TestAMessageReachesTheOtherNodes(t *testing.T) {
	nodes, peers := form(3)
	payload := []byte("payload")
	nodes[1].Publish([]byte("channel"), payload, false)
	payload[0] = 'X'
	for i, p := range peers {
		want := []string{"channel payload"}
		if i == 1 {
			want = nil
		}
		if !slices.Equal(p.messages, want) {
			t.Errorf("node %d got %q", i, p.messages)
		}
	}
}
