package abuse

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// keywords are the options of all commands. Every command gets any of them.
var keywords = strings.Fields(`
	NX XX GT LT CH INCR EX PX EXAT PXAT KEEPTTL GET PERSIST COUNT MATCH TYPE LIMIT BY ASC DESC ALPHA STORE
	WITHSCORES WITHVALUES WITHSCORE REV BYSCORE BYLEX AGGREGATE SUM MIN MAX WEIGHTS LEFT RIGHT BEFORE AFTER RANK
	MAXLEN IDX LEN MINMATCHLEN WITHMATCHLEN REPLACE DB ASYNC SYNC FREQ IDLETIME ABSTTL AUTH SETNAME ID ADDR LADDR
	USER SKIPME yes no ON OFF TIMEOUT ERROR WRITE ALL NOSAVE NOW FORCE ABORT VERSION FILTERBY PATTERN ACLCAT MODULE
	string list hash set zset normal master replica pubsub everything default server clients memory stats keyspace
	commandstats errorstats * ? [a-z]* ** \ [ [^ [a- # #-> *->f k->* -> + - (1 [a (a ( inf -inf nan`)

// numbers are values near the limits of integer types and floats.
var numbers = strings.Fields(`
	0 1 -1 2 -2 3 7 10 16 100 -100 127 128 255 256 511 512 513 1000 32768 65535 65536 1000000 4194303 4194304 -4194304
	536870911 536870912 536870913 1073741824 2147483646 2147483647 2147483648 -2147483647 -2147483648 -2147483649
	4294967295 4294967296 -4294967296 4503599627370496 9007199254740992 9007199254740993 4611686018427387903
	4611686018427387904 -4611686018427387904 -4611686018427387905 9223372036854775806 9223372036854775807
	-9223372036854775806 -9223372036854775807 -9223372036854775808 9223372036854775808 18446744073709551615
	18446744073709551616 1e3 1e18 1e19 1e308 1e309 -1e308 4.9e-324 0.1 -0.0 -0 +1 00 0x10 1.5 3.0 inf +inf -inf infinity
	nan 0.001 1.7976931348623157e308 1e4932 -1e4932 3e-4951 99999999999999999999999999999999999999`)

// waits are short timeouts of blocking commands.
var waits = []string{"0.001", "0.002", "1e-3", "-1", "x", "", "nan", "1e400", "-inf",
	"9223372036854775808", "\x00"}

// spec is a command in the reply to COMMAND.
type spec struct {
	words    []string // its name, and the subcommand's name
	arity    int
	blocking bool
}

// unfit are commands that would end the attack: they stop the server, pause it, take the
// default user's rights, silence the connection, or make the server a replica.
var unfit = map[string]bool{
	"shutdown": true, "client|pause": true, "client|reply": true, "debug|sleep": true, "debug": true,
	"sync": true, "psync": true, "replicaof": true, "slaveof": true, "failover": true,
	"config|set": true, "acl|setuser": true,
}

// specs reads the server's commands.
func (v *victim) specs(c *wire.Conn) []spec {
	v.t.Helper()
	var list []spec
	var read func(rows []wire.Value)
	read = func(rows []wire.Value) {
		for _, row := range rows {
			name := string(row.Elems[0].Str)
			arity, _ := row.Elems[1].Int()
			s := spec{words: strings.Split(name, "|"), arity: int(arity),
				blocking: name == "wait" || name == "waitaof"}
			for _, flag := range row.Elems[2].Elems {
				s.blocking = s.blocking || string(flag.Str) == "blocking"
			}
			if !unfit[name] {
				list = append(list, s)
			}
			read(row.Elems[9].Elems)
		}
	}
	read(v.do(c, "COMMAND").Elems)
	if len(list) < 150 {
		v.t.Fatalf("COMMAND lists only %d commands", len(list))
	}
	return list
}

// generator makes bad arguments.
type generator struct {
	rnd *rand.Rand
	mb  string
}

func newGenerator(rnd *rand.Rand) *generator {
	g := &generator{rnd: rnd}
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	g.mb = string(b)
	return g
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }

// key returns one of few keys, so that types collide.
func (g *generator) key() string { return "k" + strconv.Itoa(g.rnd.IntN(12)) }

func (g *generator) argument() string {
	switch n := g.rnd.IntN(400); {
	case n == 0:
		return g.mb
	case n < 120:
		return g.key()
	case n < 220:
		return pick(g.rnd, numbers)
	case n < 330:
		word := pick(g.rnd, keywords)
		if g.rnd.IntN(3) == 0 {
			return strings.ToLower(word)
		}
		return word
	case n < 350:
		return pick(g.rnd, []string{"", "a", "b", "f", "1", "\x00", "\r\n", "a\x00b"})
	default:
		b := make([]byte, g.rnd.IntN(24))
		for i := range b {
			b[i] = byte(g.rnd.Uint32())
		}
		return string(b)
	}
}

// command makes a call of s. Mostly the number of arguments is right and the first is a
// key; otherwise anything.
func (g *generator) command(s spec) []string {
	args := append([]string{}, s.words...)
	n := g.rnd.IntN(7)
	if g.rnd.IntN(3) > 0 {
		n = max(s.arity, -s.arity) - len(args)
		if s.arity < 0 {
			n += g.rnd.IntN(6)
		}
	}
	for i := range max(n, 0) {
		if i == 0 && g.rnd.IntN(2) == 0 {
			args = append(args, g.key())
			continue
		}
		args = append(args, g.argument())
	}
	if s.blocking && len(args) > 1 {
		at := len(args) - 1
		if strings.HasSuffix(s.words[0], "mpop") {
			at = 1
		}
		args[at] = pick(g.rnd, waits)
	}
	return args
}

