package lockredis_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/redistest"
)

// patience is how long a test waits for what must happen, on a busy machine too.
const patience = time.Minute

func start(t *testing.T, cfg lockredis.Config) *lockredis.Server {
	t.Helper()
	srv := lockredis.New(cfg)
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}

func dial(t *testing.T, srv *lockredis.Server) *wire.Conn {
	t.Helper()
	c := redistest.Dial(t, srv.Addr())
	c.SetTimeout(patience)
	return c
}

// expect runs a command, splits it at blanks, and compares the reply's bytes.
func expect(t *testing.T, c *wire.Conn, command, want string) {
	t.Helper()
	v, err := c.Do(strings.Fields(command)...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if got := string(v.Raw); got != want {
		t.Fatalf("%s: %q, want %q", command, got, want)
	}
}

// receive compares the bytes of the next reply or message.
func receive(t *testing.T, c *wire.Conn, want string) {
	t.Helper()
	v, err := c.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.Raw); got != want {
		t.Fatalf("received %q, want %q", got, want)
	}
}

// eventually polls until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !redistest.Poll(patience, ok) {
		t.Fatal("did not happen: " + what)
	}
}

const endless = "while true do end"

func TestZeroConfigServesOnAFreePortOfLoopback(t *testing.T) {
	srv := start(t, lockredis.Config{})
	if !strings.HasPrefix(srv.Addr(), "127.0.0.1:") {
		t.Fatalf("listens on %s", srv.Addr())
	}
	c := dial(t, srv)
	expect(t, c, "PING", "+PONG\r\n")
	expect(t, c, "SET a 1", "+OK\r\n")
	expect(t, c, "GET a", "$1\r\n1\r\n")
}

func TestTenServersInOneProcessShareNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	for round := range 3 {
		servers := make([]*lockredis.Server, 10)
		for i := range servers {
			servers[i] = start(t, lockredis.Config{})
			c, err := wire.Dial(servers[i].Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			expect(t, c, "INCR n", ":1\r\n")
			expect(t, c, "SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "*1\r\n:0\r\n")
			expect(t, c, fmt.Sprintf("PUBLISH ch %d", round), ":0\r\n")
			expect(t, c, "SUBSCRIBE ch", "*3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n")
		}
		for _, srv := range servers {
			srv.Close()
		}
	}
}

func TestThePortOfAClosedServerIsFree(t *testing.T) {
	port, err := redistest.FreePort() // no other process takes it between the servers
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", port)
	srv := start(t, lockredis.Config{Addr: addr})
	dial(t, srv)
	srv.Close()
	again := start(t, lockredis.Config{Addr: addr})
	expect(t, dial(t, again), "PING", "+PONG\r\n")
}

func TestStartFailsOnAPortInUse(t *testing.T) {
	srv := start(t, lockredis.Config{})
	if err := lockredis.New(lockredis.Config{Addr: srv.Addr()}).Start(); err == nil {
		t.Fatal("two servers on one port")
	}
}

func TestStartFailsWithAWrongDirective(t *testing.T) {
	err := lockredis.New(lockredis.Config{Directives: map[string]string{"maxclients": "many"}}).Start()
	if err == nil || !strings.Contains(err.Error(), "maxclients") {
		t.Fatalf("Start returned %v", err)
	}
}

func TestASubscriberThatNeverReadsIsClosedAndDelaysNoPublisher(t *testing.T) {
	srv := start(t, lockredis.Config{})
	deaf, c := dial(t, srv), dial(t, srv)
	deaf.Send("SUBSCRIBE", "ch")
	eventually(t, "the subscription", func() bool {
		v, _ := c.Do("PUBSUB", "NUMSUB", "ch")
		return strings.HasSuffix(string(v.Raw), ":1\r\n")
	})
	payload := strings.Repeat("x", 1<<20)
	for range 60 { // the limit of the class pubsub is 32 MB
		if _, err := c.Do("PUBLISH", "ch", payload); err != nil { // the subscriber never reads
			t.Fatal(err)
		}
	}
	eventually(t, "the cut", func() bool {
		v, _ := c.Do("PUBSUB", "NUMSUB", "ch")
		return strings.HasSuffix(string(v.Raw), ":0\r\n")
	})
}

func TestAClientMayReadTheRepliesOfALongPipelineAtTheEnd(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c := dial(t, srv)
	expect(t, c, "SET big "+strings.Repeat("x", 1<<16), "+OK\r\n")
	const n = 2000 // 128 MB of replies
	for range n {
		if err := c.Send("GET", "big"); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		if v, err := c.Receive(); err != nil || len(v.Str) != 1<<16 {
			t.Fatal(err)
		}
	}
}

func TestBlockedClientsAreServedInArrivalOrder(t *testing.T) {
	srv := start(t, lockredis.Config{})
	first, second, pusher := dial(t, srv), dial(t, srv), dial(t, srv)
	first.Send("BLPOP", "q", "0")
	awaitBlocked(t, pusher, 1)
	second.Send("BLPOP", "q", "0")
	awaitBlocked(t, pusher, 2)
	expect(t, pusher, "RPUSH q a b c", ":3\r\n")
	receive(t, first, "*2\r\n$1\r\nq\r\n$1\r\na\r\n")
	receive(t, second, "*2\r\n$1\r\nq\r\n$1\r\nb\r\n")
	expect(t, pusher, "LLEN q", ":1\r\n")
}

func awaitBlocked(t *testing.T, c *wire.Conn, n int) {
	t.Helper()
	want := fmt.Sprintf("blocked_clients:%d\r\n", n)
	eventually(t, want, func() bool {
		v, _ := c.Do("INFO", "clients")
		return strings.Contains(string(v.Raw), want)
	})
}

func TestABlockedClientContinuesWithItsPipeline(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c, pusher := dial(t, srv), dial(t, srv)
	c.SendAll([]string{"PING"}, []string{"BLPOP", "q", "0"}, []string{"ECHO", "after"})
	receive(t, c, "+PONG\r\n") // sent at once, though a block follows
	awaitBlocked(t, pusher, 1)
	expect(t, pusher, "LPUSH q x", ":1\r\n")
	receive(t, c, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n")
	receive(t, c, "$5\r\nafter\r\n")
}

func TestABlockedClientThatDisconnectsNoLongerWaits(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c, other := dial(t, srv), dial(t, srv)
	c.Send("BLPOP", "q", "0")
	awaitBlocked(t, other, 1)
	c.Close()
	awaitBlocked(t, other, 0)
	expect(t, other, "RPUSH q a", ":1\r\n")
	expect(t, other, "LLEN q", ":1\r\n")
}

func TestABlockingCommandEndsAtItsTimeout(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c := dial(t, srv)
	began := time.Now()
	expect(t, c, "BLPOP q 0.05", "*-1\r\n")
	// As in Redis, the timeout counts from the last whole millisecond.
	if took := time.Since(began); took < 49*time.Millisecond {
		t.Fatalf("took %v", took)
	}
}

func TestOtherClientsGetBusyUntilAnEndlessScriptIsKilled(t *testing.T) {
	srv := start(t, lockredis.Config{Directives: map[string]string{"busy-reply-threshold": "20"}})
	runner, c := dial(t, srv), dial(t, srv)
	runner.Send("EVAL", endless, "0")
	eventually(t, "BUSY", func() bool {
		v, _ := c.Do("PING")
		return strings.HasPrefix(string(v.Raw), "-BUSY ")
	})
	expect(t, c, "MULTI", "+OK\r\n")
	v, _ := c.Do("GET", "a")
	if !strings.HasPrefix(string(v.Raw), "-BUSY ") {
		t.Fatalf("GET in MULTI: %q", v.Raw)
	}
	v, _ = c.Do("EXEC")
	if !strings.HasPrefix(string(v.Raw), "-EXECABORT Transaction discarded because of: BUSY ") {
		t.Fatalf("EXEC: %q", v.Raw)
	}
	expect(t, c, "SCRIPT KILL", "+OK\r\n")
	v, err := runner.Receive()
	text := string(v.Raw)
	if err != nil || !strings.HasPrefix(text, "-ERR Error running script") &&
		!strings.Contains(text, "killed by user") {
		t.Fatalf("the script's reply: %q, %v", text, err)
	}
	expect(t, c, "PING", "+PONG\r\n")
}

func TestAScriptThatHasWrittenCannotBeKilled(t *testing.T) {
	srv := start(t, lockredis.Config{Directives: map[string]string{"busy-reply-threshold": "20"}})
	runner, c := dial(t, srv), dial(t, srv)
	run := func() { runner.Send("EVAL", "redis.call('set','a','1') "+endless, "0") }
	run()
	eventually(t, "UNKILLABLE", func() bool {
		v, _ := c.Do("SCRIPT", "KILL")
		if string(v.Raw) == "+OK\r\n" { // the machine stalled before the script wrote
			runner.Receive()
			run()
		}
		return strings.HasPrefix(string(v.Raw), "-UNKILLABLE ")
	})
	srv.Close() // ends the script
}

func TestCloseEndsAnEndlessScript(t *testing.T) {
	defer goleak.VerifyNone(t)
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	c := dial(t, srv)
	expect(t, c, "PING", "+PONG\r\n")
	c.Send("EVAL", endless, "0")
	srv.Close()
}

func TestPauseHoldsWritesAndLetsReadsPass(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c, writer := dial(t, srv), dial(t, srv)
	expect(t, c, "SET a 1", "+OK\r\n")
	expect(t, c, "CLIENT PAUSE 100000 WRITE", "+OK\r\n")
	writer.Send("SET", "a", "2")
	writer.Send("GET", "a")
	for range 20 {
		expect(t, c, "GET a", "$1\r\n1\r\n")
	}
	expect(t, c, "CLIENT UNPAUSE", "+OK\r\n")
	receive(t, writer, "+OK\r\n")
	receive(t, writer, "$1\r\n2\r\n")
}

func TestPauseEndsAtItsTimeout(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c := dial(t, srv)
	began := time.Now()
	expect(t, c, "CLIENT PAUSE 60", "+OK\r\n")
	expect(t, c, "PING", "+PONG\r\n")
	if took := time.Since(began); took < 59*time.Millisecond { // whole milliseconds count
		t.Fatalf("the pause ended after %v", took)
	}
}

func TestAMalformedFrameGetsAnErrorAndEndsTheConnection(t *testing.T) {
	srv := start(t, lockredis.Config{})
	for frame, want := range map[string]string{
		"*1\r\n$9223372036854775807\r\n": "-ERR Protocol error: invalid bulk length\r\n",
		"PING\r\n*1\r\n:1\r\n":           "+PONG\r\n-ERR Protocol error: expected '$', got ':'\r\n",
		"SET \"a\r\n":                    "-ERR Protocol error: unbalanced quotes in request\r\n",
		"CLIENT REPLY OFF\r\n*x\r\n":     "",
		"CLIENT REPLY SKIP\r\n*x\r\n":    "",
	} {
		c := dial(t, srv)
		c.WriteRaw([]byte(frame))
		got, closed, err := c.ReadQuiet(patience)
		if string(got) != want || !closed {
			t.Errorf("%q: %q, closed %v, %v", frame, got, closed, err)
		}
	}
	expect(t, dial(t, srv), "PING", "+PONG\r\n")
}

// Redis leaves such a connection open and reads no more from it.
func TestQuitEndsASilencedConnection(t *testing.T) {
	srv := start(t, lockredis.Config{})
	for _, mode := range []string{"OFF", "SKIP"} {
		c := dial(t, srv)
		c.WriteRaw([]byte("CLIENT REPLY " + mode + "\r\nQUIT\r\nPING\r\n"))
		if got, closed, err := c.ReadQuiet(patience); len(got) > 0 || !closed {
			t.Errorf("%s: %q, closed %v, %v", mode, got, closed, err)
		}
	}
}

func TestMaxClientsRefusesTheNextClient(t *testing.T) {
	srv := start(t, lockredis.Config{Directives: map[string]string{"maxclients": "2"}})
	a, b := dial(t, srv), dial(t, srv)
	expect(t, a, "PING", "+PONG\r\n")
	expect(t, b, "PING", "+PONG\r\n")
	receive(t, dial(t, srv), "-ERR max number of clients reached\r\n")
}

func TestAnIdleClientIsClosedAfterTheTimeoutUnlessItSubscribed(t *testing.T) {
	redistest.SkipWhenQuick(t) // the timeout is a second
	srv := start(t, lockredis.Config{})
	idle, listener := dial(t, srv), dial(t, srv)
	expect(t, listener, "SUBSCRIBE a", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")
	expect(t, idle, "CONFIG SET timeout 1", "+OK\r\n") // no client is idle before
	if _, err := idle.Receive(); err == nil {
		t.Fatal("an idle client received a reply")
	}
	expect(t, listener, "PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n")
}

func TestATimeoutCountsFromTheLastCommandAndNotFromItsConfigSet(t *testing.T) {
	clock := expiry.NewManual(time.Now())
	srv := start(t, lockredis.Config{Clock: clock})
	for name, connect := range map[string]func(*testing.T, *lockredis.Server) *wire.Conn{
		"socket": dial,
		"pipe":   func(t *testing.T, srv *lockredis.Server) *wire.Conn { return pipe(t, srv) },
	} {
		t.Run(name, func(t *testing.T) {
			idle := connect(t, srv)
			expect(t, idle, "PING", "+PONG\r\n")
			clock.Advance(2 * time.Hour)
			c := connect(t, srv)
			expect(t, c, "CONFIG SET timeout 3600", "+OK\r\n")
			if _, err := idle.Receive(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the idle client is still connected:", err)
			}
			expect(t, c, "CONFIG SET timeout 0", "+OK\r\n")
		})
	}
}

func TestAPasswordIsRequired(t *testing.T) {
	srv := start(t, lockredis.Config{Password: "secret"})
	c := dial(t, srv)
	expect(t, c, "GET a", "-NOAUTH Authentication required.\r\n")
	expect(t, c, "AUTH wrong", "-WRONGPASS invalid username-password pair or user is disabled.\r\n")
	expect(t, c, "AUTH default secret", "+OK\r\n")
	expect(t, c, "GET a", "$-1\r\n")
	big := dial(t, srv)
	big.WriteRaw([]byte("*11\r\n"))
	receive(t, big, "-ERR Protocol error: unauthenticated multibulk length\r\n")
}

func TestAKilledClientIsGoneAtOnce(t *testing.T) {
	srv := start(t, lockredis.Config{})
	victim, c := dial(t, srv), dial(t, srv)
	id, err := victim.Do("CLIENT", "ID")
	if err != nil {
		t.Fatal(err)
	}
	n, _ := id.Int()
	expect(t, c, fmt.Sprintf("CLIENT KILL ID %d", n), ":1\r\n")
	expect(t, c, fmt.Sprintf("CLIENT LIST ID %d", n), "$0\r\n\r\n")
	if _, err := victim.Receive(); err == nil {
		t.Fatal("the killed client is connected")
	}
}

var announceExpired = map[string]string{"notify-keyspace-events": "Ex"}

// lateness returns how long after its deadline the end of a key is announced.
func lateness(t *testing.T, listener, c *wire.Conn, ttl time.Duration) (late time.Duration) {
	t.Helper()
	expect(t, listener, "SUBSCRIBE __keyevent@0__:expired",
		"*3\r\n$9\r\nsubscribe\r\n$22\r\n__keyevent@0__:expired\r\n:1\r\n")
	expect(t, c, fmt.Sprint("SET lease x PX ", ttl.Milliseconds()), "+OK\r\n")
	due := time.Now().Add(ttl)
	receive(t, listener,
		"*3\r\n$7\r\nmessage\r\n$22\r\n__keyevent@0__:expired\r\n$5\r\nlease\r\n")
	late = time.Since(due)
	expect(t, c, "DBSIZE", ":0\r\n")
	return late
}

// In virtual time nothing else delays the announcement.
func TestAnExpiredKeyIsAnnouncedWithinAMillisecond(t *testing.T) {
	for _, ttl := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, lockredis.Config{NoSocket: true, Directives: announceExpired})
			if late := lateness(t, pipe(t, srv), pipe(t, srv), ttl); late < 0 || late > time.Millisecond {
				t.Errorf("a key of %v is announced %v late", ttl, late)
			}
		})
	}
}

