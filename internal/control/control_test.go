package control_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/control"
	"github.com/lockredis/lockredis/internal/redistest"
)

// start starts a server with a door to it.
func start(t *testing.T, directives map[string]string) (*lockredis.Server, *control.Door) {
	t.Helper()
	directives["control"] = "yes"
	return startWith(t, lockredis.Config{Directives: directives})
}

func startWith(t *testing.T, cfg lockredis.Config) (*lockredis.Server, *control.Door) {
	t.Helper()
	server := lockredis.New(cfg)
	return server, startServer(t, server)
}

// startServer starts a server, and returns a door to it.
func startServer(t *testing.T, server *lockredis.Server) *control.Door {
	t.Helper()
	return startServers(t, server)[0]
}

// startServers starts servers, and returns a door to each of them.
func startServers(t *testing.T, servers ...*lockredis.Server) []*control.Door {
	t.Helper()
	var insides []backdoor.Inside
	for _, server := range servers {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		insides = append(insides, backdoor.Open(server))
	}
	doors, err := control.Open(insides...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for i, door := range doors {
			servers[i].Close()
			door.Close()
		}
	})
	return doors
}

// enter connects to a door with its secret.
func enter(t *testing.T, d *control.Door) *wire.Conn {
	t.Helper()
	c := redistest.Dial(t, d.Addr())
	expect(t, c, "+OK", "AUTH", d.Secret())
	return c
}

// ask sends a command and returns the bytes of the reply, or the error.
func ask(c *wire.Conn, words ...string) string {
	reply, err := c.Do(words...)
	if err != nil {
		return err.Error()
	}
	return string(reply.Raw)
}

// expect sends a command whose reply must begin with want.
func expect(t *testing.T, c *wire.Conn, want string, words ...string) {
	t.Helper()
	if got := ask(c, words...); !strings.HasPrefix(got, want) {
		t.Errorf("%q: the reply is %q, want %q", words, got, want)
	}
}

func TestOnlyTheSecretOpensTheDoor(t *testing.T) {
	_, door := start(t, map[string]string{})
	for _, words := range [][]string{
		{"PING"}, {"FLUSHALL"}, {"CONTROL", "RESET"}, {"AUTH", "default", door.Secret()},
		{"AUTH", ""}, {"AUTH", door.Secret()[1:]}, {"AUTH", strings.ToUpper(door.Secret()) + "x"},
		{"POST", "/", "HTTP/1.1"},
	} {
		c := redistest.Dial(t, door.Addr())
		if got := ask(c, words...); !strings.HasPrefix(got, "-NOAUTH") && !strings.HasPrefix(got, "-WRONGPASS") {
			t.Errorf("%q: the reply is %q", words, got)
		}
		if _, err := c.Do("AUTH", door.Secret()); !wire.IsClosed(err) {
			t.Errorf("%q: the connection is open", words)
		}
	}
	enter(t, door)
}

func TestConnectionsWithoutTheSecretKeepNobodyOut(t *testing.T) {
	_, door := start(t, map[string]string{})
	inside := enter(t, door)
	for range 500 {
		redistest.Dial(t, door.Addr())
	}
	expect(t, enter(t, door), "+PONG", "PING")
	expect(t, inside, "+PONG", "PING")
}

