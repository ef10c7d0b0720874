package persistence

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// address returns host and port of a client's server.
func address(t *testing.T, c *client) (host, port string) {
	t.Helper()
	if c.name == "lockredis" {
		return "127.0.0.1", info(c, "tcp_port")
	}
	return "127.0.0.1", string(c.ask("CONFIG", "GET", "port").Elems[1].Str)
}

// TestKeysMigrateBothWays moves values of all forms from one server to the other.
func TestKeysMigrateBothWays(t *testing.T) {
	redis, lock := startOracle(t), startLockredis(t, nil)
	for _, way := range [][2]*client{{lock, redis}, {redis, lock}} {
		from, to := way[0], way[1]
		from.do("FLUSHALL")
		to.do("FLUSHALL")
		host, port := address(t, to)
		var keys []string
		for i, v := range values(rand.New(rand.NewPCG(4, 5)), 50) {
			key := fmt.Sprint("key ", i)
			for _, cmd := range v.cmds {
				from.do(line(cmd, key)...)
			}
			if i%4 == 0 {
				from.do("EXPIRE", key, "10000")
			}
			keys = append(keys, key)
		}
		want := digest(from)
		args := []string{"MIGRATE", host, port, "", "0", "30000", "COPY", "KEYS"}
		if got := from.ask(append(args, keys...)...).String(); got != "+OK" {
			t.Fatalf("from %s: %s", from.name, got)
		}
		if got := digest(to); got != want || digest(from) != want {
			t.Errorf("from %s: a copy has %s, not %s", from.name, got, want)
		}
		if got := from.ask(append(args, keys[0])...).String(); got !=
			"-ERR Target instance replied with error: BUSYKEY Target key name already exists." {
			t.Errorf("from %s, without REPLACE: %s", from.name, got)
		}
		args[6] = "REPLACE"
		if got := from.ask(append(args, keys...)...).String(); got != "+OK" {
			t.Fatalf("from %s: %s", from.name, got)
		}
		if got := digest(to); got != want {
			t.Errorf("from %s: %s has %s, not %s", from.name, to.name, got, want)
		}
		twice := append(args[:len(args):len(args)], "twice", "none", "twice")
		from.do("SET", "twice", "v")
		if got := from.ask(twice...).String(); got != "+OK" {
			t.Errorf("from %s, a key that is given twice: %s", from.name, got)
		}
		if n := from.ask("DBSIZE").String(); n != ":0" {
			t.Errorf("from %s: %s keys are left", from.name, n)
		}
		if ttl, ok := to.ask("PTTL", keys[0]).Int(); !ok || ttl < 9_000_000 || ttl > 10_000_000 {
			t.Errorf("from %s: time to live %d", from.name, ttl)
		}
	}
}

// TestMigrateFailsAsInRedis sends the same commands to both servers.
func TestMigrateFailsAsInRedis(t *testing.T) {
	redis, lock := startOracle(t), startLockredis(t, nil)
	target := startOracle(t)
	target.do("ACL", "SETUSER", "u", "on", ">p", "~*", "+@all")
	target.do("CONFIG", "SET", "requirepass", "sesame")
	host, port := address(t, target)
	closed, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, deaf, _ := net.SplitHostPort(silent.Addr().String())
	for _, c := range []*client{redis, lock} {
		c.do("MSET", "k", "v", "a", "1", "b", "2", "c", "3")
		c.do("SELECT", "0")
	}
	for _, args := range [][]string{
		{host, closed, "k", "0", "1000"},
		{host, deaf, "k", "0", "50"},
		{"no.such.host.invalid", port, "k", "0", "1000"},
		{"", port, "k", "0", "1000", "AUTH", "sesame"},
		{"[::1]", port, "k", "0", "1000"},
		{host, "-1", "k", "0", "1000"},
		{host, "x", "k", "0", "1000"},
		{host, port + "x", "k", "0", "1000", "AUTH", "sesame"},
		{host, "65536", "k", "0", "1000"},
		{host, port, "missing", "0", "1000"},
		{host, port, "", "0", "1000"},
		{host, port, "", "0", "1000", "KEYS"},
		{host, port, "", "0", "1000", "KEYS", "missing", "other"},
		{host, port, "k", "x", "1000"},
		{host, port, "k", "0", "x"},
		{host, port, "k", "x", "x", "bogus"},
		{host, port, "k", "0", "1000", "AUTH"},
		{host, port, "k", "0", "1000", "AUTH2", "u"},
		{host, port, "k", "0", "1000", "KEYS", "k"},
		{host, port, "k", "0", "1000"},
		{host, port, "k", "0", "1000", "AUTH", "wrong"},
		{host, port, "k", "99", "1000", "AUTH", "sesame"},
		{host, port, "k", "0", "-1", "AUTH", "sesame", "COPY"},
		{host, port, "k", "0", "1000", "AUTH", "sesame"},
		{host, port, "k", "0", "1000", "AUTH2", "u", "p", "REPLACE"},
		{host, port, "", "2", "1000", "AUTH2", "u", "p", "KEYS", "a", "b", "missing"},
		{host, port, "", "2", "1000", "AUTH", "sesame", "COPY", "REPLACE", "KEYS", "c"},
		{host, port, "", "2", "1000", "AUTH", "sesame", "KEYS", "c"},
	} {
		var replies, left [2]string
		for i, c := range []*client{redis, lock} {
			target.do("FLUSHALL")
			target.do("SET", "taken", "x")
			target.do("SELECT", "2")
			if len(args) > 8 && args[len(args)-1] == "c" && args[7] == "sesame" {
				target.do("SET", "c", "other")
			}
			target.do("SELECT", "0")
			replies[i] = c.ask(append([]string{"MIGRATE"}, args...)...).String()
			left[i] = digest(c) + " " + digest(target)
		}
		if replies[0] != replies[1] || left[0] != left[1] {
			t.Errorf("MIGRATE %q\nredis-server %s, then %s\nlockredis    %s, then %s",
				args, replies[0], left[0], replies[1], left[1])
		}
	}
}