// fill stores values of all types, so that commands find some.
func (g *generator) fill() [][]string {
	return [][]string{
		{"SET", "k0", "12"}, {"SET", "k1", "a string"},
		{"DEL", "k2"}, {"RPUSH", "k2", "a", "b", "c", "1", "2"},
		{"DEL", "k3"}, {"HSET", "k3", "a", "1", "b", "2", "f", "x"},
		{"DEL", "k4"}, {"SADD", "k4", "1", "2", "3"},
		{"DEL", "k5"}, {"SADD", "k5", "a", "b", "c"},
		{"DEL", "k6"}, {"ZADD", "k6", "1", "a", "2", "b", "inf", "c"},
		{"SETEX", "k7", "1000", "v"},
	}
}

// assault is the part of the attack on one connection.
type assault struct {
	v     *victim
	g     *generator
	conn  net.Conn
	proto string
	n     int
}

func (a *assault) connect() {
	a.v.t.Helper()
	var err error
	if a.conn, err = net.Dial("tcp", a.v.addr); err != nil {
		a.v.t.Fatal(err)
	}
}

// batch sends commands in one write, then a PING with a mark that no command makes. The
// replies before the mark must hold no internal error.
func (a *assault) batch(cmds [][]string) {
	a.v.t.Helper()
	a.n++
	mark := fmt.Sprintf("<<the mark of batch %d>>", a.n)
	frame := wire.AppendCommand(nil, "HELLO", a.proto)
	for _, args := range append(a.g.fill(), cmds...) {
		frame = wire.AppendCommand(frame, args...)
	}
	frame = wire.AppendCommand(frame, "DISCARD")
	frame = wire.AppendCommand(frame, "PING", mark)
	if _, err := a.conn.Write(frame); err != nil && !wire.IsClosed(err) {
		a.v.t.Fatal(err)
	}
	got, closed := a.await(mark, cmds)
	if bytes.Contains(got, []byte("internal error")) {
		a.v.t.Errorf("internal error among the replies to:\n%slog: %s", script(cmds), a.v.log.take())
	}
	if log := a.v.log.take(); len(log) > 0 {
		a.v.t.Errorf("logged: %s\nafter:\n%s", log, script(cmds))
	}
	if closed {
		a.conn.Close()
		a.connect()
	}
}

// await reads up to the mark, or until a QUIT or CLIENT KILL ends the connection.
func (a *assault) await(mark string, cmds [][]string) (got []byte, closed bool) {
	a.v.t.Helper()
	a.conn.SetReadDeadline(time.Now().Add(slack(5 * time.Second)))
	buf := make([]byte, 1<<16)
	for {
		n, err := a.conn.Read(buf)
		got = append(got, buf[:n]...)
		switch {
		case bytes.Contains(got[max(0, len(got)-n-len(mark)):], []byte(mark)):
			return got, false
		case wire.IsClosed(err):
			return got, true
		case err != nil:
			a.v.t.Fatalf("%v; so far %s after:\n%s", err, wire.Quote(got[max(0, len(got)-2000):]),
				script(cmds))
		}
	}
}

func script(cmds [][]string) string {
	var b strings.Builder
	for _, c := range cmds {
		b.WriteString(shown(c) + "\n")
	}
	return b.String()
}

// wrappings are the ways to send a command.
var wrappings = map[string]func(rnd *rand.Rand, cmds [][]string) [][]string{
	"as it is": func(_ *rand.Rand, cmds [][]string) [][]string { return cmds },
	"in MULTI": func(rnd *rand.Rand, cmds [][]string) (all [][]string) {
		for len(cmds) > 0 {
			n := min(1+rnd.IntN(8), len(cmds))
			all = append(append(append(all, []string{"MULTI"}), cmds[:n]...), []string{"EXEC"})
			cmds = cmds[n:]
		}
		return all
	},
	"through EVAL": func(rnd *rand.Rand, cmds [][]string) (all [][]string) {
		const body = "redis.setresp(%d) return redis.%s(unpack(ARGV))"
		for _, args := range cmds {
			eval := fmt.Sprintf(body, 2+rnd.IntN(2), []string{"call", "pcall"}[rnd.IntN(2)])
			all = append(all, append([]string{"EVAL", eval, "0"}, args...))
		}
		return all
	},
}

func TestRandomArgumentsNeverReachAPanic(t *testing.T) {
	for _, proto := range []string{"2", "3"} {
		for name, wrap := range wrappings {
			t.Run("RESP"+proto+" "+name, func(t *testing.T) {
				rnd := newRand(t)
				v := attack(t, map[string]string{"proto-max-bulk-len": "4mb"})
				specs := v.specs(v.dial())
				before := measure()
				a := assault{v: v, g: newGenerator(rnd), proto: proto}
				a.connect()
				rounds := scaled(60)
				if redistest.Quick() {
					rounds = 15
				}
				for range rounds {
					var cmds [][]string
					for range 40 {
						cmds = append(cmds, a.g.command(pick(rnd, specs)))
					}
					a.batch(wrap(rnd, cmds))
					if t.Failed() {
						break
					}
				}
				a.conn.Close()
				v.alive()
				v.recovers(before)
			})
		}
	}
}
