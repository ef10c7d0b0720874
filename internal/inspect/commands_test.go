package inspect_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// connect returns a connection that is a pipe. The first one of a server is pipe:1.
func (s *server) connect() *wire.Conn {
	s.t.Helper()
	nc, err := s.srv.Dial(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	c := wire.NewConn(nc)
	c.SetTimeout(20 * time.Second)
	s.t.Cleanup(func() { c.Close() })
	return c
}

// ask returns the reply to a command line, as shown writes it.
func ask(t testing.TB, c *wire.Conn, line string) string {
	t.Helper()
	words, err := wire.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Do(words...)
	if err != nil {
		t.Fatal(line, err)
	}
	return shown(v)
}

// shown writes a reply in JSON's way, and an error behind a "-".
func shown(v wire.Value) string {
	if v.IsNil {
		return "nil"
	}
	switch v.Kind {
	case wire.Map, wire.Array, wire.Set:
	case wire.Integer:
		return string(v.Str)
	case wire.SimpleError:
		return "-" + string(v.Str)
	default:
		return strconv.Quote(string(v.Str))
	}
	var b strings.Builder
	for i, elem := range v.Elems {
		switch {
		case i > 0 && v.Kind == wire.Map && i%2 == 1:
			b.WriteString(": ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(shown(elem))
	}
	if v.Kind == wire.Map {
		return "{" + b.String() + "}"
	}
	return "[" + b.String() + "]"
}

// take acquires a lock on a connection.
func take(t *testing.T, c *wire.Conn, name, owner, lease, mode string, more ...string) {
	t.Helper()
	args := append([]string{"EVAL", acquire, string(rune('1' + len(more))), name}, more...)
	v, err := c.Do(append(args, owner, lease, mode)...)
	if err != nil || v.IsError() {
		t.Fatal(v, err)
	}
}

func TestLockListShowsHoldersAndQueues(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "CLIENT SETNAME orders")
	take(t, c, "a", alice, "30000", "")
	s.clock.Set(epoch.Add(time.Second))
	d := s.connect()
	take(t, d, "a", alice, "30000", "")
	take(t, d, "b", bob+":write", "30000", "write")
	ask(t, d, "SELECT 3")
	ask(t, d, `EVAL "redis.call('rpush', KEYS[1], ARGV[1])" 1 redisson_lock_queue:{f} `+bob)
	s.clock.Set(epoch.Add(1500 * time.Millisecond))

	const (
		name   = `{"name": "a", "db": 0, "kind": "lock", "ttl": 29500, "holders": `
		holder = `{"owner": "` + alice + `", "mode": "", "holds": 2, "ttl": 29500, "held-ms": 1500, `
		client = `"client-id": 4, "client-name": "", "client-addr": "pipe:2"}`
		second = `{"name": "b", "db": 0, "kind": "read-write", "ttl": 29500, "holders": [{"owner": "` +
			bob + `", "mode": "write", "holds": 1, "ttl": 29500, "held-ms": 500, ` + client +
			`], "queue": []}`
		third = `{"name": "f", "db": 3, "kind": "fair", "ttl": -1, "holders": [], "queue": [{"owner": "` +
			bob + `", "waits-ms": 500, ` + client + `]}`
		first = name + `[` + holder + client + `], "queue": []}`
	)
	ask(t, c, "HELLO 3")
	for line, want := range map[string]string{
		"LOCK.LIST":       "[" + first + ", " + second + ", " + third + "]",
		"lock.list *":     "[" + first + ", " + second + ", " + third + "]",
		"LOCK.LIST [bc]":  "[" + second + "]",
		"LOCK.LIST none*": "[]",
		"LOCK.LIST ''":    "[]",
	} {
		if got := ask(t, c, line); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", line, got, want)
		}
	}
	ask(t, c, "HELLO 2")
	flat := strings.NewReplacer("{", "[", "}", "]", ": ", ", ").Replace("[" + second + "]")
	if got := ask(t, c, "LOCK.LIST b"); got != flat {
		t.Errorf("in RESP2\n%s\nwant\n%s", got, flat)
	}
}

func TestLockLeaksTellsWhatIsLeft(t *testing.T) {
	s := start(t)
	c := s.connect()
	ask(t, c, "CLIENT SETNAME orders")
	take(t, c, "a", alice, "30000", "")
	waiter := s.connect()
	if err := waiter.Send("BLPOP", "q", "0"); err != nil {
		t.Fatal(err)
	}
	s.waitForClients(1)
	listener := s.connect()
	ask(t, listener, "SUBSCRIBE news")
	s.clock.Set(epoch.Add(2 * time.Second))
	ask(t, c, "HELLO 3")
	const want = `[` +
		`{"type": "lock", "name": "a", "db": 0, "owner": "` + alice + `", "waits-for": "", ` +
		`"kind": "lock", "mode": "", "holds": 1, "held-ms": 2000, "ttl": 28000, "client-id": 3, "client-name": "orders", ` +
		`"client-addr": "pipe:1", "text": "lock \"a\" is held by ` + alice +
		`, hold count 1, for another 28s, acquired 2s ago; its client was pipe:1 (orders)"}, ` +
		`{"type": "waiter", "name": "q", "db": 0, "owner": "", "waits-for": "", ` +
		`"kind": "", "mode": "", "holds": -1, "held-ms": 2000, "ttl": -1, "client-id": 4, "client-name": "", "client-addr": "pipe:2", ` +
		`"text": "client pipe:2 waits in BLPOP for \"q\""}, ` +
		`{"type": "subscription", "name": "news", "db": 0, "owner": "", "waits-for": "", ` +
		`"kind": "", "mode": "", "holds": -1, "held-ms": 2000, "ttl": -1, "client-id": 5, "client-name": "", "client-addr": "pipe:3", ` +
		`"text": "client pipe:3 is subscribed to channel \"news\""}]`
	if got := ask(t, c, "LOCK.LEAKS"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// waitForClients waits until n clients wait or listen.
func (s *server) waitForClients(n int) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		if len(s.Inspector.Look().Clients) == n {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("there are not %d clients that wait or listen", n)
		}
	}
}

// rows returns the names, kinds, owners and waiters of LOCK.LIST, a line for each lock.
func (s *server) rows(c *wire.Conn) (rows []string) {
	s.t.Helper()
	v, err := c.Do("LOCK.LIST")
	if err != nil || v.IsError() {
		s.t.Fatal(v, err)
	}
	field := func(row wire.Value, name string) wire.Value {
		for i := 0; i < len(row.Elems); i += 2 {
			if string(row.Elems[i].Str) == name {
				return row.Elems[i+1]
			}
		}
		s.t.Fatalf("no field %s in %s", name, row)
		return wire.Value{}
	}
	for _, row := range v.Elems {
		line := fmt.Sprintf("%s %s in %s:", field(row, "kind").Str, field(row, "name").Str,
			field(row, "db").Str)
		for _, h := range field(row, "holders").Elems {
			line += " held by " + string(field(h, "owner").Str)
		}
		for _, w := range field(row, "queue").Elems {
			line += fmt.Sprintf(" waits %s %s for %s", field(w, "owner").Str,
				field(w, "client-addr").Str, field(w, "waits-ms").Str)
		}
		rows = append(rows, strings.ReplaceAll(line, "  ", " "))
	}
	return rows
}

func TestLockListShowsTheClientsThatWait(t *testing.T) {
	s := start(t)
	c, db1 := s.connect(), s.connect() // pipe:1, pipe:2
	ask(t, db1, "SELECT 1")
	take(t, c, "plain", alice, "0", "")
	take(t, c, "fenced", alice, "0", "", "redisson_lock_token:{fenced}")
	take(t, c, "rw", alice+":write", "0", "write")
	take(t, c, "fair", alice, "0", "", "redisson_lock_queue:{fair}")
	ask(t, c, "RPUSH redisson_lock_queue:{fair} "+bob)
	take(t, c, "two", alice, "0", "")
	take(t, db1, "two", bob, "0", "")
	take(t, db1, "far", bob, "0", "")
	take(t, db1, "{tag}:1", bob, "0", "")
	const permit = `EVAL "redis.call('zadd', KEYS[2], ARGV[1], ARGV[2])" 3 sem {sem}:timeout ` +
		`redisson_sc:{sem} 922337203685477 abc`
	ask(t, c, permit)
	for _, line := range []string{
		"SELECT 0", // pipe:3
		"SUBSCRIBE redisson_lock__channel:{plain} redisson_lock__channel:{two} news",
		"SSUBSCRIBE redisson_lock__channel:{fenced}",
		"SUBSCRIBE redisson_rwlock:{rw} redisson_lock__channel:{fair}:" + bob,
		"SUBSCRIBE redisson_lock__channel:{far} redisson_sc:{sem} redisson_lock__channel:{tag}:1",
		"SELECT 1", // pipe:4
		"SUBSCRIBE redisson_lock__channel:{two} redisson_sc:{sem} redisson_sc:{free}",
		"SUBSCRIBE redisson_lock__channel:{tag}:2 redisson_lock__channel:{tag}:fair:" + bob,
		"SUBSCRIBE redisson_countdownlatch__channel__{latch} redisson_rwlock:a{b}c",
	} {
		if strings.HasPrefix(line, "SELECT") {
			c = s.connect()
			ask(t, c, "HELLO 3")
		}
		ask(t, c, line)
		for range strings.Count(line, " ") - 1 { // a confirmation for each channel
			if _, err := c.Receive(); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.clock.Set(epoch.Add(time.Second))
	want := []string{
		"fair fair in 0: held by " + alice + " waits " + bob + " pipe:3 for 1000",
		"fenced fenced in 0: held by " + alice + " waits pipe:3 for 1000",
		"lock plain in 0: held by " + alice + " waits pipe:3 for 1000",
		"read-write rw in 0: held by " + alice + " waits pipe:3 for 1000",
		"permit-semaphore sem in 0: held by abc waits pipe:3 for 1000 waits pipe:4 for 1000",
		"lock two in 0: held by " + alice + " waits pipe:3 for 1000",
		"read-write a{b}c in 1: waits pipe:4 for 1000",
		"lock far in 1: held by " + bob + " waits pipe:3 for 1000",
		"semaphore free in 1: waits pipe:4 for 1000",
		"count-down-latch latch in 1: waits pipe:4 for 1000",
		"lock two in 1: held by " + bob + " waits pipe:4 for 1000",
		"lock {tag}:1 in 1: held by " + bob + " waits pipe:3 for 1000",
		"lock {tag}:2 in 1: waits pipe:4 for 1000",
		"fair {tag}:fair in 1: waits " + bob + " pipe:4 for 1000",
	}
	got := s.rows(s.connect())
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestTheLockCommandsAreUnknownUnlessTheyAreSwitchedOn(t *testing.T) {
	off, on := startWith(t, nil).connect(), start(t).connect()
	for line, want := range map[string]string{
		"LOCK.LIST a":                 "-ERR unknown command 'LOCK.LIST', with args beginning with: 'a' ",
		"LOCK.LEAKS":                  "-ERR unknown command 'LOCK.LEAKS', with args beginning with: ",
		"COMMAND INFO lock.list":      "[nil]",
		"COMMAND DOCS lock.list":      "[]",
		"COMMAND GETKEYS lock.list a": "-ERR Invalid command specified",
	} {
		if got := ask(t, off, line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for _, name := range []string{"LOCK.AWAIT x FREE", "LOCK.END x", "LOCK HELP", "CLOCK.NOW", "CLOCK.ADVANCE 1",
		"CLOCK.SET 1", "CLOCK.RESET", "CLOCK HELP"} {
		if got := ask(t, off, name); !strings.HasPrefix(got, "-ERR unknown command '"+strings.Fields(name)[0]+"'") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if a, b := ask(t, off, "COMMAND COUNT"), ask(t, on, "COMMAND COUNT"); len(a) != len(b) || a >= b {
		t.Errorf("%s commands without them, %s with them", a, b)
	}
	for line, want := range map[string]string{
		"LOCK.LIST a b":    "-ERR wrong number of arguments for 'lock.list' command",
		"LOCK.LEAKS a":     "-ERR syntax error",
		"LOCK.LEAKS all a": "-ERR wrong number of arguments for 'lock.leaks' command",
		"EVAL \"return redis.call('lock.list')\" 0": "-ERR This Redis command is not allowed from " +
			"script script: 7290b97dfeaaea1683aa96eb6832760805bc8d48, on @user_script:1.",
		"COMMAND GETKEYS lock.list a":       "-ERR The command has no key arguments",
		"COMMAND GETKEYS lock.end a b":      `["a"]`,
		"COMMAND GETKEYS lock.await a FREE": `["a"]`,
		"ACL DRYRUN default lock.end a":     `"OK"`,
		"COMMAND INFO lock.await": `[["lock.await", -3, ["admin", "noscript", "blocking"], ` +
			`1, 1, 1, ["@admin", "@slow", "@blocking", "@dangerous"], [], ` +
			`[["flags", ["RO", "access"], "begin_search", ["type", "index", "spec", ["index", 1]], ` +
			`"find_keys", ["type", "range", "spec", ["lastkey", 0, "keystep", 1, "limit", 0]]]], []]]`,
		"COMMAND INFO clock.set": `[["clock.set", -2, ["admin", "noscript", "no_multi"], ` +
			`0, 0, 0, ["@admin", "@slow", "@dangerous"], [], [], []]]`,
		"COMMAND INFO lock.list": `[["lock.list", -1, ["admin", "noscript", "loading", "stale"], ` +
			`0, 0, 0, ["@admin", "@slow", "@dangerous"], ["nondeterministic_output"], [], []]]`,
	} {
		if got := ask(t, on, line); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// expect runs a command; the function that it returns compares the reply.
func expect(t *testing.T, c *wire.Conn, args ...string) func(want string) {
	t.Helper()
	v, err := c.Do(args...)
	return func(want string) {
		t.Helper()
		if got := shown(v); err != nil || got != want {
			t.Errorf("%.60q: %s, %v; want %s", args, got, err, want)
		}
	}
}