func TestAnExpiredKeyIsAnnouncedOverASocket(t *testing.T) {
	srv := start(t, lockredis.Config{Directives: announceExpired})
	lateness(t, dial(t, srv), dial(t, srv), 50*time.Millisecond)
}

func TestTwoThousandFiveHundredIdleConnectionsAreServed(t *testing.T) {
	srv := start(t, lockredis.Config{})
	conns := make([]net.Conn, 0, 2500)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for range cap(conns) {
		c, err := net.Dial("tcp", srv.Addr())
		if err != nil {
			t.Skipf("this machine allows no more than %d connections: %v", len(conns), err)
		}
		conns = append(conns, c)
	}
	expect(t, dial(t, srv), "PING", "+PONG\r\n")
	var wg sync.WaitGroup
	for _, c := range conns {
		wg.Add(1)
		go func() {
			defer wg.Done()
			buf := make([]byte, 7)
			c.Write([]byte("PING\r\n"))
			if n, err := c.Read(buf); err != nil || string(buf[:n]) != "+PONG\r\n" {
				t.Errorf("%q, %v", buf[:n], err)
			}
		}()
	}
	wg.Wait()
}

func TestACommandShutdownEndsTheServer(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c := dial(t, srv)
	c.Send("SHUTDOWN", "NOSAVE")
	select {
	case <-srv.Done():
	case <-time.After(patience):
		t.Fatal("the server runs on")
	}
}

