package abuse

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

const fullText = "-ERR max number of clients reached"

// ended checks that the server has closed c and sent nothing more.
func (v *victim) ended(c *wire.Conn, who string) {
	v.t.Helper()
	if r, err := c.ReceiveWithin(slack(4 * time.Second)); err == nil || !wire.IsClosed(err) {
		v.t.Errorf("%s is still served: %s %v", who, r, err)
	}
}

// stays checks that c is open and answers.
func (v *victim) stays(c *wire.Conn, who string) {
	v.t.Helper()
	if r, err := c.Do("PING"); err != nil || r.IsError() {
		v.t.Errorf("%s was disconnected: %s %v", who, r, err)
	}
}

// field returns a number of INFO.
func (v *victim) field(c *wire.Conn, name string) int {
	v.t.Helper()
	_, rest, _ := strings.Cut(string(v.do(c, "INFO").Str), "\r\n"+name+":")
	text, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		v.t.Fatalf("INFO's %s: %v", name, err)
	}
	return n
}

func TestMaxclientsRefusesOneMoreUntilAClientCloses(t *testing.T) {
	v := attack(t, map[string]string{"maxclients": "5"})
	before := measure()
	guests := make([]*wire.Conn, 5)
	for i := range guests {
		guests[i] = v.dial()
		v.want(guests[i], "+PONG", "PING")
	}
	for range 100 {
		c := v.dial()
		if r, err := c.Receive(); err != nil || r.String() != fullText {
			t.Fatalf("%s %v", r, err)
		}
		v.ended(c, "who was refused")
		c.Close()
	}
	if n := v.field(guests[0], "rejected_connections"); n != 100 {
		t.Errorf("%d clients were refused", n)
	}
	guests[4].Close()
	guests[4] = v.letIn()
	v.want(guests[0], "+OK", "CONFIG", "SET", "maxclients", "3")
	for i, c := range guests {
		v.stays(c, "guest "+strconv.Itoa(i))
	}
	guests[4].Close()
	guests[3].Close()
	eventually(t, 3*time.Second, func() string {
		if n := v.field(guests[0], "connected_clients"); n != 3 {
			return fmt.Sprintf("%d clients", n)
		}
		return ""
	})
	refused := v.dial()
	if r, err := refused.Receive(); err != nil || r.String() != fullText {
		t.Errorf("after the limit was lowered: %s %v", r, err)
	}
	v.want(guests[0], "+OK", "CONFIG", "SET", "maxclients", "4")
	refused.Close()
	v.letIn().Close()
	for _, c := range guests[:3] {
		c.Close()
	}
	v.letIn().Close()
	v.recovers(before)
}

// letIn dials until the server has a free slot.
func (v *victim) letIn() (c *wire.Conn) {
	v.t.Helper()
	eventually(v.t, 3*time.Second, func() string {
		c = v.dial()
		if r, err := c.Do("PING"); err != nil || r.IsError() {
			c.Close()
			return fmt.Sprintf("the slot is not free: %s %v", r, err)
		}
		return ""
	})
	return c
}

