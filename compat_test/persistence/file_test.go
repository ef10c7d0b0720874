package persistence

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// fill makes values of all forms in several databases, some with a deadline.
func fill(t *testing.T, c *client, random int) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i, v := range values(rand.New(rand.NewPCG(seed, 2)), random) {
		key := fmt.Sprint("key ", i)
		if i%40 == 0 {
			c.do("SELECT", fmt.Sprint(i/40%4))
		}
		for _, cmd := range v.cmds {
			c.do(line(cmd, key)...)
		}
		if i%3 == 0 {
			c.do("EXPIRE", key, fmt.Sprint(10000+i))
		}
	}
	c.do("SELECT", "0")
}

func digest(c *client) string { return c.do("DEBUG", "DIGEST") }

// deadlines returns the deadlines of all keys of the first databases.
func deadlines(c *client) map[string]string {
	all := map[string]string{}
	for db := range 4 {
		c.do("SELECT", fmt.Sprint(db))
		for _, key := range c.ask("KEYS", "*").Elems {
			all[fmt.Sprint(db, " ", string(key.Str))] = c.ask("PEXPIRETIME", string(key.Str)).String()
		}
	}
	c.do("SELECT", "0")
	return all
}

func sameDeadlines(t *testing.T, a, b *client) {
	t.Helper()
	x, y := deadlines(a), deadlines(b)
	if len(x) != len(y) {
		t.Errorf("%s has %d keys, %s %d", a.name, len(x), b.name, len(y))
	}
	for key, at := range x {
		if y[key] != at {
			t.Errorf("key %q: deadline %s in %s, %s in %s", key, at, a.name, y[key], b.name)
		}
	}
}

func TestFilesGoBothWays(t *testing.T) {
	for _, compression := range []string{"yes", "no"} {
		for _, sum := range []string{"yes", "no"} {
			t.Run("rdbcompression "+compression+" rdbchecksum "+sum, func(t *testing.T) {
				args := []string{"--rdbcompression", compression, "--rdbchecksum", sum}
				redis := startOracle(t, args...)
				fill(t, redis, 200)
				redis.do("SAVE")
				dir := string(redis.ask("CONFIG", "GET", "dir").Elems[1].Str)
				lock := startLockredis(t, map[string]string{
					"dir": dir, "rdbcompression": compression, "rdbchecksum": sum,
				})
				if got, want := digest(lock), digest(redis); got != want {
					t.Fatalf("lockredis has read %s, redis-server has written %s", got, want)
				}
				sameDeadlines(t, redis, lock)

				own := startLockredis(t, map[string]string{
					"dir": t.TempDir(), "rdbcompression": compression, "rdbchecksum": sum,
				})
				fill(t, own, 200)
				own.do("SAVE")
				dir = string(own.ask("CONFIG", "GET", "dir").Elems[1].Str)
				reader := startOracle(t, append(args, "--dir", dir)...)
				if got, want := digest(reader), digest(own); got != want {
					t.Errorf("redis-server has read %s, lockredis has written %s", got, want)
				}
				sameDeadlines(t, own, reader)
			})
		}
	}
}

func TestALargeFileGoesBothWays(t *testing.T) {
	redis := startOracle(t)
	redis.do("DEBUG", "POPULATE", "100000")
	redis.do("SAVE")
	lock := startLockredis(t, map[string]string{
		"dir": string(redis.ask("CONFIG", "GET", "dir").Elems[1].Str),
	})
	if got, want := digest(lock), digest(redis); got != want {
		t.Errorf("lockredis has read %s, redis-server has written %s", got, want)
	}
}

// startInDir starts a lockredis with a file in dir, and returns the server too.
func startInDir(t *testing.T, dir string, more map[string]string) (*lockredis.Server, *client) {
	t.Helper()
	directives := map[string]string{"enable-debug-command": "yes", "enable-protected-configs": "yes", "dir": dir}
	for name, value := range more {
		directives[name] = value
	}
	srv := lockredis.New(lockredis.Config{Directives: directives})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv, dial(t, "lockredis", srv.Addr())
}

// await polls until done, for at most a minute.
func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for: %s", what)
		}
	}
}

// info returns a field of INFO.
func info(c *client, field string) string {
	for _, line := range strings.Split(c.do("INFO"), "\r\n") {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return value
		}
	}
	return ""
}

