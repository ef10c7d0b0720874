package replication_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/resp"
)

// Sleep is called after each key of a file, with key-load-delay.
func (n *node) Sleep(int64) {
	if n.sleep != nil {
		n.sleep()
	}
}

// primary is the other end of a node's link.
type primary struct {
	net.Conn
	n    *node
	file string // all data, with the reply to PSYNC
}

// newPrimary has the first link of n lead to a primary with two large keys. All later ones are refused.
func newPrimary(n *node) *primary {
	n.t.Helper()
	data := newNode(n.t, "rdbcompression", "no")
	data.connect().send("MSET", "k", strings.Repeat("v", 100_000), "l", strings.Repeat("v", 100_000))
	r := data.connect()
	r.send("REPLCONF", "capa", "eof", "capa", "psync2")
	file := r.send("PSYNC", "?", "-1")
	data.pieces()
	file += r.take()

	mine, theirs := net.Pipe()
	n.t.Cleanup(func() { theirs.Close() })
	var dialed atomic.Bool
	n.dialing(func(context.Context) (net.Conn, error) {
		if dialed.Swap(true) {
			return nil, errors.New("refused")
		}
		return mine, nil
	})
	return &primary{theirs, n, file}
}

// give has n follow the primary, and gives it all data. What n says then is read and passed over.
func (p *primary) give() {
	p.n.t.Helper()
	p.n.connect().send("REPLICAOF", "h", "1")
	in := bufio.NewReader(p)
	for _, step := range []struct{ hear, say string }{
		{"PING", "+PONG\r\n"}, {"psync2", "+OK\r\n+OK\r\n"}, {"-1", p.file},
	} {
		for line := ""; !strings.Contains(line, step.hear); {
			var err error
			if line, err = in.ReadString('\n'); err != nil {
				p.n.t.Fatalf("before %s: %v", step.hear, err)
			}
		}
		io.WriteString(p, step.say)
	}
	go io.Copy(io.Discard, in)
}

// awaitInfo waits until a field of INFO has a value.
func (c *client) awaitInfo(field, want string) {
	c.n.t.Helper()
	got := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if got = c.info(field); got == want {
			return
		}
	}
	c.n.t.Fatalf("%s is %q, want %q", field, got, want)
}

func TestALoadMayTakeLongerThanReplTimeout(t *testing.T) {
	n := newNode(t, "repl-timeout", "3", "key-load-delay", "1")
	loads, goes := make(chan bool), make(chan bool)
	n.sleep = sync.OnceFunc(func() { loads <- true; <-goes })
	user := n.connect()
	newPrimary(n).give()
	<-loads
	for range 10 {
		n.beat()
	}
	close(goes)
	role := ""
	for !strings.Contains(role, "\r\nconnected\r\n") {
		if role = user.send("ROLE"); strings.Contains(role, "\r\nconnect\r\n") {
			t.Fatal("the load has ended its link")
		}
	}
	if got := user.send("STRLEN", "l"); got != ":100000\r\n" {
		t.Errorf("STRLEN returns %q", got)
	}
}

// units notes the commands of each unit.
func (n *node) units() (list func() string) {
	var b strings.Builder
	n.ReadJournal(func(e *journal.Entry) {
		switch e.Kind {
		case journal.UnitBegins:
			b.WriteString("[ ")
		case journal.UnitEnds:
			b.WriteString("] ")
		case journal.CommandBegins:
			fmt.Fprintf(&b, "%s %d ", e.Ctx.Cmd.Name, e.Ctx.Session.DB)
		}
	})
	return func() (all string) {
		n.Do(&engine.Caller{}, func() { all = b.String() })
		return all
	}
}

func TestATransactionOfTheStreamIsOneUnit(t *testing.T) {
	n := newNode(t)
	p := newPrimary(n)
	p.give()
	user := n.connect()
	user.awaitInfo("master_link_status", "up")
	sub, _, _ := n.follower()
	var stream []byte
	for _, line := range []string{"SELECT 0", "MULTI", "SET a 1", "SELECT 1", "SET b 2", "SELECT 2", "PING", "SET c 3", "EXEC", "SET d 4"} {
		stream = resp.AppendCommand(stream, strings.Fields(line)...)
	}
	units := n.units()
	p.Write(stream)
	var heard string
	for !strings.Contains(heard, "\r\nd\r\n") {
		n.Do(&engine.Caller{}, func() { heard = sub.out.String() })
	}
	const want = "[ select 0 ] [ multi 0 ] [ exec 0 set 0 select 0 set 1 select 1 ping 2 set 2 ] [ set 2 ] "
	if got := units(); got != want {
		t.Errorf("the units are %s\nwant %s", got, want)
	}
	if heard != string(stream) {
		t.Errorf("a replica of the replica hears %q", heard)
	}
}

// redis-server 7.0.15 shows the same.
func TestAReplicaThatChangesItsPrimaryCountsOnSinceItsLinkIsDown(t *testing.T) {
	n := newNode(t)
	user := n.connect()
	p := newPrimary(n)
	shows := func(want string) {
		t.Helper()
		if got := user.info("master_link_down_since_seconds"); got != want {
			t.Errorf("the link is down since %s s, want %s", got, want)
		}
	}
	p.give()
	user.awaitInfo("master_link_status", "up")
	p.Close()
	user.awaitInfo("master_link_status", "down")
	for range 3 {
		n.beat()
	}
	shows("3")
	user.send("REPLICAOF", "other", "1")
	shows("3")
	n.beat()
	n.beat()
	shows("5")
}

// The link to the primary before is up until then.
func TestAReplicaThatLeavesItsPrimaryCountsFromThen(t *testing.T) {
	n := newNode(t)
	user := n.connect()
	newPrimary(n).give()
	user.awaitInfo("master_link_status", "up")
	for _, want := range []string{"0", "1", "2"} {
		user.send("REPLICAOF", "other"+want, "1")
		if got := user.info("master_link_down_since_seconds"); got != want {
			t.Errorf("the link is down since %s s, want %s", got, want)
		}
		n.beat()
	}
}
