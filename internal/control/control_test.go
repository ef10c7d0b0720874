package control_test

import (
	"maps"
	"net"
	"strings"
	"sync"
	"testing"

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
func startServers(t *testing.T, servers ...*lockredis.Server) (doors []*control.Door) {
	t.Helper()
	t.Cleanup(func() {
		for _, server := range servers { // before their doors, see Door.Close
			server.Close()
		}
		for _, door := range doors {
			door.Close()
		}
	})
	var insides []backdoor.Inside
	for _, server := range servers {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		insides = append(insides, backdoor.Open(server))
	}
	doors, err := control.Open(insides...)
	if err != nil {
		t.Fatal(err)
	}
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
