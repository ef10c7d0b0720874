package engine

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// newShards returns the nodes of a cluster: primaries with a part of the slots each, and a replica of the
// first one. Its links fail.
func newShards(t *testing.T, primaries int) (nodes []*Engine) {
	t.Helper()
	bus := cluster.NewReplicatedBus(primaries)
	for i := range primaries + 1 {
		directives := []string{"cluster-announce-port", fmt.Sprint(7000 + i)}
		if i < primaries {
			slots := cluster.Share(i, primaries)
			directives = append(directives, "cluster-slots", slots.String())
		}
		e := newNodeOn(t, bus, directives...)
		e.BeginReplication()
		nodes = append(nodes, e)
	}
	return nodes
}

// A node that became a primary here would tell its replicas the command, and the bytes of the stream then
// tell it again.
func TestACommandOfTheStreamLeavesTheNodesPlace(t *testing.T) {
	nodes := newShards(t, 1)
	a, b := nodes[0], nodes[1]
	s, _ := connect(b)
	primary := &command.Session{Primary: true, Conn: s.Conn}
	b.Do(&Caller{}, func() {
		door := replicationDoor{door{b}}
		door.Join(primary)
		a.Do(&Caller{}, func() { a.env.Cluster.HandOver(b.env.Cluster.Self().ID) })
		door.Apply(primary, words("SET", "b", "1"))
		door.Steer(primary, words("EXEC"), func(*command.Ctx) resp.Reply {
			door.Apply(primary, words("INCR", "b"))
			return resp.NoReply
		})
		if !b.replicas.Follows() {
			t.Error("the node leads in the middle of the stream")
		}
	})
	expectReply(t, send(b, s, "GET", "b"), "$1\r\n2\r\n")
	b.Do(&Caller{}, func() {
		if b.replicas.Follows() {
			t.Error("the node follows afterwards")
		}
	})
}

func TestAReplicaThatNeverHadALinkDoesNotTakeOver(t *testing.T) {
	nodes := newShards(t, 3)
	b := nodes[3]
	leads := func() (does bool) {
		b.Outside(func() {
			b.peer.read()
			does = b.env.Cluster.Primary() == nil
		})
		return does
	}
	nodes[0].Close()
	if leads() {
		t.Error("the replica has taken over")
	}
	s, _ := connect(b)
	expectReply(t, send(b, s, "CONFIG", "SET", "cluster-replica-validity-factor", "0"), "+OK\r\n")
	if !leads() {
		t.Error("a replica whose data may be of any age has not taken over")
	}
}