func TestTimeoutEndsIdleClientsAndSparesWaitingOnes(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	before := measure()
	c := &talker{v: v, c: v.dial()}
	idle, mute, queueing, torn := v.dial(), v.dial(), v.dial(), v.dial()
	v.want(idle, "+PONG", "PING")
	v.want(queueing, "+OK", "MULTI")
	if err := torn.WriteRaw([]byte("*2\r\n$4\r\nECHO\r\n$3\r\na")); err != nil {
		t.Fatal(err)
	}
	listener, waiter, paused := v.dial(), v.dial(), v.dial()
	v.want(listener, `["subscribe" "c" :1]`, "SUBSCRIBE", "c")
	send(t, waiter, "BLPOP", "l", "0")
	c.want("+OK", "CLIENT", "PAUSE", "600000", "WRITE")
	send(t, paused, "SET", "k", "v")
	v.awaitBlocked(c.c, 2)
	begin := time.Now()
	c.want("+OK", "CONFIG", "SET", "timeout", "1") // after the clients connected
	for who, loser := range map[string]*wire.Conn{"an idle client": idle, "one that never spoke": mute,
		"one in MULTI": queueing, "one within a command": torn} {
		v.endedBeside(loser, who, c)
	}
	if d := time.Since(begin); d < 900*time.Millisecond {
		t.Errorf("ended after %v", d)
	}
	c.want("+OK", "CONFIG", "SET", "timeout", "0")
	c.want("+OK", "CLIENT", "UNPAUSE")
	if r, err := paused.Receive(); err != nil || r.String() != "+OK" {
		t.Errorf("the client that CLIENT PAUSE postponed: %s %v", r, err)
	}
	c.want(":1", "RPUSH", "l", "x")
	if r, err := waiter.Receive(); err != nil || r.String() != `["l" "x"]` {
		t.Errorf("the client that waited for a key: %s %v", r, err)
	}
	v.stays(listener, "a subscriber")
	// CONFIG SET timeout 0 also removes a deadline that was armed before.
	if r, err := paused.ReceiveWithin(1200 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after timeout 0: %s %v", r, err)
	}
	for _, c := range []*wire.Conn{c.c, paused, waiter, listener} {
		v.stays(c, "one who came before timeout 0")
	}
	for _, c := range []*wire.Conn{c.c, paused, waiter, listener, idle, mute, queueing, torn} {
		c.Close()
	}
	v.recovers(before)
}

// talker is a client that sends commands all the time.
type talker struct {
	v    *victim
	c    *wire.Conn
	last time.Time // just before its last command; zero before the first
}

// want is victim.want. The server may disconnect the talker only after a second without a
// command, in which this process was stopped. Then the talker connects again.
func (k *talker) want(reply string, args ...string) {
	k.v.t.Helper()
	begin := time.Now()
	r, err := k.c.Do(args...)
	if wire.IsClosed(err) && !k.last.IsZero() && time.Since(k.last) > time.Second {
		k.c = k.v.dial()
		begin = time.Now()
		r, err = k.c.Do(args...)
	}
	if err != nil || r.String() != reply {
		k.v.t.Fatalf("the client that talks: %s: %s %v", shown(args), r, err)
	}
	k.last = begin
}

// endedBeside is ended, while another client sends commands.
func (v *victim) endedBeside(c *wire.Conn, who string, other *talker) {
	v.t.Helper()
	eventually(v.t, 4*time.Second, func() string {
		other.want("+PONG", "PING")
		if r, err := c.ReceiveWithin(50 * time.Millisecond); err == nil || !wire.IsClosed(err) {
			return fmt.Sprintf("%s is still served: %s %v", who, r, err)
		}
		return ""
	})
}

func send(t *testing.T, c *wire.Conn, args ...string) {
	t.Helper()
	if err := c.Send(args...); err != nil {
		t.Fatal(err)
	}
}

func TestTCPKeepaliveIsOnTheServersSockets(t *testing.T) {
	const table = "/proc/net/tcp"
	if _, err := os.Stat(table); err != nil {
		t.Skip("no " + table)
	}
	v := attack(t, nil)
	c := v.dial()
	for _, row := range []struct{ seconds, low, high int }{{300, 290, 300}, {60, 55, 60}, {0, 0, 0}} {
		v.want(c, "+OK", "CONFIG", "SET", "tcp-keepalive", strconv.Itoa(row.seconds))
		eventually(t, 3*time.Second, func() string {
			nc := v.raw()
			defer nc.Close()
			got, err := keepaliveLeft(table, nc)
			if err != nil || got < row.low || got > row.high {
				return fmt.Sprintf("tcp-keepalive %d: the first probe is due in %d s: %v", row.seconds, got,
					err)
			}
			return ""
		})
	}
}

// keepaliveLeft returns how many seconds remain on the kernel's keepalive timer of nc's
// other end, or 0 when there is no timer.
func keepaliveLeft(table string, nc net.Conn) (int, error) {
	text, err := os.ReadFile(table)
	if err != nil {
		return 0, err
	}
	const ticks, keepalive = 100, "02"
	local, remote := hexAddr(nc.RemoteAddr()), hexAddr(nc.LocalAddr())
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if words[1] != local || words[2] != remote {
			continue
		}
		kind, when, _ := strings.Cut(words[5], ":")
		if kind != keepalive {
			return 0, nil
		}
		left, err := strconv.ParseInt(when, 16, 64)
		return int(left+ticks/2) / ticks, err
	}
	return 0, errors.New("no such socket")
}

