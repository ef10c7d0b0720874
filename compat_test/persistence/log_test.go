package persistence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
)

// logDirectives make a redis-server write a log into its working directory.
var logDirectives = []string{
	"--appendonly", "yes", "--appendfsync", "always", "--aof-timestamp-enabled", "yes", "--auto-aof-rewrite-percentage", "0",
}

// TestTheLogOfARedisServerIsRead reads a base file, what came after it, and a key whose deadline
// has passed between two settings of it.
func TestTheLogOfARedisServerIsRead(t *testing.T) {
	for _, preamble := range []string{"yes", "no"} {
		redis := startOracle(t, append(logDirectives, "--aof-use-rdb-preamble", preamble)...)
		fill(t, redis, 60)
		redis.do("BGREWRITEAOF")
		await(t, "the end of BGREWRITEAOF", func() bool {
			return info(redis, "aof_rewrite_in_progress") == "0" && info(redis, "aof_rewrite_scheduled") == "0"
		})
		redis.do("SET", "lease", "held", "PX", "3000")
		redis.do("PEXPIRE", "lease", "60000000")
		redis.do("MULTI")
		redis.do("INCR", "n")
		redis.do("SELECT", "2")
		redis.do("INCR", "n")
		redis.do("EXEC")
		redis.do("EVAL", "redis.call('xadd', KEYS[1], '*', 'f', 'v') return redis.call('setex', 'two', 5000, 'x')", "1", "stream")
		redis.do("SELECT", "0")
		redis.do("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)")
		dir := string(redis.ask("CONFIG", "GET", "dir").Elems[1].Str)
		srv, lock := startInDir(t, dir, map[string]string{"appendonly": "yes"})
		if got, want := digest(lock), digest(redis); got != want {
			t.Fatalf("preamble %s: lockredis has read %s, redis-server has %s", preamble, got, want)
		}
		sameDeadlines(t, redis, lock)
		if got := lock.ask("FCALL", "f", "0").String(); got != ":7" && got != "7" {
			t.Errorf("the function answers %s", got)
		}
		if idle := number(lock, "OBJECT", "IDLETIME", "lease"); idle > 3600 {
			t.Errorf("a key is idle for %d seconds", idle)
		}

		// What lockredis adds is in the RDB file, and comes back with the log's data.
		lock.do("SET", "later", "1")
		lock.do("SAVE")
		want := digest(lock)
		if reply := lock.do("DEBUG", "LOADAOF"); reply != "OK" || digest(lock) != want {
			t.Errorf("DEBUG LOADAOF: %s", reply)
		}
		srv.Close()
		_, again := startInDir(t, dir, map[string]string{"appendonly": "yes"})
		if got := digest(again); got != want {
			t.Errorf("after another start the data is %s, it was %s", got, want)
		}
		// Once Redis writes to the log again, the log counts.
		redis.do("SET", "newest", "1")
		_, newest := startInDir(t, dir, map[string]string{"appendonly": "yes"})
		if got, want := digest(newest), digest(redis); got != want {
			t.Errorf("lockredis has read %s, redis-server has %s", got, want)
		}
	}
}

// number returns the integer that answers a command, -1 for another reply.
func number(c *client, args ...string) int64 {
	c.t.Helper()
	if n, ok := c.ask(args...).Int(); ok {
		return n
	}
	return -1
}

func command(words ...string) string {
	b := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		b += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	return b
}

// TestBrokenLogsAreTreatedAsByRedisServer starts both servers with a log. A start fails, or the
// keys are redis-server's.
func TestBrokenLogsAreTreatedAsByRedisServer(t *testing.T) {
	set := command("SET", "a", "1")
	manifest := "file base seq 1 type b\nfile incr seq 1 type i\n"
	for _, test := range []struct {
		name, manifest, base, incr, truncated string
		keys                                  int // -1: no start
	}{
		{"whole", manifest, set, command("SET", "b", "1"), "no", 2},
		{"truncated", manifest, set, command("SET", "b", "1") + "*3\r\n$3\r\nSE", "yes", 2},
		{"truncated, refused", manifest, set, "*3\r\n$3\r\nSE", "no", -1},
		{"truncated base", manifest, set + "*3\r\n", set, "yes", -1},
		{"open transaction", manifest, set, command("MULTI") + command("SET", "b", "1"), "yes", 1},
		{"open transaction, refused", manifest, set, command("MULTI") + command("SET", "b", "1"), "no", -1},
		{"no protocol", manifest, set, "SET b 1\r\n", "yes", -1},
		{"unknown command", manifest, set, command("NONE", "b"), "yes", -1},
		{"failing command", manifest, set, command("LPUSH", "a", "x"), "yes", 1},
		{"empty file", manifest, set, "", "yes", 1},
		{"empty manifest", "", set, "", "yes", -1},
		{"base twice", manifest + "file base seq 2 type b\n", set, "", "yes", -1},
		{"a missing file", manifest + "file none seq 2 type i\n", set, "", "yes", -1},
		{"history", manifest + "file none seq 2 type h\n", set, "", "yes", 1},
		{"database", manifest, set, command("SELECT", "1") + set + command("SELECT", "0") + command("DEL", "a"), "yes", 0},
		{"past deadline", manifest, set + command("PEXPIREAT", "a", "5"), command("PERSIST", "a"), "yes", 1},
	} {
		dir := t.TempDir()
		logs := filepath.Join(dir, "appendonlydir")
		if err := os.Mkdir(logs, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"appendonly.aof.manifest": test.manifest, "base": test.base, "incr": test.incr,
		} {
			if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		srv := lockredis.New(lockredis.Config{Directives: map[string]string{
			"dir": dir, "appendonly": "yes", "aof-load-truncated": test.truncated,
		}})
		err := srv.Start()
		got := -1
		if err == nil {
			got = int(number(dial(t, "lockredis", srv.Addr()), "DBSIZE"))
			srv.Close()
		}
		if got != test.keys {
			t.Errorf("%s: lockredis has %d keys, want %d, error %v", test.name, got, test.keys, err)
		}
		if test.keys < 0 {
			continue // redis-server ends, as its log in the report says
		}
		redis := startOracle(t, "--appendonly", "yes", "--dir", dir, "--aof-load-truncated", test.truncated)
		if got := int(number(redis, "DBSIZE")); got != test.keys {
			t.Errorf("%s: redis-server has %d keys, want %d", test.name, got, test.keys)
		}
	}
}

func TestTheSingleFileOfOlderVersionsIsRead(t *testing.T) {
	dir := t.TempDir()
	log := command("SELECT", "0") + command("SET", "a", "1") + command("SETEX", "b", "1000", "x")
	if err := os.WriteFile(filepath.Join(dir, "appendonly.aof"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := startInDir(t, dir, map[string]string{"appendonly": "yes"})
	if keys, ttl := number(c, "DBSIZE"), number(c, "TTL", "b"); keys != 2 || ttl < 1 || ttl > 1000 {
		t.Errorf("%d keys, b lives for %d seconds", keys, ttl)
	}
	_, without := startInDir(t, dir, nil)
	if keys := number(without, "DBSIZE"); keys != 0 {
		t.Errorf("without appendonly: %d keys", keys)
	}
	if reply := without.ask("DEBUG", "LOADAOF").String(); !strings.HasPrefix(reply, "-ERR Error trying to load the AOF") {
		t.Errorf("DEBUG LOADAOF: %s", reply)
	}
}
