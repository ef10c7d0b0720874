package lockredis_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/backdoor"
)

// client is a raw connection, for tests of how sockets affect each other.
type client struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dialClient(t *testing.T, srv *lockredis.Server) *client {
	t.Helper()
	nc, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(time.Minute))
	return &client{t, nc, bufio.NewReader(nc)}
}

func (c *client) send(inline ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c, strings.Join(inline, "\r\n")+"\r\n"); err != nil {
		c.t.Fatal(err)
	}
}

// line returns the next line of replies.
func (c *client) line() string {
	c.t.Helper()
	s, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSuffix(s, "\r\n")
}

func (c *client) want(reply string) {
	c.t.Helper()
	if got := c.line(); got != reply {
		c.t.Fatalf("got %q, want %q", got, reply)
	}
}

const endlessScript = `EVAL "while true do end" 0`

func startBusy(t *testing.T) *lockredis.Server {
	t.Helper()
	srv := lockredis.New(lockredis.Config{Directives: map[string]string{"busy-reply-threshold": "20"}})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}

// untilBusy polls with PING until a script keeps the server busy.
func (c *client) untilBusy() {
	c.t.Helper()
	for c.send("PING"); !strings.HasPrefix(c.line(), "-BUSY"); c.send("PING") {
	}
}

func TestThePipelineBehindABusyScriptRunsWhenTheScriptEnds(t *testing.T) {
	srv := startBusy(t)
	victim, other := dialClient(t, srv), dialClient(t, srv)
	for round := range 3 {
		victim.send("SET a before", endlessScript, "SET a after", "GET a")
		other.untilBusy()
		late := dialClient(t, srv) // while the goroutine of its loop is in the script
		late.send("PING")
		if s := late.line(); !strings.HasPrefix(s, "-BUSY") {
			t.Fatalf("a new client, round %d: %q", round, s)
		}
		other.send("SCRIPT KILL")
		other.want("+OK")
		victim.want("+OK")
		if s := victim.line(); !strings.HasPrefix(s, "-ERR Script killed by user") {
			t.Fatalf("the killed script: %q", s)
		}
		victim.want("+OK")
		victim.want("$5")
		victim.want("after")
		late.send("PING")
		late.want("+PONG")
	}
}

func TestManyClientsGetRepliesDuringABusyScript(t *testing.T) {
	srv := startBusy(t)
	victim, killer := dialClient(t, srv), dialClient(t, srv)
	others := make([]*client, 50)
	for i := range others {
		others[i] = dialClient(t, srv)
		others[i].send("PING")
		others[i].want("+PONG")
	}
	victim.send(endlessScript)
	for _, c := range others { // a PING may wait until the script counts as busy
		c.send("PING")
	}
	for i, c := range others {
		if s := c.line(); s != "+PONG" && !strings.HasPrefix(s, "-BUSY") {
			t.Fatalf("client %d: %q", i, s)
		}
	}
	killer.untilBusy()
	killer.send("SCRIPT KILL")
	killer.want("+OK")
	for _, c := range others {
		c.send("PING")
		c.want("+PONG")
	}
}

func TestAClientThatDisconnectsDuringItsOwnScriptIsGoneAfterIt(t *testing.T) {
	srv := startBusy(t)
	victim, other := dialClient(t, srv), dialClient(t, srv)
	victim.send(endlessScript)
	other.untilBusy()
	victim.Close()
	other.send("PING")
	if s := other.line(); !strings.HasPrefix(s, "-BUSY") {
		t.Fatalf("after the disconnect: %q", s)
	}
	other.send("SCRIPT KILL")
	other.want("+OK")
	for deadline := time.Now().Add(patience); ; {
		other.send("INFO clients")
		var n int
		fmt.Sscanf(other.line(), "$%d", &n)
		text := make([]byte, n+2)
		if _, err := io.ReadFull(other.r, text); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "connected_clients:1\r\n") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the client is still listed:\n%s", text)
		}
	}
}

func TestASlowReaderGetsEverythingInOrder(t *testing.T) {
	srv := startBusy(t)
	slow, other := dialClient(t, srv), dialClient(t, srv)
	value := strings.Repeat("v", 100_000)
	slow.send("SET k " + value)
	slow.want("+OK")
	const n = 300 // 30 MB, more than socket buffers hold
	go io.WriteString(slow, strings.Repeat("GET k\r\nECHO end\r\n", n)+"QUIT\r\n")
	other.send("PING")
	other.want("+PONG")
	for range n {
		slow.want("$100000")
		slow.want(value)
		slow.want("$3")
		slow.want("end")
	}
	slow.want("+OK")
	if _, err := slow.r.ReadByte(); err != io.EOF {
		t.Fatalf("after QUIT: %v", err)
	}
}

func TestCloseEndsConnectionsInEveryState(t *testing.T) {
	srv := startBusy(t)
	blocked, unread, busy := dialClient(t, srv), dialClient(t, srv), dialClient(t, srv)
	blocked.send("BLPOP l 0")
	unread.send("SET k "+strings.Repeat("v", 60_000), "PING")
	unread.want("+OK")
	unread.want("+PONG")
	io.WriteString(unread, strings.Repeat("GET k\r\n", 500))
	busy.send(endlessScript)
	dialClient(t, srv).untilBusy()
	closed := make(chan error, 1)
	go func() { closed <- srv.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not return")
	}
}

func TestSettleDoesNotWaitForAConnectionThatHasEnded(t *testing.T) {
	srv := startBusy(t)
	leaving, other := dialClient(t, srv), dialClient(t, srv)
	leaving.send("CLIENT SETNAME leaving", "SET k "+strings.Repeat("v", 60_000))
	leaving.want("+OK")
	leaving.want("+OK")
	// 30 MB of replies are more than socket buffers hold.
	io.WriteString(leaving, strings.Repeat("GET k\r\n", 500)+"QUIT\r\n")
	for gone := false; !gone; {
		other.send("CLIENT LIST")
		var n int
		fmt.Sscanf(other.line(), "$%d", &n)
		list := make([]byte, n+2)
		if _, err := io.ReadFull(other.r, list); err != nil {
			t.Fatal(err)
		}
		gone = !strings.Contains(string(list), "name=leaving")
	}
	other.send("CONFIG SET timeout 5") // wakes every connection
	other.want("+OK")
	settled := make(chan struct{})
	go func() { backdoor.Open(srv).Settle(); close(settled) }()
	leaving.Close()
	select {
	case <-settled:
	case <-time.After(patience):
		t.Fatal("Settle waits for a connection that has ended")
	}
}