// A test can close every way of its clients. The door stays open.
func TestTheDoorIsOpenWhateverATestDoes(t *testing.T) {
	const loop = "while true do end"
	tests := []struct {
		name       string
		directives map[string]string
		client     []string // what the test's client sends
		busy       bool     // the last of it has no reply
	}{
		{"requirepass", nil, []string{"CONFIG SET requirepass secret"}, false},
		{"default user off", nil, []string{"ACL SETUSER default off"}, false},
		{"default user without rights", nil, []string{"ACL SETUSER default -@all resetkeys"}, false},
		{"maxclients", map[string]string{"maxclients": "1"}, []string{"PING"}, false},
		{"pause", nil, []string{"CLIENT PAUSE 100000000"}, false},
		{"maxmemory", nil, []string{"CONFIG SET maxmemory 1"}, false},
		{"no replicas", nil, []string{"CONFIG SET min-replicas-to-write 1"}, false},
		{"busy", nil, []string{"EVAL LOOP 0"}, true},
		{"busy after a write", nil, []string{"EVAL WRITE 0"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			directives := map[string]string{"busy-reply-threshold": "1"}
			maps.Copy(directives, test.directives)
			server, door := start(t, directives)
			kit, c := enter(t, door), redistest.Dial(t, server.Addr())
			for _, line := range test.client {
				words := strings.Fields(line)
				switch {
				case words[0] != "EVAL":
				case words[1] == "WRITE":
					words[1] = "redis.call('SET', 'written', 1) " + loop
				default:
					words[1] = loop
				}
				if err := c.Send(words...); err != nil {
					t.Fatal(err)
				}
			}
			if test.busy {
				for other := redistest.Dial(t, server.Addr()); !strings.HasPrefix(ask(other, "PING"), "-BUSY"); {
				}
			} else if _, err := c.Receive(); err != nil {
				t.Fatal(err)
			}
			if test.busy {
				expect(t, kit, "-BUSY", "PING")
			}
			expect(t, kit, "+OK", "CONTROL", "RESET")
			expect(t, kit, "+OK", "SET", "k", "v")
			expect(t, kit, "*0", "LOCK.LIST")
			expect(t, kit, "+OK", "FLUSHALL")
			if test.busy {
				if reply, err := c.Receive(); err != nil || !strings.HasPrefix(string(reply.Raw), "-ERR") {
					t.Errorf("the script's reply is %v %v, want an error", reply, err)
				}
			}
			expect(t, c, "+PONG", "PING")
			expect(t, c, "$-1", "GET", "k")
			expect(t, c, "-ERR unknown command", "LOCK.LIST")
		})
	}
}

func TestTheDoorKnowsCommandsByTheirFirstNames(t *testing.T) {
	settings, err := lockredis.ParseSettings([]string{
		"--port", "auto", "--rename-command", "FLUSHALL", "", "--rename-command", "SET", "put",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	server, door := startWith(t, lockredis.Config{Settings: settings})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "put", "k", "v")
	expect(t, kit, "$1", "GET", "k")
	expect(t, kit, "+OK", "FLUSHALL")
	expect(t, kit, "+OK", "SET", "k", "other")
	expect(t, c, "$5\r\nother", "GET", "k")
	expect(t, c, "-ERR unknown command", "FLUSHALL")
}

func TestAResetPutsBackWhatATestHasChanged(t *testing.T) {
	server, door := start(t, map[string]string{"requirepass": "first"})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "AUTH", "first")
	for _, line := range []string{
		"CONFIG SET hash-max-listpack-entries 7", "CONFIG SET notify-keyspace-events KEA",
		"CONFIG SET requirepass second", "ACL SETUSER alice on nopass ~* +@all",
		"ACL SETUSER default -@dangerous",
	} {
		expect(t, c, "+OK", strings.Fields(line)...)
	}
	const library = "#!lua name=extra\nredis.register_function('f', function() return 1 end)"
	expect(t, kit, "$5", "FUNCTION", "LOAD", library)
	alice := redistest.Dial(t, server.Addr())
	expect(t, alice, "+OK", "AUTH", "alice", "any")
	expect(t, kit, "+OK", "CONTROL", "RESET")
	expect(t, kit, "*2\r\n$25\r\nhash-max-listpack-entries\r\n$3\r\n512", "CONFIG", "GET", "hash-max-listpack-entries")
	expect(t, kit, "*2\r\n$22\r\nnotify-keyspace-events\r\n$3\r\nAKE", "CONFIG", "GET", "notify-keyspace-events") // a library's
	expect(t, kit, "*0", "FUNCTION", "LIST")
	expect(t, kit, "*1\r\n$7\r\ndefault", "ACL", "USERS")
	if _, err := alice.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection of a user that is gone is open: %v", err)
	}
	expect(t, c, "*", "KEYS", "*") // @dangerous
	again := redistest.Dial(t, server.Addr())
	expect(t, again, "-WRONGPASS", "AUTH", "second")
	expect(t, again, "+OK", "AUTH", "first")
	expect(t, kit, "+OK", "CONFIG", "SET", "hash-max-listpack-entries", "7")
	expect(t, kit, "+OK", "CONTROL", "REMEMBER")
	expect(t, kit, "+OK", "CONFIG", "SET", "hash-max-listpack-entries", "8")
	expect(t, kit, "+OK", "CONTROL", "RESET")
	expect(t, kit, "*2\r\n$25\r\nhash-max-listpack-entries\r\n$1\r\n7", "CONFIG", "GET", "hash-max-listpack-entries")
}

