package abuse

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// raw returns a TCP connection.
func (v *victim) raw() *net.TCPConn {
	v.t.Helper()
	nc, err := net.Dial("tcp", v.addr)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { nc.Close() })
	return nc.(*net.TCPConn)
}

// torn are frames with an error or a missing part.
var torn = []string{
	"*1\r\n$9223372036854775807\r\n", "*1\r\n$-9223372036854775808\r\n", "*1\r\n$-1\r\n",
	"*1\r\n$536870913\r\n",
	"*2147483647\r\n", "*2147483648\r\n", "*9223372036854775807\r\n$4\r\n",
	"*-9223372036854775808\r\n", "*1000000000\r\n$1\r\na\r\n",
	"*1\r\n$536870912\r\nab", "*3\r\n$3\r\nSET\r\n$1\r\n", "*2\r\n$4\r\nECHO\r\n:1\r\n",
	"*1\r\n$04\r\nPING\r\n", "*1\r\n$+4\r\nPING\r\n",
	"*+1\r\n", "*01\r\n", "*\r\n", "*x\r\n", "$4\r\nPING\r\n", "*1\r\n$4\rPING\r\n",
	"*1\r\n$4\nPING\r\n", "*1\r\n$4\r\nPINGxx",
	"*0\r\n*-1\r\n*0\r\n", "\r\n\r\n\n\n", "PING\x00\r\n", "\"PING\r\n", "'PING' \"a\\xZZ\"\r\n",
	"PING \"a\"b\r\n", "\x00\x00\x00\x00",
	"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\n\r\n",
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"*1\r\n*1\r\n$4\r\nPING\r\n", "%1\r\n+a\r\n:1\r\n", ">1\r\n$4\r\nPING\r\n", "_\r\n", "#t\r\n",
	strings.Repeat("x", 70000), "*" + strings.Repeat("1", 70000), "*1\r\n$" +
		strings.Repeat("1", 70000), "*1\r\n" + strings.Repeat("\x00", 70000),
	strings.Repeat("*0\r\n", 20000), strings.Repeat("\r\n", 40000), strings.Repeat("a ", 30000) +
		"\r\n",
}

func TestTornFramesInRandomPiecesHarmNoOtherClient(t *testing.T) {
	rnd := newRand(t)
	v := attack(t, nil)
	bystander := v.dial()
	v.want(bystander, "+PONG", "PING")
	before := measure()
	for range scaled(300) {
		frame := []byte(pick(rnd, torn))
		if rnd.IntN(3) == 0 {
			frame = append(wire.AppendCommand(nil, "SET", "k", strings.Repeat("v", rnd.IntN(5000))),
				frame...)
		}
		if rnd.IntN(3) == 0 {
			frame[rnd.IntN(len(frame))] ^= byte(1 << rnd.IntN(8))
		}
		nc := v.raw()
		inPieces(nc, rnd, frame)
		if rnd.IntN(2) == 0 {
			nc.SetLinger(0) // close by a reset
		}
		nc.Close()
	}
	v.want(bystander, "+PONG", "PING")
	v.alive()
	v.recovers(before)
}

// inPieces sends a frame in a few writes. The server may close the connection meanwhile.
func inPieces(nc net.Conn, rnd *rand.Rand, frame []byte) {
	for len(frame) > 0 {
		n := min(1+rnd.IntN(1+len(frame)/2), len(frame))
		if _, err := nc.Write(frame[:n]); err != nil {
			return
		}
		frame = frame[n:]
	}
}

// waitCut reads until the server has closed nc.
func waitCut(t *testing.T, nc net.Conn) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(slack(5 * time.Second)))
	if _, err := io.Copy(io.Discard, nc); err != nil && !wire.IsClosed(err) {
		t.Fatalf("the connection is still open: %v", err)
	}
}

func TestClientThatNeverReadsIsCutOffAtItsLimit(t *testing.T) {
	v := attack(t, map[string]string{"client-output-buffer-limit": "normal 8mb 0 0"})
	c := v.dial()
	v.want(c, "+OK", "SET", "k", strings.Repeat("x", 1<<20))
	before := measure()
	nc := v.raw()
	var frame []byte
	for range 500 {
		frame = wire.AppendCommand(frame, "GET", "k")
	}
	if _, err := nc.Write(frame); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Second, func() string {
		if n := strings.Count(string(v.do(c, "CLIENT", "LIST").Str), "\n"); n != 1 {
			return fmt.Sprintf("%d clients", n)
		}
		return ""
	})
	waitCut(t, nc)
	v.alive()
	c.Close()
	v.recovers(before)
}

func TestSubscriberThatNeverReadsIsCutOff(t *testing.T) {
	v := attack(t, map[string]string{"client-output-buffer-limit": "pubsub 8mb 0 0"})
	c := v.dial()
	before := measure()
	sub := v.dial()
	v.want(sub, `["subscribe" "c" :1]`, "SUBSCRIBE", "c")
	message := strings.Repeat("x", 1<<20)
	cut := false
	for range 100 {
		r := v.do(c, "PUBLISH", "c", message)
		if n, _ := r.Int(); n == 0 {
			cut = true
			break
		}
	}
	if !cut {
		t.Error("100 MB were queued for it")
	}
	sub.Close()
	c.Close()
	v.recovers(before)
}

