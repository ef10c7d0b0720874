package abuse

import (
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

func TestThousandSlowWritersDelayNoOtherClient(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	c := v.dial()
	v.want(c, "+PONG", "PING")
	before := measure()
	frame := wire.AppendCommand(nil, "DEL", "k")
	slow := make([]*net.TCPConn, 1000)
	for i := range slow {
		slow[i] = v.raw()
		if i%burst == 0 {
			v.alive()
		}
	}
	delays := make([]time.Duration, 0, len(frame))
	for _, b := range frame {
		for _, nc := range slow {
			if _, err := nc.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		v.want(c, "+PONG", "PING")
		delays = append(delays, time.Since(begin))
	}
	for _, nc := range slow {
		if got := readSome(nc, 4); got != ":0\r\n" {
			t.Fatalf("%q", got)
		}
		nc.Close()
	}
	judgeDelays(t, delays)
	v.recovers(before)
}

// judgeDelays checks how long other clients waited during an attack. One delay may be
// long, because other processes run too.
func judgeDelays(t *testing.T, delays []time.Duration) {
	t.Helper()
	slices.Sort(delays)
	median, worst := delays[len(delays)/2], delays[len(delays)-1]
	t.Logf("others' replies: median %v, worst %v", median, worst)
	if median > slack(10*time.Millisecond) || worst > slack(2*time.Second) {
		t.Errorf("others' replies took %v, the median, and at worst %v", median, worst)
	}
}

// readSome reads n bytes, or fewer when the connection ends first.
func readSome(nc net.Conn, n int) string {
	nc.SetReadDeadline(time.Now().Add(slack(5 * time.Second)))
	got := make([]byte, n)
	n, _ = io.ReadFull(nc, got)
	return string(got[:n])
}

func TestHalfOpenSocketIsAnsweredAndThenClosed(t *testing.T) {
	v := attack(t, nil)
	c := v.dial()
	v.want(c, "+OK", "SET", "k", strings.Repeat("x", 100000))
	before := measure()
	for _, row := range []struct{ name, frame, want string }{
		{"silent", "", ""},
		{"after a pipeline", strings.Repeat("PING\r\n", 1000), strings.Repeat("+PONG\r\n", 1000)},
		{"within a command", "PING\r\n*2\r\n$4\r\nECHO\r\n$5\r\nab", "+PONG\r\n"},
		{"waiting for a key", "BLPOP l 0\r\nPING\r\n", ""},
		{"subscribed", "SUBSCRIBE c\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"},
		{"in MULTI", "MULTI\r\nRPUSH l x\r\n", "+OK\r\n+QUEUED\r\n"},
		{"after a large reply", "GET k\r\n", "$100000\r\n" + strings.Repeat("x", 100000) + "\r\n"},
	} {
		nc := v.raw()
		if _, err := io.WriteString(nc, row.frame); err != nil {
			t.Fatal(err)
		}
		nc.CloseWrite()
		nc.SetReadDeadline(time.Now().Add(slack(5 * time.Second)))
		if got, err := io.ReadAll(nc); err != nil || string(got) != row.want {
			t.Errorf("%s: %.100q %v", row.name, got, err)
		}
		nc.Close()
	}
	v.clientsFall(c, 1)
	v.want(c, ":1", "RPUSH", "l", "x") // no client waits
	v.want(c, ":1", "LLEN", "l")
	c.Close()
	v.recovers(before)
}

// frames are commands of all kinds, to be cut at any byte.
func frames() [][]byte {
	return [][]byte{
		wire.AppendCommand(nil, "SET", "k", "value"),
		wire.AppendCommand(wire.AppendCommand(nil, "MULTI"), "INCR", "n"),
		wire.AppendCommand(nil, "EVAL", "return redis.call('INCR', KEYS[1])", "1", "n"),
		wire.AppendCommand(wire.AppendCommand(nil, "SUBSCRIBE", "a", "b"), "UNSUBSCRIBE", "a"),
		wire.AppendCommand(wire.AppendCommand(nil, "WATCH", "k"), "BLPOP", "l", "0"),
		[]byte("SET k \"a value in quotes\"\r\nPING\r\n"),
	}
}

func TestSocketsKilledAtEveryByteOfACommandLeaveNothing(t *testing.T) {
	v := attack(t, nil)
	c := v.dial()
	before := measure()
	killed := 0
	for _, frame := range frames() {
		for cut := range len(frame) + 1 {
			for _, reset := range []bool{true, false} {
				nc := v.raw()
				nc.Write(frame[:cut])
				end(nc, reset)
				if killed++; killed%burst == 0 {
					v.alive()
				}
			}
		}
	}
	t.Logf("%d sockets were killed", killed)
	v.alive()
	v.clientsFall(c, 1)
	v.want(c, ":0", "PUBLISH", "a", "x")
	v.want(c, ":1", "RPUSH", "l", "x")
	v.want(c, ":1", "LLEN", "l")
	c.Close()
	v.recovers(before)
}

// end closes a socket, by a reset if reset is true.
func end(nc *net.TCPConn, reset bool) {
	if reset {
		nc.SetLinger(0)
	}
	nc.Close()
}

func TestCutPipelineRunsUpToTheCut(t *testing.T) {
	rnd := newRand(t)
	v := attack(t, nil)
	c := v.dial()
	before := measure()
	sent := map[string]int64{}
	for i := range scaled(40) {
		key := "l" + strconv.Itoa(i)
		one := string(wire.AppendCommand(nil, "RPUSH", key, "x"))
		sent[key] = 1 + rnd.Int64N(3000)
		pipeline := strings.Repeat(one, int(sent[key])) + one[:rnd.IntN(len(one))]
		nc := v.raw()
		nc.Write([]byte(pipeline))
		end(nc, rnd.IntN(2) == 0)
		if i%burst == 0 {
			v.alive()
		}
	}
	v.alive()
	v.clientsFall(c, 1)
	for key, n := range sent {
		if got, _ := v.do(c, "LLEN", key).Int(); got > n {
			t.Errorf("%d of %d commands were run", got, n)
		}
	}
	c.Close()
	v.recovers(before)
}

func TestThousandsOfConnectsAndAbortsLeaveNothing(t *testing.T) {
	connects := 10_000
	if !redistest.Whole() {
		connects = 2000
	}
	rnd := newRand(t)
	v := attack(t, nil)
	c := v.dial()
	before := measure()
	for i := range connects {
		nc, err := net.Dial("tcp", v.addr)
		if err != nil {
			t.Fatal(err)
		}
		if i%4 == 0 {
			frame := pick(rnd, frames())
			nc.Write(frame[:rnd.IntN(len(frame)+1)])
		}
		// Some end by a reset: closed sockets stay in the kernel for a time, which has a limited
		// number of ports.
		end(nc.(*net.TCPConn), i%8 != 0)
		if i%burst == 0 {
			v.alive()
		}
	}
	v.alive()
	v.clientsFall(c, 1)
	c.Close()
	v.recovers(before)
}

// states are the states in which a client dies: the commands that lead there, and what
// CLIENT LIST then shows.
var states = []struct {
	name   string
	enter  [][]string
	listed string
}{
	{"blocked on a list", [][]string{{"BLPOP", "l", "0"}}, "flags=b "},
	{"blocked by BLMOVE", [][]string{{"BLMOVE", "l", "l2", "LEFT", "LEFT", "0"}}, "flags=b "},
	{"blocked on a sorted set", [][]string{{"BZPOPMIN", "z", "0"}}, "flags=b "},
	{"blocked with a pipeline behind", [][]string{{"BLPOP", "l", "0"}, {"RPUSH", "l", "late"}, {"PING"}}, "flags=b "},
	{"blocked with a time limit", [][]string{{"BLPOP", "l", "1000"}}, "flags=b "},
	{"subscribed", [][]string{{"SUBSCRIBE", "c", "d"}}, "flags=P "},
	{"subscribed to patterns", [][]string{{"PSUBSCRIBE", "c*", "*"}}, "flags=P "},
	{"subscribed to shards", [][]string{{"SSUBSCRIBE", "c"}}, "ssub=1 "},
	{"subscribed in RESP3", [][]string{{"HELLO", "3"}, {"SUBSCRIBE", "c"}}, "flags=P "},
	{"in MULTI", [][]string{{"MULTI"}, {"RPUSH", "l", "x"}}, "flags=x "},
	{"watching", [][]string{{"WATCH", "l", "k"}, {"CLIENT", "SETNAME", "watcher"}}, "name=watcher "},
	{"silent", [][]string{{"CLIENT", "REPLY", "OFF"}, {"CLIENT", "SETNAME", "mute"}}, "name=mute "},
	{"a client of a database", [][]string{{"SELECT", "9"}}, "db=9 "},
}

// deaths are the ways in which a client ends.
var deaths = []struct {
	name string
	die  func(v *victim, c *wire.Conn, nc *net.TCPConn)
}{
	{"a reset", func(_ *victim, _ *wire.Conn, nc *net.TCPConn) { end(nc, true) }},
	{"a close", func(_ *victim, _ *wire.Conn, nc *net.TCPConn) { end(nc, false) }},
	{"CLIENT KILL", func(v *victim, c *wire.Conn, nc *net.TCPConn) {
		v.want(c, ":1", "CLIENT", "KILL", "ADDR", nc.LocalAddr().String())
	}},
}

func TestClientThatDiesInAnyStateLeavesNothing(t *testing.T) {
	v := attack(t, nil)
	c := v.dial()
	before := measure()
	for _, state := range states {
		for _, death := range deaths {
			t.Run(state.name+", by "+death.name, func(t *testing.T) {
				nc := v.raw()
				if err := wire.NewConn(nc).SendAll(state.enter...); err != nil {
					t.Fatal(err)
				}
				eventually(t, 3*time.Second, func() string { return missing(v, c, state.listed) })
				death.die(v, c, nc)
				v.clientsFall(c, 1)
				v.want(c, ":0", "PUBLISH", "c", "x")
				v.want(c, ":0", "SPUBLISH", "c", "x")
				v.want(c, ":0", "PUBSUB", "NUMPAT")
				for _, key := range []string{"l", "z"} {
					v.want(c, ":0", "EXISTS", key)
				}
				v.want(c, ":1", "RPUSH", "l", "mine")
				v.want(c, ":1", "ZADD", "z", "1", "mine")
				v.want(c, `["mine"]`, "LRANGE", "l", "0", "-1")
				v.want(c, ":1", "ZCARD", "z")
				v.want(c, "+OK", "FLUSHALL")
				nc.Close()
			})
		}
	}
	c.Close()
	v.recovers(before)
}

func TestClientThatDiesInAPauseLeavesNothing(t *testing.T) {
	for _, death := range deaths {
		t.Run(death.name, func(t *testing.T) {
			v := attack(t, nil)
			c := v.dial()
			before := measure()
			v.want(c, "+OK", "CLIENT", "PAUSE", "60000", "WRITE")
			nc := v.raw()
			if err := wire.NewConn(nc).SendAll([]string{"RPUSH", "l", "x"},
				[]string{"RPUSH", "l", "y"}); err != nil {
				t.Fatal(err)
			}
			eventually(t, 3*time.Second, func() string { return missing(v, c, "flags=b ") })
			death.die(v, c, nc)
			v.clientsFall(c, 1)
			v.want(c, "+OK", "CLIENT", "UNPAUSE")
			v.want(c, ":0", "EXISTS", "l")
			c.Close()
			v.recovers(before)
		})
	}
}

func TestScriptOfADeadClientRunsToItsEndOrIsKilled(t *testing.T) {
	const writes = `redis.call('SET', 'k', 'begun') for i = 1, ARGV[1] do redis.call('GET', 'k') end redis.call('SET', 'k', 'done')`
	for _, death := range deaths[:2] { // a busy server answers CLIENT KILL with -BUSY
		t.Run(death.name, func(t *testing.T) {
			v := attack(t, map[string]string{"busy-reply-threshold": "10"})
			c := v.dial()
			c.SetTimeout(slack(20 * time.Second))
			before := measure()
			nc := v.raw()
			send(t, wire.NewConn(nc), "EVAL", "while true do end", "0")
			v.waitBusy(c)
			death.die(v, c, nc)
			if r := v.do(c, "PING"); !strings.HasPrefix(r.String(), "-BUSY") {
				t.Errorf("the script ended with its client: %s", r)
			}
			v.want(c, "+OK", "SCRIPT", "KILL")
			v.clientsFall(c, 1)

			for n := 300_000; ; n *= 4 { // more when the script ends before c asks
				v.want(c, "+OK", "SET", "k", "no script")
				nc = v.raw()
				send(t, wire.NewConn(nc), "EVAL", writes, "0", strconv.Itoa(n))
				busy := false
				eventually(t, 3*time.Second, func() string {
					r := v.do(c, "GET", "k").String()
					if busy = strings.HasPrefix(r, "-BUSY"); !busy && r != `"done"` {
						return "the script does not run"
					}
					return ""
				})
				if busy {
					break
				}
			}
			death.die(v, c, nc)
			eventually(t, 15*time.Second, func() string {
				if r := v.do(c, "GET", "k").String(); r != `"done"` {
					return "k is " + r
				}
				return ""
			})
			v.clientsFall(c, 1)
			c.Close()
			v.recovers(before)
		})
	}
}