func TestNoClientSeesTheDoor(t *testing.T) {
	server, door := start(t, map[string]string{})
	c := redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "CONFIG", "RESETSTAT")
	before := ask(c, "INFO", "clients", "stats")
	expect(t, enter(t, door), "*0", "LOCK.LIST")
	for _, field := range []string{"connected_clients", "total_connections_received", "maxclients"} {
		after := ask(c, "INFO", "clients", "stats")
		if line(before, field) != line(after, field) {
			t.Errorf("%s became %s", line(before, field), line(after, field))
		}
	}
	if list := ask(c, "CLIENT", "LIST"); strings.Count(list, "\n") != 3 {
		t.Errorf("CLIENT LIST is %q, want one client", list)
	}
}

// line returns the line of INFO that begins with a name.
func line(info, name string) string {
	_, rest, _ := strings.Cut(info, name+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return name + ":" + value
}

func TestUnknownAndMissingWordsOfControl(t *testing.T) {
	_, door := start(t, map[string]string{})
	kit := enter(t, door)
	const syntax = "-ERR syntax error. Try CONTROL REMEMBER, RESET, FLUSH, LOAD, ENDSCRIPT, STOP, START, TURN, " +
		"COUNTS, CUT or SILENCE."
	for _, line := range []string{
		"CONTROL", "CONTROL x", "CONTROL RESET x", "CONTROL FLUSH x", "CONTROL ENDSCRIPT x", "CONTROL COUNTS x",
		"CONTROL LOAD", "CONTROL LOAD x y", "CONTROL CUT x", "CONTROL CUT CLIENT", "CONTROL SILENCE SUBSCRIBED x",
	} {
		expect(t, kit, syntax, strings.Fields(line)...)
	}
	expect(t, kit, "-ERR unknown command 'NOPE'", "NOPE")
	expect(t, kit, "-ERR", "MULTI")
	expect(t, kit, "-ERR", "SUBSCRIBE", "x")
	expect(t, kit, "+OK", "control", "endscript")
}

func TestAFlushTellsTheLeaksBefore(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "lock", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "NX", "PX", "100000")
	if got := ask(kit, "CONTROL", "FLUSH"); !strings.Contains(got, "$4\r\nlock\r\n") {
		t.Errorf("the reply does not tell the lock: %q", got)
	}
	expect(t, c, ":0", "DBSIZE")
}

