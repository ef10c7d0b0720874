package persistence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// whileLoading are commands that a client sends while another client's DEBUG RELOAD reads the file.
var whileLoading = []string{
	"PING", "GET key:1", "SET a b", "GET", "NOSUCH", "ECHO x", "SELECT 1", "SELECT 0", "DBSIZE",
	"EXISTS a", "EVAL return 0", "EVAL return(1) 0", "SCRIPT LOAD return(1)", "SCRIPT KILL",
	"SCRIPT EXISTS a", "FUNCTION KILL", "FUNCTION LIST", "EXEC", "MULTI", "GET key:1", "EXEC",
	"MULTI", "ECHO x", "PUBLISH c m", "EXEC", "MULTI", "DISCARD", "WATCH key:1", "UNWATCH",
	"PUBLISH c m", "PUBSUB CHANNELS", "CLIENT GETNAME", "CLIENT SETNAME me", "CLIENT NO-EVICT on",
	"CLIENT TRACKING on", "CLIENT TRACKING off", "CONFIG GET maxmemory", "CONFIG SET maxmemory 0",
	"CONFIG RESETSTAT", "ACL WHOAMI", "ACL SETUSER other on", "AUTH x", "LASTSAVE x", "SAVE",
	"BGSAVE", "BGREWRITEAOF", "FLUSHALL", "SWAPDB 0 1", "SLOWLOG RESET", "LATENCY LATEST",
	"MEMORY USAGE key:1", "MEMORY HELP x", "OBJECT ENCODING key:1", "WAIT 0 0", "ROLE",
	"DEBUG SLEEP 0", "REPLICAOF NO ONE", "FAILOVER", "MODULE LIST", "CLUSTER INFO", "BLPOP l 1",
	"SHUTDOWN ABORT", "SUBSCRIBE c", "PING", "UNSUBSCRIBE c", "RESET", "PING",
}

// loadingFields are the fields of INFO persistence that tell how far the file is read.
func loadingFields(c *client) (names []string) {
	for line := range strings.Lines(string(c.ask("INFO", "persistence").Str)) {
		if name, _, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(name, "loading") {
			names = append(names, name)
		}
	}
	return names
}

// TestClientsGetWhatRedisAnswersWhileAFileIsRead has a file whose reading takes more than a minute,
// unless the test makes it fast.
func TestClientsGetWhatRedisAnswersWhileAFileIsRead(t *testing.T) {
	record := func(name, addr string) (replies []string) {
		c := dial(t, name, addr)
		value := strings.Repeat("x", 1100)
		c.do("CONFIG", "SET", "rdbcompression", "no", "loading-process-events-interval-bytes", "1024")
		for i := range 4000 {
			c.do("SET", fmt.Sprint("key:", i), value)
		}
		c.do("SAVE")
		transaction, reader := dial(t, name, addr), dial(t, name, addr)
		transaction.do("MULTI")
		transaction.do("GET", "key:1")
		replies = append(replies, fmt.Sprint(loadingFields(c)))
		c.do("CONFIG", "SET", "key-load-delay", "20000")
		if err := reader.Send("DEBUG", "RELOAD", "NOSAVE"); err != nil {
			t.Fatal(err)
		}
		await(t, "-LOADING", func() bool { return strings.HasPrefix(string(c.ask("PING").Str), "LOADING") })
		for _, line := range whileLoading {
			replies = append(replies, line+": "+c.ask(strings.Fields(line)...).String())
		}
		replies = append(replies, "EXEC: "+transaction.ask("EXEC").String(), fmt.Sprint(loadingFields(c)))
		c.do("CONFIG", "SET", "key-load-delay", "0")
		v, err := reader.Receive()
		return append(replies, v.String(), fmt.Sprint(err), c.do("PING"), c.ask("DBSIZE").String())
	}
	redis := redistest.Start(t, "--enable-debug-command", "yes")
	srv, _ := startInDir(t, t.TempDir(), map[string]string{"enable-debug-command": "yes"})
	want, got := record("redis-server", redis.Addr), record("lockredis", srv.Addr())
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("lockredis answers %s, redis-server %s", got[i], want[i])
		}
	}
}