func TestNothingListensWhenTheClientOfShutdownIsDisconnected(t *testing.T) {
	port, err := redistest.FreePort() // no other process listens there meanwhile
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + port
	for range 50 {
		srv := start(t, lockredis.Config{Addr: addr})
		c := dial(t, srv)
		c.Send("SHUTDOWN", "NOSAVE")
		if r, err := c.Receive(); err == nil {
			t.Fatalf("SHUTDOWN answers %s", r)
		}
		if nc, err := net.Dial("tcp", addr); err == nil {
			nc.Close()
			t.Fatal("the server still listens")
		}
		<-srv.Done()
	}
}

func TestFilesAreRelativeToDirInAnyOrderOfDirectives(t *testing.T) {
	dir := t.TempDir()
	for range 20 { // the order of a map is random
		srv := lockredis.New(lockredis.Config{Directives: map[string]string{
			"unixsocket": "s.sock", "dir": dir, "port": "0",
		}})
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		if got, want := srv.Addr(), filepath.Join(dir, "s.sock"); got != want {
			t.Fatalf("listens on %s, not on %s", got, want)
		}
		srv.Close()
	}
}

func TestAnUnsupportedDirectiveIsRefused(t *testing.T) {
	err := lockredis.New(lockredis.Config{Directives: map[string]string{"daemonize": "yes"}}).Start()
	const want = "directive daemonize yes: lockredis does not detach itself"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Fatal(err)
	}
}