// rdbFile returns the bytes of an RDB file with these data.
func rdbFile(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	server, _ := start(t, map[string]string{"dir": dir, "dbfilename": "dump.rdb"})
	c := redistest.Dial(t, server.Addr())
	for _, line := range lines {
		expect(t, c, "+OK", strings.Fields(line)...)
	}
	expect(t, c, "$3\r\nlib", "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
	expect(t, c, ":1", "RPUSH", "queue", "order")
	expect(t, c, "+OK", "SAVE")
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

func TestALoadReplacesAllDataAndTellsTheLeaksBefore(t *testing.T) {
	file := rdbFile(t, "SET order:1 packed", "SET order:2 sent PX 100000", "SELECT 1", "SET other:1 x", "SELECT 0")
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "lock", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "NX", "PX", "100000")
	if got := ask(kit, "CONTROL", "LOAD", file); !strings.Contains(got, "$4\r\nlock\r\n") {
		t.Errorf("the reply does not tell the lock: %q", got)
	}
	expect(t, c, ":3", "DBSIZE")
	expect(t, c, "$6\r\npacked", "GET", "order:1")
	expect(t, c, ":-1", "PTTL", "order:1")
	if got := ask(c, "PTTL", "order:2"); got < ":1" || got > ":99999" {
		t.Errorf("PTTL order:2 is %q", got)
	}
	expect(t, c, ":1", "FCALL", "f", "0")
	expect(t, c, "+OK", "SELECT", "1")
	expect(t, c, "$1\r\nx", "GET", "other:1")
	expect(t, c, "+OK", "SET", "added", "x")
	expect(t, kit, "*0", "CONTROL", "LOAD", file)
	expect(t, c, "$-1", "GET", "added")
	expect(t, kit, "*0", "LOCK.LIST")
}

func TestALoadServesWhoeverWaitsAndFailsWhoeverWatches(t *testing.T) {
	file := rdbFile(t)
	server, door := start(t, map[string]string{})
	kit, waiting, c := enter(t, door), redistest.Dial(t, server.Addr()), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "WATCH", "queue")
	if err := waiting.Send("BLPOP", "queue", "0"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(ask(c, "INFO", "clients"), "blocked_clients:1") {
	}
	expect(t, kit, "*", "CONTROL", "LOAD", file)
	reply, err := waiting.Receive()
	if err != nil || string(reply.Raw) != "*2\r\n$5\r\nqueue\r\n$5\r\norder\r\n" {
		t.Errorf("BLPOP's reply is %q %v", reply.Raw, err)
	}
	expect(t, c, "+OK", "MULTI")
	expect(t, c, "+QUEUED", "PING")
	expect(t, c, "*-1", "EXEC")
}

func TestALoadLeavesOutWhatHasExpired(t *testing.T) {
	file := rdbFile(t, "SET order:1 packed PX 100000", "SET order:2 sent")
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, kit, "*", "CLOCK.ADVANCE", "200000")
	expect(t, kit, "*0", "CONTROL", "LOAD", file)
	expect(t, c, ":2", "DBSIZE")
	expect(t, c, "$-1", "GET", "order:1")
	expect(t, c, "$4\r\nsent", "GET", "order:2")
}

func TestALoadThatFailsChangesNothing(t *testing.T) {
	file := rdbFile(t, "SELECT 1", "SET other:1 x", "SELECT 0", "SET order:1 packed")
	flipped := []byte(file)
	flipped[len(flipped)-1] ^= 1
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "before", "x")
	for want, broken := range map[string]string{
		"-ERR RDB file: wrong signature": "no file",
		"-ERR RDB file: at byte ":        string(flipped),
	} {
		expect(t, kit, want, "CONTROL", "LOAD", broken)
	}
	for i := 0; i < len(file); i += 7 {
		expect(t, kit, "-ERR RDB file: ", "CONTROL", "LOAD", file[:i])
	}
	small, smallDoor := start(t, map[string]string{"databases": "1"})
	expect(t, enter(t, smallDoor), "-ERR RDB file: at byte ", "CONTROL", "LOAD", file)
	expect(t, redistest.Dial(t, small.Addr()), ":0", "DBSIZE")
	expect(t, c, ":1", "DBSIZE")
	expect(t, c, "$1\r\nx", "GET", "before")
	expect(t, c, "*0", "FUNCTION", "LIST")
}

func TestALoadWhoseLibraryFailsKeepsTheLibraries(t *testing.T) {
	file := rdbFile(t)
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "$5\r\nother", "FUNCTION", "LOAD", "#!lua name=other\nredis.register_function('f', function() return 2 end)")
	expect(t, kit, "-ERR FUNCTION LOAD: ERR Function f already exists", "CONTROL", "LOAD", file)
	expect(t, c, ":2", "FCALL", "f", "0")
	expect(t, c, ":0", "DBSIZE")
}

