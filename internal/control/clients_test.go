package control_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// awaitHit waits until the fault has hit a request. It must be the only one.
func awaitHit(kit *wire.Conn) {
	for !strings.Contains(ask(kit, "FAULT.LIST"), "$4\r\nhits\r\n:1\r\n") {
	}
}

// While the server hangs for its clients, the door works. A reset lets go what faults hold.
func TestFaultsDoNotHitTheDoorAndAResetEndsThem(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, kit, ":1", "FAULT.ADD", "fail-request", "TIMES", "ALWAYS", "ERROR", "ERR on purpose")
	expect(t, kit, ":2", "FAULT.ADD", "stop", "COMMAND", "SET", "FOR", "100000000")
	expect(t, c, "-ERR on purpose", "SET", "k", "client")
	expect(t, kit, ":1", "FAULT.REMOVE", "1")
	if err := c.Send("SET", "k", "client"); err != nil {
		t.Fatal(err)
	}
	awaitHit(kit)
	expect(t, kit, "+OK", "SET", "k", "kit")
	expect(t, enter(t, door), "$3\r\nkit", "GET", "k")
	expect(t, kit, "+OK", "CONTROL", "RESET")
	expect(t, kit, "*0", "FAULT.LIST")
	if reply, err := c.Receive(); err != nil || string(reply.Raw) != "+OK\r\n" {
		t.Errorf("the client receives %q %v", reply.Raw, err)
	}
	expect(t, kit, "$6\r\nclient", "GET", "k")
}

// A client that a test has muted would wait for replies in the next one.
func TestAMutedConnectionEndsWithTheReset(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, other := enter(t, door), redistest.Dial(t, server.Addr())
	muted := redistest.Dial(t, server.Addr())
	expect(t, kit, ":", "FAULT.ADD", "mute", "COMMAND", "get")
	if err := muted.Send("GET", "k"); err != nil {
		t.Fatal(err)
	}
	awaitHit(kit)
	expect(t, kit, "+OK", "CONTROL", "RESET")
	if _, err := muted.Receive(); !wire.IsClosed(err) {
		t.Errorf("the muted connection is open: %v", err)
	}
	expect(t, other, "+PONG", "PING")
}

// counted returns the reply to CONTROL COUNTS with the counts by name.
func counted(pairs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(pairs))
	for i, word := range pairs {
		if i%2 == 0 {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
		} else {
			fmt.Fprintf(&b, ":%s\r\n", word)
		}
	}
	return b.String()
}

// Refused and lost requests count. What a script or EXEC runs does not, nor does the door.
func TestCountsTellWhatClientsHaveSentSinceRemember(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "k", "v")
	expect(t, kit, "+OK", "SET", "k", "kit")
	expect(t, kit, counted("set", "1"), "CONTROL", "COUNTS")
	expect(t, kit, "+OK", "CONTROL", "REMEMBER")
	expect(t, kit, "*0\r\n", "CONTROL", "COUNTS")
	for _, line := range []string{"MULTI", "DEL k", "EXEC", "EVAL return(redis.call('GET','k')) 0", "GET", "client id"} {
		ask(c, strings.Fields(line)...)
	}
	expect(t, kit, ":1", "FAULT.ADD", "lose-request")
	if _, err := c.Do("SET", "k", "v"); !wire.IsClosed(err) {
		t.Errorf("a lost request has a reply: %v", err)
	}
	expect(t, kit, counted("client|id", "1", "del", "1", "eval", "1", "exec", "1", "get", "1", "multi", "1", "set", "1"),
		"CONTROL", "COUNTS")
}

func TestClientsOfANameAreCutOrSilenced(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, orders, other := enter(t, door), redistest.Dial(t, server.Addr()), redistest.Dial(t, server.Addr())
	subscriber := redistest.Dial(t, server.Addr())
	for _, c := range []*wire.Conn{orders, subscriber} {
		expect(t, c, "+OK", "CLIENT", "SETNAME", "orders")
	}
	expect(t, other, "+PONG", "PING")
	expect(t, subscriber, "*3", "SUBSCRIBE", "news")
	expect(t, kit, ":1", "CONTROL", "SILENCE", "SUBSCRIBED")
	expect(t, other, ":1", "PUBLISH", "news", "lost")
	expect(t, kit, ":0", "CONTROL", "CUT", "CLIENT", "nobody")
	expect(t, kit, ":1", "control", "cut", "subscribed", "client", "orders")
	if reply, err := subscriber.Receive(); !wire.IsClosed(err) {
		t.Errorf("a silenced client receives %q %v", reply.Raw, err)
	}
	expect(t, orders, "+PONG", "PING")
	expect(t, kit, ":1", "CONTROL", "CUT", "CLIENT", "orders")
	if _, err := orders.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
	expect(t, other, "+PONG", "PING")
	expect(t, kit, ":1", "CONTROL", "CUT")
}