func TestInfoMeasuresTheLargestBuffersOnceASecond(t *testing.T) {
	clock := expiry.NewManual(time.Now())
	srv := start(t, lockredis.Config{Clock: clock})
	c, large := pipe(t, srv), pipe(t, srv)
	const size = 100_000
	largest := func() (n int) {
		v, err := c.Do("INFO", "clients")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(v.Str), "client_recent_max_input_buffer:")
		fmt.Sscan(rest, &n)
		return n
	}
	before := largest()
	if before >= size {
		t.Fatalf("%d bytes before anything was sent", before)
	}
	if err := large.WriteRaw([]byte("*1\r\n$200000\r\n" + strings.Repeat("x", size))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server has read the part of a command", func() bool {
		v, _ := c.Do("CLIENT", "LIST")
		return strings.Contains(string(v.Str), " qbuf=1000") // with the command's head or without
	})
	if n := largest(); n != before {
		t.Errorf("%d bytes in the same second, %d before", n, before)
	}
	clock.Advance(time.Second)
	if n := largest(); n < size {
		t.Errorf("%d bytes a second later", n)
	}
}

func TestClientListIDKeepsTheOrderOfItsArguments(t *testing.T) {
	srv := start(t, lockredis.Config{})
	a, b := dial(t, srv), dial(t, srv)
	var ids [2]string
	for i, c := range []*wire.Conn{a, b} {
		v, err := c.Do("CLIENT", "ID")
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = strings.TrimPrefix(v.String(), ":")
	}
	v, err := a.Do("CLIENT", "LIST", "ID", ids[1], ids[0], "999", ids[1])
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(v.Str)) {
		listed = append(listed, strings.TrimPrefix(strings.Fields(line)[0], "id="))
	}
	if want := []string{ids[1], ids[0], ids[1]}; !slices.Equal(listed, want) {
		t.Errorf("clients %q are listed, want %q", listed, want)
	}
}