func TestACommandThatWaitsDelaysNoOther(t *testing.T) {
	server, door := start(t, map[string]string{})
	waiting, other, c := enter(t, door), enter(t, door), redistest.Dial(t, server.Addr())
	gone := enter(t, door)
	for _, one := range []*wire.Conn{waiting, gone} {
		if err := one.SendAll([]string{"LOCK.AWAIT", "lock", "HELD"}, []string{"PING"}); err != nil {
			t.Fatal(err)
		}
	}
	gone.Close()
	expect(t, other, "$-1", "LOCK.AWAIT", "lock", "HELD", "TIMEOUT", "1")
	expect(t, c, "+OK", "SET", "lock", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "NX", "PX", "100000")
	for _, want := range []string{"+OK\r\n", "+PONG\r\n"} {
		if reply, err := waiting.Receive(); err != nil || string(reply.Raw) != want {
			t.Errorf("the reply is %q %v, want %q", reply.Raw, err, want)
		}
	}
	expect(t, other, "*6\r\n$3\r\nnow", "CLOCK.ADVANCE", "200000")
	expect(t, c, "$-1", "GET", "lock")
	expect(t, waiting, "+OK", "LOCK.AWAIT", "lock", "FREE")
}

func TestAResetPutsTheClockBack(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	for _, by := range []string{"86400000000", "-86400000000"} {
		expect(t, c, "+OK", "SET", "k", "v", "EX", "1000")
		before := time.Now()
		now := before.UnixMilli()
		n, _ := strconv.ParseInt(by, 10, 64)
		expect(t, kit, "*6", "CLOCK.SET", strconv.FormatInt(now+n, 10))
		expect(t, kit, "+OK", "CONTROL", "RESET")
		got, _ := strconv.ParseInt(strings.Trim(ask(kit, "CLOCK.NOW"), ":\r\n"), 10, 64)
		if after := time.Now().UnixMilli(); got < now || got > after {
			t.Errorf("after a turn by %s ms and a reset it is %d, want %d to %d", by, got, now, after)
		}
	}
}

func TestTimesInAScriptsArgumentsFollowTheTurnedClock(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	now := time.Now().UnixMilli()
	const day, year = 24 * 3600 * 1000, 365 * 24 * 3600 * 1000
	args := []string{
		strconv.FormatInt(now, 10), strconv.FormatInt(now+30_000, 10), strconv.FormatInt(now-11*year, 10),
		strconv.FormatInt(now+11*year, 10), "30000", "0" + strconv.FormatInt(now, 10)[1:], "6ba7b810-9dad", "",
	}
	call := append([]string{"EVAL", "return ARGV", "0"}, args...)
	for _, by := range []int64{day, -2 * day} {
		expect(t, kit, "*6", "CLOCK.SET", strconv.FormatInt(now+by, 10))
		reply, err := c.Do(call...)
		if err != nil {
			t.Fatal(err)
		}
		for i, arg := range args {
			want, _ := strconv.ParseInt(arg, 10, 64)
			got, _ := strconv.ParseInt(string(reply.Elems[i].Str), 10, 64)
			switch i {
			case 0, 1: // the clock goes on while it is turned
				if got < want+by-60_000 || got > want+by {
					t.Errorf("%s became %d by a turn of %d ms", arg, got, by)
				}
			default:
				if got := string(reply.Elems[i].Str); got != arg {
					t.Errorf("%q became %q", arg, got)
				}
			}
		}
	}
	expect(t, kit, "+OK", "CONTROL", "RESET")
	if reply, err := c.Do(call...); err != nil || string(reply.Elems[0].Str) != args[0] {
		t.Errorf("after a reset %s became %s %v", args[0], reply.Elems[0].Str, err)
	}
}

// Close ends a visitor that waits.
func TestCloseEndsAWait(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, other := enter(t, door), enter(t, door)
	if err := kit.Send("LOCK.AWAIT", "lock", "HELD"); err != nil {
		t.Fatal(err)
	}
	expect(t, other, "+PONG", "PING")
	server.Close()
	door.Close()
	if _, err := kit.Receive(); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
}

func TestManyUseTheDoorAtOnceAndCloseEndsAll(t *testing.T) {
	server, door := start(t, map[string]string{})
	var all sync.WaitGroup
	for range 20 {
		kit := enter(t, door)
		all.Go(func() {
			for {
				if _, err := kit.Do("CONTROL", "RESET"); err != nil {
					return
				}
				if _, err := kit.Do("FLUSHALL"); err != nil {
					return
				}
			}
		})
	}
	server.Close()
	door.Close()
	all.Wait()
	if _, err := net.Dial("tcp", door.Addr()); err == nil {
		t.Error("the door still listens")
	}
}