// hexAddr returns an IPv4 address as the kernel's table writes it.
func hexAddr(a net.Addr) string {
	tcp := a.(*net.TCPAddr)
	ip := slices.Clone(tcp.IP.To4())
	slices.Reverse(ip) // the table is little-endian
	return fmt.Sprintf("%X:%04X", []byte(ip), tcp.Port)
}

// big is a limit that a test can exceed. 1 MB is the lowest that Redis allows.
const big = 1 << 20

func TestQueryBufferOverItsLimitEndsOnlyItsClient(t *testing.T) {
	v := attack(t, map[string]string{"client-query-buffer-limit": strconv.Itoa(big)})
	before := measure()
	c := v.dial()

	pipeline := v.raw()
	go pipeline.Write([]byte(strings.Repeat("*1\r\n$4\r\nPING\r\n", 4*big/14)))
	want := int64(4 * big / 14 * len("+PONG\r\n"))
	pipeline.SetReadDeadline(time.Now().Add(slack(5 * time.Second)))
	if n, err := io.CopyN(io.Discard, pipeline, want); err != nil {
		t.Errorf("a long pipeline of short commands: %d bytes of %d, %v", n, want, err)
	}

	v.want(c, "+OK", "SET", "k", strings.Repeat("v", big-100))
	v.cut("a large argument", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9999999\r\n", strings.Repeat("v", 3*big))
	v.want(c, ":0", append([]string{"DEL"}, slices.Repeat([]string{strings.Repeat("v", big/2)}, 6)...)...)
	v.want(c, ":0", append([]string{"DEL"}, slices.Repeat([]string{"v"}, big/2)...)...)
	v.cut("behind a blocking command", "*3\r\n$5\r\nBLPOP\r\n$1\r\nl\r\n$1\r\n0\r\n",
		strings.Repeat("*1\r\n$4\r\nPING\r\n", 3*big/14))
	v.want(c, ":1", "RPUSH", "l", "x") // the cut client no longer waits
	v.want(c, ":1", "LLEN", "l")
	if got := len(v.do(c, "GET", "k").Str); got != big-100 {
		t.Errorf("a cut SET left %d bytes", got)
	}
	pipeline.Close()
	c.Close()
	v.alive()
	v.recovers(before)
}

// cut sends input that the server must answer only by closing the connection.
func (v *victim) cut(what string, frames ...string) {
	v.t.Helper()
	nc := v.raw()
	nc.SetDeadline(time.Now().Add(slack(5 * time.Second)))
	for _, frame := range frames {
		if _, err := nc.Write([]byte(frame)); err != nil && !wire.IsClosed(err) {
			v.t.Errorf("%s: %v", what, err)
		}
	}
	if got, err := io.ReadAll(nc); len(got) > 0 || err != nil && !wire.IsClosed(err) {
		v.t.Errorf("%s: got %.100q, %v; want no reply", what, got, err)
	}
	nc.Close()
}

// refusal sends a frame, then QUIT, and returns the bytes that arrive before the end of
// the connection. open is true when the server also answered the QUIT, which answer
// leaves out.
func (v *victim) refusal(frame string) (answer string, open bool) {
	v.t.Helper()
	nc := v.raw()
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(slack(5 * time.Second)))
	go io.WriteString(nc, frame+"*1\r\n$4\r\nQUIT\r\n")
	all, err := io.ReadAll(nc)
	if err != nil && !wire.IsClosed(err) {
		v.t.Errorf("%.40q: %v", frame, err)
	}
	return strings.CutSuffix(string(all), "+OK\r\n")
}

