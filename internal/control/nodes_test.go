package control_test

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/control"
	"github.com/lockredis/lockredis/internal/redistest"
)

// startCluster starts three nodes with these directives, and returns a door to each of them.
func startCluster(t *testing.T, directives map[string]string) (nodes []*lockredis.Server, doors []*control.Door) {
	t.Helper()
	directives["control"], directives["cluster-enabled"] = "yes", "yes"
	cfgs := make([]lockredis.Config, 3)
	for i := range cfgs {
		cfgs[i] = lockredis.Config{Directives: directives}
	}
	nodes = lockredis.NewCluster(cfgs...)
	return nodes, startServers(t, nodes...)
}

// An outage breaks the connections of the node's clients. The door, and the other nodes, stay.
func TestANodeStopsAndStarts(t *testing.T) {
	nodes, doors := startCluster(t, map[string]string{"cluster-require-full-coverage": "no"})
	first, kit := enter(t, doors[0]), enter(t, doors[1])
	c, other := redistest.Dial(t, nodes[1].Addr()), redistest.Dial(t, nodes[0].Addr())
	expect(t, c, "+OK", "SET", "c", "v")
	expect(t, c, "+OK", "CONFIG", "SET", "hash-max-listpack-entries", "7")
	expect(t, kit, "*6", "CLOCK.ADVANCE", "60000")
	for range 2 { // the second one changes nothing
		expect(t, kit, "+OK", "CONTROL", "STOP")
	}
	if _, err := c.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
	if got := ask(redistest.Dial(t, nodes[1].Addr()), "PING"); strings.HasPrefix(got, "+") {
		t.Errorf("a stopped node answers %q", got)
	}
	expect(t, kit, "+PONG", "PING")
	expect(t, kit, "+OK", "CONTROL", "RESET")
	if nodes := ask(other, "CLUSTER", "NODES"); !strings.Contains(nodes, "master,fail -") {
		t.Errorf("the other nodes see %s", nodes)
	}
	expect(t, first, "$3\r\nbar", "EVAL", "redis.call('SET', 'bar', 'bar') return redis.call('GET', 'bar')", "1", "bar")
	expect(t, kit, "+OK", "CONTROL", "START")
	c = redistest.Dial(t, nodes[1].Addr())
	expect(t, c, "$-1", "GET", "c")
	expect(t, c, "*2\r\n$25\r\nhash-max-listpack-entries\r\n$3\r\n512", "CONFIG", "GET", "hash-max-listpack-entries")
	now, _ := strconv.ParseInt(strings.Trim(ask(kit, "CLOCK.NOW"), ":\r\n"), 10, 64)
	if late := now - time.Now().UnixMilli(); late > 0 {
		t.Errorf("the clock is %d ms ahead", late)
	}
	if nodes := ask(other, "CLUSTER", "NODES"); strings.Contains(nodes, "fail") {
		t.Errorf("the other nodes see %s", nodes)
	}
	expect(t, kit, "+OK", "CONTROL", "START") // a restart
	if _, err := c.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
	nodes[1].Close()
	for _, word := range []string{"STOP", "START"} {
		expect(t, kit, "-ERR", "CONTROL", word)
	}
	expect(t, first, "+OK", "CONTROL", "STOP")
}

// A test may move slots, or end while they move. The next test finds them where they began.
func TestAFlushOfAllNodesPutsSlotsBack(t *testing.T) {
	nodes, doors := startCluster(t, map[string]string{})
	var clients []*wire.Conn
	for _, node := range nodes {
		clients = append(clients, redistest.Dial(t, node.Addr()))
	}
	first, second := clients[0], clients[1]
	id := func(c *wire.Conn) string { return strings.Trim(ask(c, "CLUSTER", "MYID")[3:], "\r\n") }
	slots := ask(first, "CLUSTER", "SLOTS")
	for _, c := range clients {
		expect(t, c, "+OK", "CLUSTER", "SETSLOT", "3300", "NODE", id(second))
	}
	expect(t, second, "+OK", "SET", "b", "v")
	expect(t, first, "+OK", "CLUSTER", "SETSLOT", "0", "MIGRATING", id(second))
	expect(t, second, "+OK", "CLUSTER", "SETSLOT", "0", "IMPORTING", id(first))
	for _, door := range slices.Backward(doors) {
		ask(enter(t, door), "CONTROL", "FLUSH")
	}
	for _, c := range clients {
		if now := ask(c, "CLUSTER", "SLOTS"); now != slots {
			t.Errorf("the slots are %s, and were %s", now, slots)
		}
		if nodes := ask(c, "CLUSTER", "NODES"); strings.Contains(nodes, "[") {
			t.Errorf("slots are on the move: %s", nodes)
		}
		expect(t, c, ":0", "DBSIZE")
	}
	expect(t, first, "+OK", "SET", "b", "v")
}

// A reset puts directives back, and so it would replicaof. A flush puts back whom a node follows.
func TestAResetLeavesWhomANodeFollows(t *testing.T) {
	cfgs := make([]lockredis.Config, 2)
	for i := range cfgs {
		cfgs[i] = lockredis.Config{Directives: map[string]string{"control": "yes"}}
	}
	nodes := lockredis.NewReplicatedCluster(1, cfgs...)
	doors := startServers(t, nodes...)
	var clients []*wire.Conn
	for _, node := range nodes {
		clients = append(clients, redistest.Dial(t, node.Addr()))
	}
	leads := func(i int) bool { return strings.Contains(ask(clients[i], "ROLE"), "master") }
	follows := func(i, primary int) bool {
		_, port, _ := net.SplitHostPort(nodes[primary].Addr())
		return strings.Contains(ask(clients[i], "ROLE"), "slave") && strings.Contains(ask(clients[i], "ROLE"), port)
	}
	all := func(words ...string) {
		for _, door := range doors {
			ask(enter(t, door), words...)
		}
	}
	expect(t, clients[1], "+OK", "CLUSTER", "FAILOVER", "TAKEOVER")
	for end := time.Now().Add(time.Minute); !leads(1) || !follows(0, 1); {
		if time.Now().After(end) {
			t.Fatal("the replica has not taken over")
		}
	}
	all("CONTROL", "RESET")
	if !leads(1) || !follows(0, 1) {
		t.Errorf("after a reset the roles are %q, %q", ask(clients[0], "ROLE"), ask(clients[1], "ROLE"))
	}
	all("CONTROL", "FLUSH")
	all("CONTROL", "RESET")
	if !leads(0) || !follows(1, 0) {
		t.Errorf("after a flush the roles are %q, %q", ask(clients[0], "ROLE"), ask(clients[1], "ROLE"))
	}
}

func TestAnOutageEndsAScript(t *testing.T) {
	for _, word := range []string{"STOP", "START"} {
		server, door := start(t, map[string]string{"busy-reply-threshold": "1"})
		kit, c := enter(t, door), redistest.Dial(t, server.Addr())
		if err := c.Send("EVAL", "redis.call('SET', 'k', 'v') while true do end", "0"); err != nil {
			t.Fatal(err)
		}
		for other := redistest.Dial(t, server.Addr()); !strings.HasPrefix(ask(other, "PING"), "-BUSY"); {
		}
		expect(t, kit, "+OK", "CONTROL", word)
		expect(t, kit, "+OK", "CONTROL", "START")
		expect(t, redistest.Dial(t, server.Addr()), "$-1", "GET", "k")
	}
}