// While the server hangs for its clients, the door works. A reset lets go what faults hold.
func TestFaultsDoNotHitTheDoorAndAResetEndsThem(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, kit, ":1", "FAULT.ADD", "fail-request", "TIMES", "ALWAYS", "ERROR", "ERR on purpose")
	expect(t, kit, ":2", "FAULT.ADD", "stop", "COMMAND", "SET", "FOR", "100000000")
	expect(t, c, "-ERR on purpose", "SET", "k", "client")
	expect(t, kit, ":1", "FAULT.REMOVE", "1")
	if err := c.Send("SET", "k", "client"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(ask(kit, "FAULT.LIST"), "$4\r\nhits\r\n:1\r\n") {
	}
	expect(t, kit, "+OK", "SET", "k", "kit")
	expect(t, enter(t, door), "$3\r\nkit", "GET", "k")
	expect(t, kit, "+OK", "CONTROL", "RESET")
	expect(t, kit, "*0", "FAULT.LIST")
	if reply, err := c.Receive(); err != nil || string(reply.Raw) != "+OK\r\n" {
		t.Errorf("the client receives %q %v", reply.Raw, err)
	}
	expect(t, kit, "$6\r\nclient", "GET", "k")
}

// A client that a test has muted would wait for replies in the next one.
func TestAMutedConnectionEndsWithTheReset(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, other := enter(t, door), redistest.Dial(t, server.Addr())
	muted := redistest.Dial(t, server.Addr())
	expect(t, kit, ":", "FAULT.ADD", "mute", "COMMAND", "get")
	if err := muted.Send("GET", "k"); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(ask(kit, "FAULT.LIST"), "$4\r\nhits\r\n:1\r\n") {
	}
	expect(t, kit, "+OK", "CONTROL", "RESET")
	if _, err := muted.Receive(); !wire.IsClosed(err) {
		t.Errorf("the muted connection is open: %v", err)
	}
	expect(t, other, "+PONG", "PING")
}

// An outage breaks the connections of the node's clients. The door, and the other nodes, stay.
func TestANodeStopsAndStarts(t *testing.T) {
	settings := map[string]string{"control": "yes", "cluster-enabled": "yes", "cluster-require-full-coverage": "no"}
	var cfgs []lockredis.Config
	for range 3 {
		cfgs = append(cfgs, lockredis.Config{Directives: settings})
	}
	var doors []*control.Door
	nodes := lockredis.NewCluster(cfgs...)
	for _, node := range nodes {
		doors = append(doors, startServer(t, node))
	}
	first, kit := enter(t, doors[0]), enter(t, doors[1])
	c, other := redistest.Dial(t, nodes[1].Addr()), redistest.Dial(t, nodes[0].Addr())
	expect(t, c, "+OK", "SET", "c", "v")
	expect(t, c, "+OK", "CONFIG", "SET", "hash-max-listpack-entries", "7")
	expect(t, kit, "*6", "CLOCK.ADVANCE", "60000")
	for range 2 { // the second one changes nothing
		expect(t, kit, "+OK", "CONTROL", "STOP")
	}
	if _, err := c.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
	if got := ask(redistest.Dial(t, nodes[1].Addr()), "PING"); strings.HasPrefix(got, "+") {
		t.Errorf("a stopped node answers %q", got)
	}
	expect(t, kit, "+PONG", "PING")
	expect(t, kit, "+OK", "CONTROL", "RESET")
	if nodes := ask(other, "CLUSTER", "NODES"); !strings.Contains(nodes, "master,fail -") {
		t.Errorf("the other nodes see %s", nodes)
	}
	expect(t, first, "$3\r\nbar", "EVAL", "redis.call('SET', 'bar', 'bar') return redis.call('GET', 'bar')", "1", "bar")
	expect(t, kit, "+OK", "CONTROL", "START")
	c = redistest.Dial(t, nodes[1].Addr())
	expect(t, c, "$-1", "GET", "c")
	expect(t, c, "*2\r\n$25\r\nhash-max-listpack-entries\r\n$3\r\n512", "CONFIG", "GET", "hash-max-listpack-entries")
	now, _ := strconv.ParseInt(strings.Trim(ask(kit, "CLOCK.NOW"), ":\r\n"), 10, 64)
	if late := now - time.Now().UnixMilli(); late > 0 {
		t.Errorf("the clock is %d ms ahead", late)
	}
	if nodes := ask(other, "CLUSTER", "NODES"); strings.Contains(nodes, "fail") {
		t.Errorf("the other nodes see %s", nodes)
	}
	expect(t, kit, "+OK", "CONTROL", "START") // a restart
	if _, err := c.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
	nodes[1].Close()
	for _, word := range []string{"STOP", "START"} {
		expect(t, kit, "-ERR", "CONTROL", word)
	}
	expect(t, first, "+OK", "CONTROL", "STOP")
}