func TestFramesOverALimitAreRefusedWithTheTextOfRedis(t *testing.T) {
	v := attack(t, map[string]string{"proto-max-bulk-len": strconv.Itoa(big)})
	before := measure()
	for _, row := range []struct {
		name, frame, want string
		open              bool
	}{
		{"a bulk at the limit", bulk(big), "-ERR unknown command '" + strings.Repeat("x", 128) + "', with args beginning with: \r\n", true},
		{"a bulk over it", bulk(big + 1), "-ERR Protocol error: invalid bulk length\r\n", false},
		{"a bulk over it, announced", "*1\r\n$1048577\r\n", "-ERR Protocol error: invalid bulk length\r\n", false},
		{"too many arguments", "*2147483648\r\n", "-ERR Protocol error: invalid multibulk length\r\n", false},
		{"an array in an array", "*1\r\n*1\r\n$4\r\nPING\r\n", "-ERR Protocol error: expected '$', got '*'\r\n", false},
		{"arrays a million deep", strings.Repeat("*1\r\n", 1000000), "-ERR Protocol error: expected '$', got '*'\r\n", false},
		{"wide arrays in depth", strings.Repeat("*1000000\r\n", 100000), "-ERR Protocol error: expected '$', got '*'\r\n", false},
		{"empty arrays", strings.Repeat("*0\r\n", 1000000), "", true},
		{"an inline command too long", strings.Repeat("x", 200000), "-ERR Protocol error: too big inline request\r\n", false},
	} {
		if got, open := v.refusal(row.frame); got != row.want || open != row.open {
			t.Errorf("%s: %.300q, open %v", row.name, got, open)
		}
	}
	v.alive()
	v.recovers(before)
}

// bulk returns a command with one argument of n bytes.
func bulk(n int) string { return string(wire.AppendCommand(nil, strings.Repeat("x", n))) }

func TestClientBeforeAuthMaySendOnlySmallFrames(t *testing.T) {
	v := attack(t, map[string]string{"requirepass": "secret"})
	args := func(n int) string {
		return string(wire.AppendCommand(nil, slices.Repeat([]string{"PING"}, n)...))
	}
	const unauthorized, auth = "-NOAUTH Authentication required.\r\n",
		"*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"
	const tooMany = "-ERR wrong number of arguments for 'ping' command\r\n"
	for _, row := range []struct {
		name, frame, want string
		open              bool
	}{
		{"ten arguments", args(10), unauthorized, true},
		{"eleven arguments", args(11), "-ERR Protocol error: unauthenticated multibulk length\r\n", false},
		{"16 KB", string(wire.AppendCommand(nil, "GET", strings.Repeat("x", 16384))), unauthorized, true},
		{"a byte more", string(wire.AppendCommand(nil, "GET", strings.Repeat("x", 16385))), "-ERR Protocol error: unauthenticated bulk length\r\n", false},
		{"a large inline command", "PING " + strings.Repeat("x ", 20000) + "\r\n", unauthorized, true},
		{"after AUTH", auth + args(11), "+OK\r\n" + tooMany, true},
		{"16 KB after AUTH", auth + string(wire.AppendCommand(nil, "GET", strings.Repeat("x", 16385))), "+OK\r\n$-1\r\n", true},
		{"after a wrong AUTH", "AUTH nope\r\n" + args(11), "-WRONGPASS invalid username-password pair or user is disabled.\r\n" +
			"-ERR Protocol error: unauthenticated multibulk length\r\n", false},
	} {
		if got, open := v.refusal(row.frame); got != row.want || open != row.open {
			t.Errorf("%s: %.300q, open %v", row.name, got, open)
		}
	}
}

func TestClientBeforeAuthThatNeverReadsIsCutOff(t *testing.T) {
	v := attack(t, map[string]string{"requirepass": "secret"})
	before := measure()
	nc := v.raw()
	nc.SetReadBuffer(4096)
	frame := []byte(strings.Repeat("*1\r\n$4\r\nPING\r\n", 10000))
	nc.SetWriteDeadline(time.Now().Add(slack(20 * time.Second)))
	for sent := 0; ; sent += len(frame) {
		_, err := nc.Write(frame)
		if wire.IsClosed(err) {
			break
		}
		if err != nil || sent > 64*big {
			t.Fatalf("the server took %d bytes of commands whose replies the client never read: %v", sent,
				err)
		}
	}
	nc.Close()
	eventually(t, 3*time.Second, func() string {
		if now := measure(); now.heap > before.heap+8*big {
			return fmt.Sprintf("heap: %d MB before, now %d MB", before.heap/big, now.heap/big)
		}
		return ""
	})
}
