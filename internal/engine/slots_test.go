package engine

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/resp"
)

// newNode returns a running engine in cluster mode, with directives as name and value.
func newNode(t *testing.T, directives ...string) *Engine {
	t.Helper()
	return newNodeOn(t, nil, directives...)
}

// newNodeOn is newNode for a node of a cluster of several. A nil bus: the node is alone.
func newNodeOn(t *testing.T, bus *cluster.Bus, directives ...string) *Engine {
	t.Helper()
	cfg := config.New()
	for i := 0; i < len(directives); i += 2 {
		if err := cfg.Load(directives[i], strings.Fields(directives[i+1])...); err != nil {
			t.Fatal(err)
		}
	}
	if err := cfg.Load("cluster-enabled", "yes"); err != nil {
		t.Fatal(err)
	}
	e := New(Options{
		Config: cfg, Clock: expiry.NewManual(epoch), Rand: rand.New(rand.NewPCG(rand.Uint64(), 2)),
		Log: slog.New(slog.DiscardHandler), Server: nohost.Host{}, Bus: bus,
	})
	e.Start()
	t.Cleanup(e.Close)
	return e
}

const crossSlot = "-CROSSSLOT Keys in request don't hash to the same slot\r\n"

func TestARefusedCommandIsCountedAsRejected(t *testing.T) {
	e := newNode(t)
	s, _ := connect(e)
	expectReply(t, send(e, s, "MGET", "a", "b"), crossSlot)
	for _, line := range []string{"MULTI", "SET a 1", "SET b 1"} {
		send(e, s, strings.Fields(line)...)
	}
	expectReply(t, send(e, s, "EXEC"), crossSlot)
	for name, want := range map[string]command.CallStats{
		"mget": {Rejected: 1}, "exec": {Rejected: 1}, "set": {},
	} {
		if got := *e.env.Table.Calls(e.env.Table.Lookup([]byte(name))); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if n := e.env.Stats.Errors["CROSSSLOT"]; n != 2 {
		t.Errorf("%d errors are counted", n)
	}
	if s.Multi != nil {
		t.Error("the transaction goes on after its EXEC was refused")
	}
}

func TestTheKitUsesKeysOfAnySlot(t *testing.T) {
	e := newNode(t, "cluster-slots", "0-5")
	for _, line := range []string{
		"MSET a 1 b 2", "EVAL return(redis.call('mget','a','b')) 1 b", "CLUSTER COUNTKEYSINSLOT 0",
	} {
		for db := range 2 {
			e.RunDirect(db, words(strings.Fields(line)...), func(r resp.Reply) {
				if r.IsError() {
					t.Errorf("%s in database %d: %s", line, db, r.Text())
				}
			})
		}
	}
}

func TestAWaitingClientIsToldThatItsSlotIsGone(t *testing.T) {
	e := newNode(t, "cluster-require-full-coverage", "no")
	s, _ := connect(e)
	waiter, heard := connect(e)
	send(e, waiter, "BLPOP", "{b}list", "0")
	send(e, s, "CLUSTER", "DELSLOTS", "0")
	expectReply(t, heard.take(), "")
	send(e, s, "CLUSTER", "DELSLOTS", "3300")
	expectReply(t, heard.take(), "-CLUSTERDOWN Hash slot not served\r\n")
	var err error
	e.Do(&Caller{}, func() { err = e.Check() })
	if err != nil {
		t.Fatal(err)
	}
}

func TestAWaitingClientIsToldThatTheClusterIsDown(t *testing.T) {
	e := newNode(t, "cluster-slots", "0-16382", "cluster-require-full-coverage", "no")
	s, _ := connect(e)
	waiter, heard := connect(e)
	idle, quiet := connect(e)
	send(e, waiter, "BLPOP", "list", "0")
	send(e, idle, "WAIT", "1", "0")
	expectReply(t, send(e, s, "CONFIG", "SET", "cluster-require-full-coverage", "yes"), "+OK\r\n")
	expectReply(t, heard.take(), "-CLUSTERDOWN The cluster is down\r\n")
	expectReply(t, quiet.take(), "")
}

func TestAScriptsSlotDoesNotReachTheNextCommand(t *testing.T) {
	e := newNode(t)
	s, _ := connect(e)
	const script = "#!lua\nreturn redis.call('exists', ARGV[1])"
	for _, key := range []string{"a", "b"} {
		expectReply(t, send(e, s, "EVAL", script, "0", key), ":0\r\n")
	}
}

func TestANodeThatHasEndedKeepsNoMessages(t *testing.T) {
	bus := cluster.NewBus()
	a, b := newNodeOn(t, bus, "cluster-slots", "0-8191"), newNodeOn(t, bus, "cluster-slots", "8192-16383")
	s, _ := connect(a)
	b.Close()
	expectReply(t, send(a, s, "PUBLISH", "news", "m"), ":0\r\n")
	if n := len(b.peer.messages); n != 0 {
		t.Errorf("%d messages are in the inbox", n)
	}
}

// While a script overruns busy-reply-threshold, other clients run at its safe points. The script sees
// one view until its end.
func TestAScriptSeesOneViewOfTheCluster(t *testing.T) {
	bus := cluster.NewBus()
	a, b := newNodeOn(t, bus, "cluster-slots", "0-8191"), newNodeOn(t, bus, "cluster-slots", "8192-16383")
	s, _ := connect(a)
	other, _ := connect(b)
	var id string
	b.Do(&Caller{}, func() { id = b.env.Cluster.Self().ID })
	expectReply(t, send(a, s, "SET", "b", "1"), "+OK\r\n")
	a.Do(&Caller{}, func() {
		// Another unit of a cannot run here. The other node's unit can.
		expectReply(t, send(b, other, "CLUSTER", "SETSLOT", "3300", "NODE", id), "+OK\r\n")
		if !a.env.Cluster.Owns(3300) {
			t.Error("the slot has left in the middle of a unit")
		}
	})
	reply := send(a, s, "GET", "b")
	if !strings.HasPrefix(reply, "-MOVED 3300 ") {
		t.Errorf("after the unit: %q", reply)
	}
}