// digestOfSave begins a BGSAVE beside writers and returns the digest of its moment: that of
// two digests around it, if they are equal. Pipelined commands may run in one batch.
func digestOfSave(t *testing.T, c *client) string {
	t.Helper()
	for range 1000 {
		if err := c.SendAll([]string{"DEBUG", "DIGEST"}, []string{"BGSAVE"}, []string{"DEBUG", "DIGEST"}); err != nil {
			t.Fatal(err)
		}
		var replies [3]string
		for i := range replies {
			v, err := c.Receive()
			if err != nil || v.IsError() {
				t.Fatal(v, err)
			}
			replies[i] = string(v.Str)
		}
		if replies[0] == replies[2] {
			return replies[0]
		}
		await(t, "the end of BGSAVE", func() bool { return info(c, "rdb_bgsave_in_progress") == "0" })
	}
	t.Fatal("a writer changed keys between two commands of a pipeline, each time")
	return ""
}

// TestAFileHasTheDataOfOneMoment changes keys in every way while BGSAVE writes them.
func TestAFileHasTheDataOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	srv, c := startInDir(t, dir, map[string]string{"databases": "4"})
	fill(t, c, 100)
	keys, rounds := 20000, 5
	if !redistest.Whole() {
		keys, rounds = 4000, 2
	}
	for i := range keys {
		n := fmt.Sprint(i)
		if err := c.SendAll([]string{"SET", "s" + n, n}, []string{"RPUSH", "l" + n, n, "x"}, []string{"HSET", "h" + n, "f", n},
			[]string{"SADD", "t" + n, n, "m"}, []string{"ZADD", "z" + n, n, "m"}, []string{"SET", "e" + n, n, "PX", "60000000"}); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if _, err := c.Receive(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var writers []*wire.Conn
	stop := make(chan struct{})
	ended := make(chan error, 4)
	for w := range 3 {
		conn := dial(t, "writer", srv.Addr())
		writers = append(writers, conn.Conn)
		rnd := rand.New(rand.NewPCG(uint64(w), 3))
		go func() { ended <- change(conn.Conn, rnd, keys, stop) }()
	}
	for round := range rounds {
		want := digestOfSave(t, c)
		await(t, "the end of BGSAVE", func() bool { return info(c, "rdb_bgsave_in_progress") == "0" })
		if status := info(c, "rdb_last_bgsave_status"); status != "ok" {
			t.Fatalf("BGSAVE: %s", status)
		}
		_, reader := startInDir(t, dir, nil)
		if got := digest(reader); got != want {
			t.Errorf("round %d: the file has %s, the data was %s", round, got, want)
		}
	}
	close(stop)
	for range writers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// change sends write commands until stop is closed.
func change(c *wire.Conn, rnd *rand.Rand, keys int, stop chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		n := fmt.Sprint(rnd.IntN(keys))
		m := fmt.Sprint(rnd.IntN(keys))
		cmds := [][]string{
			{"SET", "s" + n, m}, {"APPEND", "s" + n, m}, {"INCR", "s" + m}, {"DEL", "s" + m}, {"SETRANGE", "s" + n, "3", "x"},
			{"LPUSH", "l" + n, m}, {"RPOP", "l" + n}, {"LSET", "l" + m, "0", "y"}, {"LTRIM", "l" + m, "1", "1"}, {"LMOVE", "l" + n, "l" + m, "LEFT", "RIGHT"},
			{"HSET", "h" + n, m, m}, {"HDEL", "h" + n, "f"}, {"HINCRBY", "h" + m, "f", "1"},
			{"SADD", "t" + n, m}, {"SREM", "t" + n, n}, {"SPOP", "t" + m}, {"SMOVE", "t" + n, "t" + m, "m"}, {"SUNIONSTORE", "t" + n, "t" + n, "t" + m},
			{"ZADD", "z" + n, m, "m"}, {"ZINCRBY", "z" + m, "1", "k"}, {"ZPOPMIN", "z" + n}, {"ZREMRANGEBYRANK", "z" + m, "0", "0"},
			{"PERSIST", "e" + n}, {"PEXPIRE", "e" + m, "1"}, {"EXPIRE", "s" + m, "5000"}, {"GETDEL", "e" + m}, {"GETEX", "e" + n, "PX", "50000000"},
			{"RENAME", "s" + n, "s" + m}, {"COPY", "h" + n, "h" + m, "REPLACE"}, {"MOVE", "z" + n, "1"}, {"SET", "new" + n + m, "x"},
			{"SORT", "l" + n, "ALPHA", "STORE", "l" + m}, {"SETBIT", "s" + n, "5", "1"}, {"PFADD", "p" + n, m}, {"PFCOUNT", "p" + m},
			{"EVAL", "redis.call('hset', KEYS[1], 'a', 1) redis.call('pexpire', KEYS[1], 50000000)", "1", "h" + n},
			{"MULTI"}, {"SET", "s" + n, "m"}, {"DEL", "l" + n}, {"EXEC"}, {"SWAPDB", "2", "3"},
		}
		if rnd.IntN(200) == 0 {
			cmds = append(cmds, []string{"SELECT", "3"}, []string{"FLUSHDB"}, []string{"SET", "k", "v"}, []string{"SELECT", "0"})
		}
		if err := c.SendAll(cmds...); err != nil {
			return err
		}
		for range cmds {
			if _, err := c.Receive(); err != nil {
				return err
			}
		}
	}
}

func TestSavePointsWriteTheFile(t *testing.T) {
	redistest.SkipWhenQuick(t) // the save point is a second
	dir := t.TempDir()
	_, c := startInDir(t, dir, map[string]string{"save": "1 3"})
	path := filepath.Join(dir, "dump.rdb")
	c.do("SET", "a", "1")
	c.do("SET", "b", "1")
	if info(c, "rdb_changes_since_last_save") != "2" {
		t.Error("two changes are not counted")
	}
	c.do("SET", "c", "1")
	await(t, "the save point", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	await(t, "the end of the save", func() bool { return info(c, "rdb_changes_since_last_save") == "0" })
	_, again := startInDir(t, dir, nil)
	if got, want := digest(again), digest(c); got != want {
		t.Errorf("the file has %s, the data is %s", got, want)
	}
	if n := info(again, "rdb_last_load_keys_loaded"); n != "3" {
		t.Errorf("%s keys are loaded", n)
	}
}

func TestShutdownSaves(t *testing.T) {
	for _, end := range []struct {
		save, option string
		saved        bool
	}{
		{"", "", false}, {"", "SAVE", true}, {"1000 1000", "", true}, {"1000 1000", "NOSAVE", false},
	} {
		dir := t.TempDir()
		srv, c := startInDir(t, dir, map[string]string{"save": end.save})
		c.do("SET", "a", "1")
		if err := c.Send(strings.Fields("SHUTDOWN " + end.option)...); err != nil {
			t.Fatal(err)
		}
		<-srv.Done()
		_, err := os.Stat(filepath.Join(dir, "dump.rdb"))
		if saved := err == nil; saved != end.saved {
			t.Errorf("save %q, SHUTDOWN %s: saved is %v", end.save, end.option, saved)
		}
	}
}

// TestAFailedSaveRefusesWrites has a directory in the file's place.
func TestAFailedSaveRefusesWrites(t *testing.T) {
	for _, start := range []func(*testing.T, string) *client{
		func(t *testing.T, dir string) *client {
			_, c := startInDir(t, dir, map[string]string{"save": "1000 1000"})
			return c
		},
		func(t *testing.T, dir string) *client {
			return startOracle(t, "--enable-protected-configs", "yes", "--dir", dir, "--save", "1000 1000")
		},
	} {
		dir := t.TempDir()
		c := start(t, dir)
		c.do("SET", "a", "1")
		path := filepath.Join(dir, "dump.rdb")
		if err := os.MkdirAll(filepath.Join(path, "full"), 0o777); err != nil {
			t.Fatal(err)
		}
		if got := c.ask("SAVE").String(); got != "-ERR" {
			t.Errorf("%s: SAVE: %s", c.name, got)
		}
		c.do("BGSAVE")
		await(t, "the failure of BGSAVE", func() bool { return info(c, "rdb_last_bgsave_status") == "err" })
		for _, refused := range []string{"SET a 1", "DEL a", "PING", "FLUSHALL"} {
			if got := c.ask(strings.Fields(refused)...).String(); !strings.HasPrefix(got, "-MISCONF Redis is configured") {
				t.Errorf("%s: %s: %s", c.name, refused, got)
			}
		}
		if got := c.ask("EVAL", "return redis.call('set','a','1')", "0").String(); !strings.HasPrefix(got, "-MISCONF") ||
			!strings.Contains(got, "script: ") {
			t.Errorf("%s: EVAL: %s", c.name, got)
		}
		for _, allowed := range []string{"GET a", "EVAL return(1) 0", "PUBLISH a b"} {
			c.do(strings.Fields(allowed)...)
		}
		c.do("MULTI")
		if got := c.ask("SET", "a", "1").String(); !strings.HasPrefix(got, "-MISCONF") {
			t.Errorf("%s: SET in MULTI: %s", c.name, got)
		}
		if got := c.ask("EXEC").String(); !strings.HasPrefix(got, "-EXECABORT") {
			t.Errorf("%s: EXEC: %s", c.name, got)
		}
		for _, cmd := range []string{"SHUTDOWN", "SHUTDOWN SAVE"} {
			if got := c.ask(strings.Fields(cmd)...).String(); got != "-ERR Errors trying to SHUTDOWN. Check logs." {
				t.Errorf("%s: %s: %s", c.name, cmd, got)
			}
		}
		c.do("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
		c.do("SET", "a", "1")
		c.do("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes")
		c.do("CONFIG", "SET", "save", "")
		c.do("SET", "a", "1")
		c.do("CONFIG", "SET", "save", "1000 1000")
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		c.do("SAVE")
		c.do("SET", "a", "1")
		left, err := filepath.Glob(filepath.Join(dir, "temp-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: %q are left behind", c.name, left)
		}
	}
}

func TestAServerInAnotherProgramHasNoFileUnlessAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("dump.rdb", []byte("no RDB file"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	c := dial(t, "lockredis", srv.Addr())
	c.do("SET", "a", "1")
	c.do("SAVE")
	c.do("BGSAVE")
	if n := info(c, "rdb_changes_since_last_save"); n != "0" {
		t.Errorf("%s changes after SAVE", n)
	}
	if err := c.Send("SHUTDOWN", "SAVE"); err != nil {
		t.Fatal(err)
	}
	<-srv.Done()
	if text, err := os.ReadFile("dump.rdb"); err != nil || string(text) != "no RDB file" {
		t.Errorf("the file is %q, error %v", text, err)
	}
	asked := lockredis.New(lockredis.Config{Directives: map[string]string{"dbfilename": "dump.rdb"}})
	if err := asked.Start(); err == nil || !strings.Contains(err.Error(), "no RDB file") {
		t.Errorf("with dbfilename: %v", err)
	}
}

func TestABrokenFileEndsTheStart(t *testing.T) {
	dir := t.TempDir()
	_, c := startInDir(t, dir, nil)
	fill(t, c, 20)
	c.do("SAVE")
	path := filepath.Join(dir, "dump.rdb")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		bad := append([]byte(nil), good...)
		if i%2 == 0 {
			bad = bad[:rnd.IntN(len(bad))]
		} else {
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		srv := lockredis.New(lockredis.Config{Directives: map[string]string{"dir": dir}})
		if err := srv.Start(); err == nil {
			t.Errorf("broken file %d is accepted", i)
			srv.Close()
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("broken file %d: the error does not name it: %v", i, err)
		}
	}
}

func TestAFileWithAWrongChecksumIsReadWithoutRdbchecksum(t *testing.T) {
	dir := t.TempDir()
	_, c := startInDir(t, dir, nil)
	c.do("SET", "a", "1")
	c.do("SAVE")
	path := filepath.Join(dir, "dump.rdb")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file[len(file)-1] ^= 1
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, lock := startInDir(t, dir, map[string]string{"rdbchecksum": "no"})
	redis := startOracle(t, "--dir", dir, "--rdbchecksum", "no")
	for _, c := range []*client{redis, lock} {
		if got := c.do("GET", "a"); got != "1" {
			t.Errorf("%s: the key is %q", c.name, got)
		}
	}
}

func TestDebugReload(t *testing.T) {
	_, lock := startInDir(t, t.TempDir(), nil)
	redis := startOracle(t)
	for _, c := range []*client{redis, lock} {
		c.do("SET", "a", "1")
		c.do("HSET", "h", "f", "v")
		c.do("EXPIRE", "h", "1000")
		before := digest(c)
		c.do("DEBUG", "RELOAD")
		if got := digest(c); got != before {
			t.Errorf("%s: the digest after RELOAD is %s, it was %s", c.name, got, before)
		}
		c.do("SET", "b", "1")
		c.do("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE")
		if got := c.ask("EXISTS", "a", "b", "h").String(); got != ":3" {
			t.Errorf("%s: %s keys after MERGE", c.name, got)
		}
		c.do("DEBUG", "RELOAD", "NOSAVE")
		if got := c.ask("EXISTS", "a", "b", "h").String(); got != ":2" {
			t.Errorf("%s: %s keys after NOSAVE", c.name, got)
		}
		const want = "-ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
		if got := c.ask("DEBUG", "RELOAD", "x").String(); got != want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if got := lock.ask("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH"); !got.IsError() {
		t.Errorf("RELOAD NOSAVE NOFLUSH with equal keys: %s", got)
	}
	if got := lock.ask("DEBUG", "LOADAOF"); !got.IsError() {
		t.Errorf("LOADAOF: %s", got)
	}
}

// TestExpiredKeysOfAFileAreLeftOut has a file with a key that expires before it is read.
func TestExpiredKeysOfAFileAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	_, c := startInDir(t, dir, nil)
	c.do("SET", "a", "1", "PX", "300")
	c.do("SET", "b", "1")
	c.do("SAVE")
	await(t, "the deadline", func() bool { return c.ask("EXISTS", "a").String() == ":0" })
	_, again := startInDir(t, dir, nil)
	if got := again.ask("DBSIZE").String(); got != ":1" {
		t.Errorf("%s keys", got)
	}
	if n := info(again, "rdb_last_load_keys_expired"); n != "1" {
		t.Errorf("%s keys have expired", n)
	}
}