// A test moves slots, or leaves them on the move. The next one finds them where they began.
func TestAFlushOfAllNodesPutsSlotsBack(t *testing.T) {
	var cfgs []lockredis.Config
	for range 3 {
		cfgs = append(cfgs, lockredis.Config{Directives: map[string]string{"control": "yes", "cluster-enabled": "yes"}})
	}
	nodes := lockredis.NewCluster(cfgs...)
	var doors []*control.Door
	var clients []*wire.Conn
	for _, node := range nodes {
		doors = append(doors, startServer(t, node))
		clients = append(clients, redistest.Dial(t, node.Addr()))
	}
	first, second := clients[0], clients[1]
	id := func(c *wire.Conn) string { return strings.Trim(ask(c, "CLUSTER", "MYID")[3:], "\r\n") }
	slots := ask(first, "CLUSTER", "SLOTS")
	for _, c := range clients {
		expect(t, c, "+OK", "CLUSTER", "SETSLOT", "3300", "NODE", id(second))
	}
	expect(t, second, "+OK", "SET", "b", "v")
	expect(t, first, "+OK", "CLUSTER", "SETSLOT", "0", "MIGRATING", id(second))
	expect(t, second, "+OK", "CLUSTER", "SETSLOT", "0", "IMPORTING", id(first))
	for i := len(doors) - 1; i >= 0; i-- {
		ask(enter(t, doors[i]), "CONTROL", "FLUSH")
	}
	for _, c := range clients {
		if now := ask(c, "CLUSTER", "SLOTS"); now != slots {
			t.Errorf("the slots are %s, and were %s", now, slots)
		}
		if nodes := ask(c, "CLUSTER", "NODES"); strings.Contains(nodes, "[") {
			t.Errorf("slots are on the move: %s", nodes)
		}
		expect(t, c, ":0", "DBSIZE")
	}
	expect(t, first, "+OK", "SET", "b", "v")
}

func TestAnOutageEndsAScript(t *testing.T) {
	for _, word := range []string{"STOP", "START"} {
		server, door := start(t, map[string]string{"busy-reply-threshold": "1"})
		kit, c := enter(t, door), redistest.Dial(t, server.Addr())
		if err := c.Send("EVAL", "redis.call('SET', 'k', 'v') while true do end", "0"); err != nil {
			t.Fatal(err)
		}
		for other := redistest.Dial(t, server.Addr()); !strings.HasPrefix(ask(other, "PING"), "-BUSY"); {
		}
		expect(t, kit, "+OK", "CONTROL", word)
		expect(t, kit, "+OK", "CONTROL", "START")
		expect(t, redistest.Dial(t, server.Addr()), "$-1", "GET", "k")
	}
}

// counted returns the reply to CONTROL COUNTS with the counts by name.
func counted(pairs ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(pairs))
	for i, word := range pairs {
		if i%2 == 0 {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
		} else {
			fmt.Fprintf(&b, ":%s\r\n", word)
		}
	}
	return b.String()
}

