package fuzz

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// unsafe are commands that would end the redis-server, write files, or answer differently
// on every server. Both servers get these commands removed.
var unsafe = strings.Fields(`
	shutdown debug config save bgsave bgrewriteaof replicaof slaveof failover sync psync replconf monitor acl module
	cluster client info time lastsave role latency slowlog memory object command randomkey spop srandmember hrandfield
	zrandmember scan hscan sscan zscan wait lolwut pfdebug pfselftest
	geodist georadius georadius_ro georadiusbymember georadiusbymember_ro geosearch geosearchstore xack xadd xautoclaim xclaim xdel xgroup xinfo xlen xpending xrange xread xreadgroup
	xrevrange xsetid xtrim function fcall fcall_ro dump restore restore-asking migrate swapdb asking readonly readwrite
	hello auth blpop brpop blmove brpoplpush blmpop bzpopmin bzpopmax bzmpop expire pexpire keys hgetall hkeys hvals
	smembers sinter sunion sdiff eval evalsha eval_ro evalsha_ro script select unsubscribe punsubscribe sunsubscribe
	ttl pttl expiretime pexpiretime psetex setex getex expireat pexpireat pubsub reset`)

// timed matches SET's options that make the reply depend on the time.
var timed = regexp.MustCompile(`(?i)\b(ex|px|exat|pxat)\b`)

// oracle is a connection to redis-server.
type oracle struct {
	f      testing.TB
	conn   *wire.Conn
	digits digits
}

// newOracle connects to a redis-server 7.0.15. Without redis-server the test skips. It also
// skips under the race detector, because a comparison calls the engine from one goroutine.
func newOracle(f testing.TB) *oracle {
	f.Helper()
	redistest.SkipUnderRaceDetector(f)
	conn, err := wire.Dial(redistest.StartSocket(f).Addr)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { conn.Close() })
	conn.SetTimeout(patience * time.Second)
	return &oracle{f: f, conn: conn}
}

func (o *oracle) do(t *testing.T, args ...string) wire.Value {
	t.Helper()
	v, err := o.conn.Do(args...)
	if err != nil {
		t.Fatalf("redis-server, %q: %v", args, err)
	}
	return v
}

// same runs a command on both servers and compares the replies. mask removes the
// differences on purpose.
func (o *oracle) same(t *testing.T, w *world, mask func(string) string, args ...string) {
	t.Helper()
	want, got := o.do(t, args...), w.execute(0, words(args...))
	if w.over || len(got) != 1 {
		return
	}
	if a, b := mask(want.String()), mask(got[0].String()); a != b {
		t.Fatalf("%q\nredis-server %.1000s\nlockredis    %.1000s", args, a, b)
	}
}

func words(list ...string) resp.Args {
	args := make(resp.Args, len(list))
	for i, word := range list {
		args[i] = []byte(word)
	}
	return args
}

func asItIs(s string) string { return s }

// session sends bytes on a new connection, closes its sending side and returns all bytes
// that come back.
func session(addr string, input []byte) ([]byte, error) {
	network := "unix"
	if !strings.HasPrefix(addr, "/") {
		network = "tcp"
	}
	nc, err := net.Dial(network, addr)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience * time.Second))
	if _, err := nc.Write(input); err != nil && !wire.IsClosed(err) {
		return nil, err
	}
	nc.(interface{ CloseWrite() error }).CloseWrite()
	got, err := io.ReadAll(bufio.NewReader(nc))
	if err != nil && !wire.IsClosed(err) {
		return got, fmt.Errorf("after %q: %w", got, err)
	}
	return got, nil
}

// frames runs the frames that a Reader finds in input, as a connection does.
func (w *world) frames(input []byte) []byte {
	c := w.clients[0]
	var r resp.Reader
	for c.session.State().Live() && !c.killed {
		n := copy(r.Space(), input)
		r.Advance(n)
		input = input[n:]
		for c.session.State().Live() && !c.killed {
			args, ok, err := r.Next(resp.Limits{MaxBulk: 512 << 20})
			if err != nil {
				c.Write(resp.Append(nil, resp.Error("ERR "+err.Error()), c.session.Proto))
				return c.out.Bytes()
			}
			if !ok {
				break
			}
			w.inside(func() { w.engine.Execute(c.session, args) })
		}
		if n == 0 {
			break
		}
	}
	return c.out.Bytes()
}

func FuzzByteStreamsAreAnsweredAsByRedis(f *testing.F) {
	redistest.SkipUnderRaceDetector(f)
	var renames []string
	for _, name := range unsafe {
		renames = append(renames, "--rename-command", name, "")
	}
	// INFO is removed too, so the version cannot be checked here.
	addr := redistest.Run(f, redistest.Command{Socket: true, Args: renames}).Addr
	for _, s := range []string{
		"*1\r\n$4\r\nPING\r\n", "*2\r\n$4\r\nECHO\r\n$3\r\na\r\n\r\nPING\r\n", "*0\r\n*-1\r\n\r\nPING\n",
		"*1\r\n$-1\r\n", "*1\r\n$5\r\nPING\r\n", "*2\r\n$4\r\nPING\r\n:1\r\n",
		"*1048577\r\n", "*2147483648\r\n", "*a\r\n", "*1\r\n$9223372036854775807\r\n",
		"PING \"a b\" 'c'\r\nECHO 'a\\'b'\r\n", "SET \"a\r\nPING\r\n", "GET \"a\"b\r\n",
		"SET k \"\\x41\\n\"\r\nGET k\r\nSTRLEN k\r\n",
		"MULTI\r\nSET a b\r\nNOPE\r\nEXEC\r\nWATCH a\nMULTI\nGET a\nEXEC\n",
		"*1\r\n$4\r\nQUIT\r\nPING\r\n", "RPUSH l a b\r\nLRANGE l 0 -1\r\nTYPE l\r\n",
		"SUBSCRIBE a b\r\nPING\r\nGET a\r\nPUBLISH a b\r\n", "nope a b\r\nNO\x00PE\r\n",
		"POST / HTTP\r\nPING\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\x00\xff\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "\r\n\r\n*\r\n",
		"*1\r\n$4\r\nPINGxxPING\r\n",
		"ZADD z 1.5 a NaN b\r\nZADD z 1.5 a\r\nZSCORE z a\r\nZINCRBY z 1e300 a\r\n",
		"INCRBYFLOAT f 0.1\r\nINCRBYFLOAT f 1e-5\r\nAPPEND f x\r\nSETRANGE f 3 yy\r\nGETRANGE f -3 -1\r\n",
		"SORT l\r\nLPOS l a RANK 1\r\nCOPY l m\r\nRENAME l k\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) > maxBytes || timed.Match(input) {
			return
		}
		defer watch(string(input))()
		w := newWorld(t)
		for _, name := range unsafe {
			w.engine.Env().Table.Rename(name, "")
		}
		got := w.frames(input)
		if len(w.log.text) > 0 {
			t.Fatal(w.log.text)
		}
		if _, err := session(addr, []byte("FLUSHALL\r\n")); err != nil {
			t.Fatal(err)
		}
		want, err := session(addr, input)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q\nredis-server %q\nlockredis    %q", input, want, got)
		}
	})
}