// unnamed runs a command in a script that does not name its keys: MIGRATE does not hold it up.
func unnamed(c *client, line string) {
	c.do(append([]string{"EVAL", "return redis.call(unpack(ARGV))", "0"}, strings.Fields(line)...)...)
}

// listenSilently returns a listener that accepts nothing by itself, and its port.
func listenSilently(t *testing.T) (silent net.Listener, port string) {
	t.Helper()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	_, port, _ = net.SplitHostPort(silent.Addr().String())
	return silent, port
}

// TestOthersGoOnWhileMigrateWaits has a server that takes the connection and is silent.
func TestOthersGoOnWhileMigrateWaits(t *testing.T) {
	srv, c := startInDir(t, t.TempDir(), nil)
	silent, port := listenSilently(t)
	c.do("MSET", "changed", "1", "kept", "1")
	waiting := dial(t, "lockredis", srv.Addr())
	id := strings.TrimPrefix(waiting.ask("CLIENT", "ID").String(), ":")
	if err := waiting.Send("MIGRATE", "127.0.0.1", port, "", "0", "600000", "KEYS", "changed", "kept"); err != nil {
		t.Fatal(err)
	}
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c.do("SET", "other", "2")
	unnamed(c, "SET changed 2")
	if n := info(c, "blocked_clients"); n != "1" {
		t.Errorf("%s clients are blocked", n)
	}
	for _, reason := range []string{"TIMEOUT", "ERROR"} { // Redis would not answer: MIGRATE blocks it
		if got := c.ask("CLIENT", "UNBLOCK", id, reason).String(); got != ":0" {
			t.Errorf("CLIENT UNBLOCK … %s replies %s", reason, got)
		}
	}
	if _, err := conn.Write([]byte("+OK\r\n+OK\r\n+OK\r\n")); err != nil {
		t.Fatal(err)
	}
	got, err := waiting.Receive()
	if err != nil || !strings.HasPrefix(got.String(), "-IOERR a key changed") {
		t.Errorf("the reply is %s, error %v", got, err)
	}
	if c.do("GET", "changed") != "2" || c.ask("EXISTS", "kept").String() != ":0" {
		t.Error("the changed key is gone, or the other one is not")
	}
	for _, refused := range [][]string{
		{"EVAL", "return redis.call('migrate','127.0.0.1','1','changed','0','10')", "0"},
	} {
		if got := c.ask(refused...).String(); !strings.HasPrefix(got, "-ERR MIGRATE is not allowed in scripts") {
			t.Errorf("%q: %s", refused, got)
		}
	}
}

