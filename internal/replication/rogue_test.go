package replication_test

import (
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
)

// As in Redis a reply to a replica ends its connection, because the replica would take it for a part of
// the stream.
func TestAReplyToAReplicaEndsItsConnection(t *testing.T) {
	for _, online := range []bool{true, false} {
		for _, row := range []struct {
			line string
			ends bool
		}{
			{"GET k", true}, {"GET", true}, {"NOSUCH", true}, {"PING", true}, {"SET k v", true},
			{"BLPOP l 1", true}, {"EVAL return 0", true}, {"MULTI", true}, {"EXEC", true},
			{"RESET", true}, {"SELECT 1", true},
			{"SUBSCRIBE ch", true}, {"PSUBSCRIBE c*", true}, {"UNSUBSCRIBE", true}, {"HELLO 3", true},
			{"CLIENT REPLY ON", true}, {"REPLCONF listening-port 9", true}, {"REPLCONF nosuch x", true},
			{"WAIT 0 0", true}, {"REPLICAOF localhost 1", true}, {"CLIENT TRACKING ON", true},
			{"MONITOR", false}, {"PSYNC ? -1", false}, {"SYNC", false}, {"REPLCONF GETACK *", false},
			{"REPLCONF ACK 0", false}, {"CLIENT REPLY OFF", false}, {"", false},
		} {
			n := newNode(t)
			user := n.connect()
			r := n.connect()
			r.send("REPLCONF", "capa", "eof", "capa", "psync2")
			r.send("PSYNC", "?", "-1")
			n.pieces()
			if online {
				r.send("REPLCONF", "ACK", "0")
			}
			r.take()
			out := r.send(strings.Fields(row.line)...)
			if out != "" || r.dead != row.ends || (r.s.State() == command.Ready) == row.ends {
				t.Errorf("%s, online %v: the replica gets %q, its connection has ended: %v",
					row.line, online, out, r.dead)
			}
			if got := user.send("GET", "k"); got != "$-1\r\n" {
				t.Errorf("%s of a replica was run: %q", row.line, got)
			}
			user.send("PUBLISH", "ch", "m")
			if got := r.take(); strings.Contains(got, "message") {
				t.Errorf("%s: a message comes in the stream: %q", row.line, got)
			}
			n.Do(&engine.Caller{}, func() { n.Leave(r.s) })
			if err := n.Check(); err != nil {
				t.Errorf("%s: %v", row.line, err)
			}
		}
	}
}

// What a connection has asked for before PSYNC comes as a reply does.
func TestAMessageToAReplicaEndsItsConnection(t *testing.T) {
	for _, lines := range [][]string{{"HELLO 3", "SUBSCRIBE ch"}, {"HELLO 3", "CLIENT TRACKING ON BCAST"}} {
		n := newNode(t)
		r := n.connect()
		for _, line := range lines {
			r.send(strings.Fields(line)...)
		}
		r.send("PSYNC", "?", "-1")
		n.pieces()
		r.take()
		user := n.connect()
		user.send("MULTI")
		user.send("SET", "k", "v")
		user.send("PUBLISH", "ch", "m")
		user.send("EXEC")
		user.send("SET", "k", "w")
		if got := r.take(); !r.dead || strings.Contains(got, ">") {
			t.Errorf("%q: the connection has ended: %v; it got %q", lines, r.dead, got)
		}
	}
}

func TestAMonitorDoesNotBecomeAReplica(t *testing.T) {
	n := newNode(t)
	m := n.connect()
	m.send("MONITOR")
	if got := m.send("PSYNC", "?", "-1"); got != "" || n.connect().info("connected_slaves") != "0" {
		t.Errorf("PSYNC of a monitor: %q", got)
	}
}

func TestAPauseDelaysNoAcknowledgement(t *testing.T) {
	n := newNode(t)
	r, _, _ := n.follower()
	user := n.connect()
	user.send("SET", "k", "v")
	user.send("CLIENT", "PAUSE", "100000", "ALL")
	if r.send("REPLCONF", "ACK", "7"); r.s.Replica.Acked != 7 || r.s.State() != command.Ready {
		t.Errorf("the primary has heard %d, the replica is %v", r.s.Replica.Acked, r.s.State())
	}
}