// Refused and lost requests count. What a script or EXEC runs does not, nor does the door.
func TestCountsTellWhatClientsHaveSentSinceRemember(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	expect(t, c, "+OK", "SET", "k", "v")
	expect(t, kit, "+OK", "SET", "k", "kit")
	expect(t, kit, counted("set", "1"), "CONTROL", "COUNTS")
	expect(t, kit, "+OK", "CONTROL", "REMEMBER")
	expect(t, kit, "*0\r\n", "CONTROL", "COUNTS")
	for _, line := range []string{"MULTI", "DEL k", "EXEC", "EVAL return(redis.call('GET','k')) 0", "GET", "client id"} {
		ask(c, strings.Fields(line)...)
	}
	expect(t, kit, ":1", "FAULT.ADD", "lose-request")
	if _, err := c.Do("SET", "k", "v"); !wire.IsClosed(err) {
		t.Errorf("a lost request has a reply: %v", err)
	}
	expect(t, kit, counted("client|id", "1", "del", "1", "eval", "1", "exec", "1", "get", "1", "multi", "1", "set", "1"),
		"CONTROL", "COUNTS")
}

func TestClientsOfANameAreCutOrSilenced(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, orders, other := enter(t, door), redistest.Dial(t, server.Addr()), redistest.Dial(t, server.Addr())
	subscriber := redistest.Dial(t, server.Addr())
	for _, c := range []*wire.Conn{orders, subscriber} {
		expect(t, c, "+OK", "CLIENT", "SETNAME", "orders")
	}
	expect(t, other, "+PONG", "PING")
	expect(t, subscriber, "*3", "SUBSCRIBE", "news")
	expect(t, kit, ":1", "CONTROL", "SILENCE", "SUBSCRIBED")
	expect(t, other, ":1", "PUBLISH", "news", "lost")
	expect(t, kit, ":0", "CONTROL", "CUT", "CLIENT", "nobody")
	expect(t, kit, ":1", "control", "cut", "subscribed", "client", "orders")
	if reply, err := subscriber.Receive(); !wire.IsClosed(err) {
		t.Errorf("a silenced client receives %q %v", reply.Raw, err)
	}
	expect(t, orders, "+PONG", "PING")
	expect(t, kit, ":1", "CONTROL", "CUT", "CLIENT", "orders")
	if _, err := orders.Do("PING"); !wire.IsClosed(err) {
		t.Errorf("the connection is open: %v", err)
	}
	expect(t, other, "+PONG", "PING")
	expect(t, kit, ":1", "CONTROL", "CUT")
}

// A permit semaphore's script replies a colon and the time at which the first lease ends.
func TestTimesInScriptsFollowATurnedClock(t *testing.T) {
	server, door := start(t, map[string]string{})
	kit, c := enter(t, door), redistest.Dial(t, server.Addr())
	const arg, text = "return ARGV[1]", "return ':' .. ARGV[1]"
	at := time.Now().UnixMilli()
	now := strconv.FormatInt(at, 10)
	eval := func(script, arg string) string {
		t.Helper()
		reply, err := c.Do("EVAL", script, "0", arg)
		if err != nil {
			t.Fatal(err)
		}
		return string(reply.Str)
	}
	for range 2 {
		expect(t, kit, "*6", "CLOCK.ADVANCE", "3600000")
		later, err := strconv.ParseInt(eval(arg, now), 10, 64)
		if ahead := later - at; err != nil || ahead < 3_600_000-1 || ahead > 3_600_000 { // a part of a ms is lost
			t.Errorf("an argument is moved by %d ms, %v", ahead, err)
		}
		if got := eval(text, now); got != ":"+now {
			t.Errorf("the time of a permit is %s, want :%s", got, now)
		}
		for _, other := range []string{"1234", "x", "9999999999999", ""} {
			if got := eval(arg, other) + eval(text, other); got != other+":"+other {
				t.Errorf("%q becomes %q", other, got)
			}
		}
		expect(t, kit, "*6", "CLOCK.RESET")
		if got := eval(arg, now) + eval(text, now); got != now+":"+now {
			t.Errorf("the clock is not turned, and %s becomes %s", now, got)
		}
	}
}
