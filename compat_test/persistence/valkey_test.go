package persistence

import (
	"fmt"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// fillAsValkey fills a server with values whose form in a file is Valkey's own.
func fillAsValkey(t *testing.T, c *client) {
	t.Helper()
	fill(t, c, 50)
	for _, line := range [][]string{
		{"HSET", "fields", "a", "1", "b", "2", "c", "3"},
		{"HPEXPIREAT", "fields", "99999999999999", "FIELDS", "2", "a", "c"},
		{"HSET", "due", "a", "1", "b", "2"},
		{"HPEXPIRE", "due", "1", "FIELDS", "1", "a"},
		{"SADD", "packed set", "x", "y"},
		{"XADD", "groups", "1-1", "f", "v"},
		{"XGROUP", "CREATE", "groups", "g", "0"},
		{"XREADGROUP", "GROUP", "g", "reader", "STREAMS", "groups", ">"},
	} {
		c.ask(line...)
	}
}

// sameValues compares all values and deadlines. DEBUG DIGEST of a whole Valkey is not
// Redis's.
func sameValues(t *testing.T, wrote, read *client) {
	t.Helper()
	for _, line := range [][]string{
		{"HPEXPIRETIME", "fields", "FIELDS", "3", "a", "b", "c"},
		{"HMGET", "due", "a", "b"},
		{"SMEMBERS", "packed set"},
		{"XPENDING", "groups", "g"},
	} {
		if got, want := read.do(line...), wrote.do(line...); got != want {
			t.Errorf("%v: the reader replies %s, the writer %s", line, got, want)
		}
	}
	sameDeadlines(t, wrote, read)
	for db := range 4 {
		for _, c := range []*client{wrote, read} {
			c.do("SELECT", fmt.Sprint(db))
		}
		for _, key := range wrote.ask("KEYS", "*").Elems {
			line := []string{"DEBUG", "DIGEST-VALUE", string(key.Str)}
			if got, want := read.do(line...), wrote.do(line...); got != want {
				t.Errorf("%v: the reader replies %s, the writer %s", line, got, want)
			}
		}
	}
}

func TestFilesOfValkeyGoBothWays(t *testing.T) {
	program := redistest.FindValkey(t)
	startValkey := func(args ...string) *client {
		args = append([]string{"--enable-debug-command", "yes"}, args...)
		return dial(t, "valkey", redistest.Run(t, redistest.Command{Program: program, Args: args}).Addr)
	}
	emulate := map[string]string{"emulate": "valkey-9.1"}

	valkey := startValkey()
	fillAsValkey(t, valkey)
	valkey.do("SAVE")
	emulate["dir"] = string(valkey.ask("CONFIG", "GET", "dir").Elems[1].Str)
	sameValues(t, valkey, startLockredis(t, emulate))

	emulate["dir"] = t.TempDir()
	own := startLockredis(t, emulate)
	fillAsValkey(t, own)
	own.do("SAVE")
	sameValues(t, own, startValkey("--dir", emulate["dir"]))
}

func TestAFileOfRedisIsReadWithEmulateValkey(t *testing.T) {
	redis := startOracle(t)
	fill(t, redis, 50)
	redis.do("SAVE")
	lock := startLockredis(t, map[string]string{
		"emulate": "valkey-9.1",
		"dir":     string(redis.ask("CONFIG", "GET", "dir").Elems[1].Str),
	})
	if got, want := digest(lock), digest(redis); got != want {
		t.Errorf("lockredis has read %s, redis-server has written %s", got, want)
	}
}