func TestLongPipelineIsAnsweredInFull(t *testing.T) {
	v := attack(t, nil)
	before := measure()
	const n = 100000
	nc := v.raw()
	frame := []byte(strings.Repeat("*1\r\n$4\r\nPING\r\n", n))
	if _, err := nc.Write(frame); err != nil { // before any read
		t.Fatal(err)
	}
	v.alive()
	nc.SetReadDeadline(time.Now().Add(slack(5 * time.Second)))
	got := make([]byte, n*len("+PONG\r\n"))
	if _, err := io.ReadFull(nc, got); err != nil || string(got) != strings.Repeat("+PONG\r\n", n) {
		t.Fatalf("not %d PONGs: %v", n, err)
	}
	nc.Close()
	v.recovers(before)
}

func TestPipelineWhoseRepliesAreNeverReadEndsWithItsClient(t *testing.T) {
	v := attack(t, nil)
	c := v.dial()
	v.want(c, "+OK", "SET", "k", strings.Repeat("x", 1000))
	before := measure()
	nc := v.raw()
	frame := []byte(strings.Repeat("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", 100000))
	nc.SetWriteDeadline(time.Now().Add(slack(5 * time.Second)))
	if _, err := nc.Write(frame); err != nil {
		t.Fatal(err)
	}
	v.alive()
	nc.SetLinger(0)
	nc.Close()
	c.Close()
	v.recovers(before)
}

func TestMillionArgumentsAreOneCommand(t *testing.T) {
	v := attack(t, nil)
	before := measure()
	c := v.dial()
	n := 100000
	if long() {
		n = 1000000
	}
	args := make([]string, n)
	for i := range args {
		args[i] = fmt.Sprint(i)
	}
	v.want(c, fmt.Sprintf(":%d", n), append([]string{"RPUSH", "l"}, args...)...)
	v.want(c, fmt.Sprintf(":%d", n), append([]string{"SADD", "s"}, args...)...)
	v.want(c, ":1", append([]string{"DEL", "s"}, args...)...)
	for command, begin := range map[string]string{
		"EVAL": "-ERR user_script:1: too many results to unpack script: ",
		"nope": "-ERR unknown command 'nope', with args beginning with: 'return #{unpack(ARGV)}' '0' '0' '1' '2' '3' ",
	} {
		r := v.do(c, append([]string{command, "return #{unpack(ARGV)}", "0"}, args...)...).String()
		if !strings.HasPrefix(r, begin) {
			t.Errorf("%s: %.200s", command, r)
		}
	}
	c.Close()
	v.alive()
	v.recovers(before)
}

func TestManySubscriptionsEndWithTheirClient(t *testing.T) {
	v := attack(t, nil)
	before := measure()
	n := 10000
	if long() {
		n = 100000
	}
	for _, cmd := range []string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"} {
		c := v.dial()
		args := []string{cmd}
		for i := range n {
			args = append(args, fmt.Sprintf("channel:%d", i))
		}
		if err := c.Send(args...); err != nil {
			t.Fatal(err)
		}
		for range n {
			if r, err := c.Receive(); err != nil || r.IsError() {
				t.Fatal(r, err)
			}
		}
		c.Close()
	}
	v.alive()
	c := v.dial()
	eventually(t, 5*time.Second, func() string {
		left := v.do(c, "PUBSUB", "CHANNELS").String() + v.do(c, "PUBSUB", "NUMPAT").String() +
			v.do(c, "PUBSUB", "SHARDCHANNELS").String()
		if left != "[]:0[]" {
			return fmt.Sprintf("subscriptions are left: %.200s", left)
		}
		return ""
	})
	c.Close()
	v.recovers(before)
}

func TestLongTransactionRunsOrIsDiscarded(t *testing.T) {
	v := attack(t, nil)
	before := measure()
	const n = 100000
	c := v.dial()
	v.want(c, "+OK", "MULTI")
	frame := []byte(strings.Repeat("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", n))
	if err := c.WriteRaw(frame); err != nil {
		t.Fatal(err)
	}
	for range n {
		if r, err := c.Receive(); err != nil || r.String() != "+QUEUED" {
			t.Fatal(r, err)
		}
	}
	if r := v.do(c, "EXEC"); len(r.Elems) != n || r.Elems[n-1].String() != fmt.Sprintf(":%d", n) {
		t.Errorf("EXEC answered %.100s", r)
	}
	v.want(c, "+OK", "MULTI")
	if err := c.WriteRaw(frame); err != nil {
		t.Fatal(err)
	}
	c.Close()
	v.alive()
	v.recovers(before)
}

func TestManyWatchedAndAwaitedKeysEndWithTheirClient(t *testing.T) {
	v := attack(t, nil)
	before := measure()
	keys := make([]string, 20000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key:%d", i)
	}
	c := v.dial()
	v.want(c, "+OK", append([]string{"WATCH"}, keys...)...)
	if err := c.Send(append(append([]string{"BLPOP"}, keys...), "0")...); err != nil {
		t.Fatal(err)
	}
	v.alive()
	c.Close()
	v.recovers(before)
}