// TestACommandThatWritesAKeyWaitsForItsMigrate has several ways to write a key that is under way. Redis has
// all clients wait.
func TestACommandThatWritesAKeyWaitsForItsMigrate(t *testing.T) {
	srv, c := startInDir(t, t.TempDir(), nil)
	silent, port := listenSilently(t)
	migrating := dial(t, "lockredis", srv.Addr())
	for _, test := range []struct {
		write []string
		want  string // the last reply: the key is gone
	}{
		{[]string{"APPEND k w"}, ":1"},
		{[]string{"DEL other k"}, ":0"},
		{[]string{"EVAL return{redis.call('exists',KEYS[1])} 1 k"}, "[:0]"},
		{[]string{"MULTI", "INCR other", "APPEND k w", "EXEC"}, "[:1 :1]"},
		{[]string{"MIGRATE 127.0.0.1 1 k 0 1000"}, "+NOKEY"},
		{[]string{"RESTORE k 0 x"}, "-ERR DUMP payload version or checksum are wrong"},
	} {
		c.do("FLUSHALL")
		c.do("SET", "k", "v")
		if err := migrating.Send("MIGRATE", "127.0.0.1", port, "k", "0", "600000"); err != nil {
			t.Fatal(err)
		}
		conn, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		writer := dial(t, "lockredis", srv.Addr())
		for _, line := range append([]string{"PING"}, test.write...) {
			if err := writer.Send(strings.Fields(line)...); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := writer.Receive(); err != nil || got.String() != "+PONG" {
			t.Fatal(got, err)
		}
		if got := c.do("GET", "k"); got != "v" {
			t.Errorf("%q: a reader finds %q", test.write, got)
		}
		if _, err := conn.Write([]byte("+OK\r\n+OK\r\n")); err != nil {
			t.Fatal(err)
		}
		if got, err := migrating.Receive(); err != nil || got.String() != "+OK" {
			t.Errorf("%q: MIGRATE replies %s: %v", test.write, got, err)
		}
		for i := range test.write {
			got, err := writer.Receive()
			if err != nil || i == len(test.write)-1 && got.String() != test.want {
				t.Errorf("%q: the reply is %s, not %s: %v", test.write, got, test.want, err)
			}
		}
		conn.Close()
	}
}

// TestCloseEndsAMigrateThatWaits closes the server while another server is silent.
func TestCloseEndsAMigrateThatWaits(t *testing.T) {
	srv, c := startInDir(t, t.TempDir(), nil)
	silent, port := listenSilently(t)
	c.do("SET", "k", "v")
	if err := c.Send("MIGRATE", "127.0.0.1", port, "k", "0", "600000"); err != nil {
		t.Fatal(err)
	}
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	srv.Close() // the test times out if it waits for the ten minutes
}

// TestAKeyThatGoesWhileItMigratesIsReported has another client delete or move a key while it is
// sent, by a script that does not name the key. The target then has it, and only the error tells.
func TestAKeyThatGoesWhileItMigratesIsReported(t *testing.T) {
	srv, c := startInDir(t, t.TempDir(), nil)
	waiting := dial(t, "lockredis", srv.Addr())
	silent, port := listenSilently(t)
	const changed = "-IOERR a key changed while it was sent: the target instance has it"
	for _, test := range []struct{ set, meanwhile, want string }{
		{"SET k v", "DEL k", changed},
		{"SET k v PX 100000", "PEXPIRE k -1", changed},
		{"SET k v", "RENAME k other", changed},
		{"SET k v", "MOVE k 3", changed},
		{"SET k v", "FLUSHALL", changed},
		{"SET k v", "GET k", "+OK"},
		{"SET k v PX 50", "SET other v", "+OK"}, // k expires on both servers
	} {
		c.do("FLUSHALL")
		c.do(strings.Fields(test.set)...)
		if err := waiting.Send("MIGRATE", "127.0.0.1", port, "k", "0", "600000"); err != nil {
			t.Fatal(err)
		}
		conn, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		unnamed(c, test.meanwhile)
		for strings.Contains(test.set, "PX 50") && c.ask("EXISTS", "k").String() == ":1" {
		}
		if _, err := conn.Write([]byte("+OK\r\n+OK\r\n")); err != nil {
			t.Fatal(err)
		}
		if got, err := waiting.Receive(); err != nil || got.String() != test.want {
			t.Errorf("%s, then %s: the reply is %s, not %s: %v", test.set, test.meanwhile, got, test.want, err)
		}
		conn.Close()
	}
}

// TestMigrateTakesOddTargetsAsRedis has targets that close the connection, answer slowly, or with
// an empty error. Each string is what one connection answers, "" closes it.
func TestMigrateTakesOddTargetsAsRedis(t *testing.T) {
	redis, lock := startOracle(t), startLockredis(t, nil)
	for _, answers := range [][]string{
		{"", "+OK\r\n+OK\r\n"},
		{"+OK\r\n", "+OK\r\n+OK\r\n"},
		{"", ""},
		{"-ERR no\r\n", "+OK\r\n+OK\r\n"},
		{"-\r\n-\r\n"},
		{"+OK\r\n-\r\n"},
		{"+O", "+OK\r\n+OK\r\n"},
		{"\n+OK\r\n", "+OK\r\n+OK\r\n"},
		{"+OK\r\n\n"},
		{"\r\n\r\n"},
	} {
		var got [2]string
		for i, c := range []*client{redis, lock} {
			target, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			connections := make(chan int, 1)
			go answer(target, answers, connections)
			_, port, _ := net.SplitHostPort(target.Addr().String())
			c.do("SET", "k", "v")
			reply := c.ask("MIGRATE", "127.0.0.1", port, "k", "0", "20000").String()
			target.Close()
			got[i] = fmt.Sprintf("%s, %d connections, EXISTS %s", reply, <-connections, c.ask("EXISTS", "k"))
		}
		if got[0] != got[1] {
			t.Errorf("answers %q\nredis-server %s\nlockredis    %s", answers, got[0], got[1])
		}
	}
}

// answer takes connections until ln is closed: it reads a part of the request of each, answers and
// closes. It sends the number of connections.
func answer(ln net.Listener, answers []string, connections chan<- int) {
	for n := 0; ; n++ {
		conn, err := ln.Accept()
		if err != nil {
			connections <- n
			return
		}
		conn.Read(make([]byte, 4096))
		if n < len(answers) {
			conn.Write([]byte(answers[n]))
		}
		conn.Close()
	}
}
