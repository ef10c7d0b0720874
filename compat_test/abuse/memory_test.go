package abuse

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// memoryBombs are scripts that each try to use up all memory in a different way. They end
// with OOM, or the server refuses them.
var memoryBombs = map[string]string{
	"numbers in a table":    `local t = {} for i = 1, 1e9 do t[i] = i end`,
	"strings in a table":    `local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1e5) .. i end`,
	"small strings":         `local t = {} for i = 1, 1e9 do t[i] = 'a string of some length ' .. i end`,
	"keys of a table":       `local t = {} for i = 1, 1e9 do t['k' .. i] = i end`,
	"tables in tables":      `local t = {} while true do t = {t, {}, {}} end`,
	"a sparse table":        `local t = {} for i = 1, 1e9 do t[i * 1000] = {} end`,
	"closures":              `local f = function() end for i = 1, 1e9 do local g = f f = function() return g, i end end`,
	"coroutines":            `local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() end) end`,
	"doubling":              `local s = 'x' for i = 1, 60 do s = s .. s end return #s`,
	"one long string":       `return #string.rep('x', 4e8)`,
	"concatenation":         `local s = '' while true do s = s .. string.rep('x', 1e6) end`,
	"table.concat":          `local s, t = string.rep('x', 1e6), {} for i = 1, 500 do t[i] = s end return #table.concat(t)`,
	"string.format":         `local s = string.rep('x', 1e7) return #string.format(string.rep('%s', 40), unpack((function() local t = {} for i = 1, 40 do t[i] = s end return t end)()))`,
	"gsub":                  `local s = string.rep('x', 1e5) return #string.gsub(s, 'x', s)`,
	"gsub in pieces":        `local s = string.rep('x', 1e6) for i = 1, 30 do s = string.gsub(s, 'x', 'xx') end return #s`,
	"upper":                 `local s, t = string.rep('x', 1e7), {} for i = 1, 100 do t[i] = string.upper(s) end`,
	"caught by pcall":       `local t = {} while true do pcall(function() t[#t+1] = string.rep('x', 1e7) .. #t end) end`,
	"a straight line":       memoryLine(),
	"many short lines":      "local t, r = {}, string.rep " + strings.Repeat("t[#t+1] = r('x', 6e4) ", 20000) + "return #t",
	"cjson.decode":          `local s, t = '[' .. string.rep('{},', 1e6) .. '1]', {} for i = 1, 100 do t[i] = cjson.decode(s) end`,
	"cjson.encode":          `local t = {1} for i = 1, 60 do t = {t, t} end return #cjson.encode(t)`,
	"cmsgpack.unpack":       `local s, t = string.rep('\128', 7000), {} for i = 1, 1e9 do t[i] = {cmsgpack.unpack(s)} end`,
	"cmsgpack.pack":         `local s, t, u = string.rep('x', 1e5), {}, {} for i = 1, 1000 do t[i], u[i] = s, t end return #cmsgpack.pack(u)`,
	"struct.pack":           `local t = {} for i = 1, 1e9 do t[i] = struct.pack('c0', string.rep('x', 1e6)) end`,
	"replies of strings":    `redis.call('SET', 'k', string.rep('x', 1e6)) local t = {} for i = 1, 1000 do t[i] = redis.call('GET', 'k') end`,
	"replies of arrays":     `for i = 1, 1000 do redis.call('RPUSH', 'l', 'x', 'y', 'z') end local t = {} for i = 1, 1e9 do t[i] = redis.call('LRANGE', 'l', 0, -1) end`,
	"a wide reply":          `local t = {1} for i = 1, 60 do t = {t, t} end return t`,
	"a long source":         `return select(2, loadstring('return {' .. string.rep('{1},', 2e6) .. '}'))`,
	"many functions":        `return select(2, loadstring(string.rep('f(function() end) ', 100000)))`,
	"a source by the piece": `return select(2, load(function() return 'a=1 ' end))`,
}

// quickBombs run in a plain test run. The long mode runs all memoryBombs.
var quickBombs = []string{
	"a straight line", "a wide reply", "caught by pcall", "doubling", "gsub",
	"many functions", "one long string", "replies of strings", "strings in a table", "struct.pack",
}

// childMark, set in the environment, makes the test binary a server with little memory.
const childMark = "LOCKREDIS_ABUSE_CHILD"

// TestServerProcessForTheMemoryBombs is not a test: it runs in the child process until
// its standard input ends.
func TestServerProcessForTheMemoryBombs(t *testing.T) {
	if os.Getenv(childMark) == "" {
		t.Skip("this is the child process of another test")
	}
	srv := lockredis.New(lockredis.Config{Directives: map[string]string{"busy-reply-threshold": "50"}})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	fmt.Println("listening on", srv.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// child is a server in its own process.
type child struct {
	addr string
	pid  int
}

func startChild(t *testing.T, limitMB int) child {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerProcessForTheMemoryBombs$")
	cmd.Env = append(os.Environ(), childMark+"=1", fmt.Sprintf("GOMEMLIMIT=%dMiB", limitMB))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			go io.Copy(io.Discard, stdout)
			return child{addr, cmd.Process.Pid}
		}
	}
	t.Fatal("the child process did not print its address")
	return child{}
}

// megabytes returns a line of /proc/<pid>/status: VmRSS, or VmHWM for the peak. It
// returns 0 on a system without that file.
func (p child) megabytes(line string) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/status")
	_, rest, _ := strings.Cut(string(text), line+":")
	words := strings.Fields(rest)
	if len(words) == 0 {
		return 0
	}
	kilobytes, _ := strconv.Atoi(words[0])
	return kilobytes >> 10
}

func TestMemoryBombsNeitherKillASmallServerNorKeepItsMemory(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	const limitMB = 256
	p := startChild(t, limitMB)
	names := quickBombs
	if long() {
		names = slices.Sorted(maps.Keys(memoryBombs))
	}
	for _, name := range names {
		body := memoryBombs[name]
		t.Run(name, func(t *testing.T) {
			c, err := wire.Dial(p.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.SetTimeout(slack(30 * time.Second))
			begin := time.Now()
			r, err := c.Do("EVAL", body, "0")
			if err != nil {
				t.Fatal(err)
			}
			text := r.String()
			t.Logf("%v, %d MB: %.100s", time.Since(begin).Round(time.Millisecond), p.megabytes("VmRSS"),
				text)
			if !strings.HasPrefix(text, "-OOM ") && !strings.Contains(text, "too large") &&
				!strings.Contains(text, "not enough memory") && name != "string.format" {
				t.Errorf("it was not stopped: %.200s", text)
			}
			if r, err := c.Do("PING"); err != nil || r.String() != "+PONG" {
				t.Fatalf("PING: %s %v", r, err)
			}
			if r, err := c.Do("FLUSHALL"); err != nil || r.String() != "+OK" {
				t.Fatalf("FLUSHALL: %s %v", r, err)
			}
		})
	}
	if shrink > 1 {
		return // the race detector's shadow memory counts, and is never returned
	}
	if peak := p.megabytes("VmHWM"); peak > 3*limitMB {
		t.Errorf("the process took %d MB, its limit is %d", peak, limitMB)
	}
	p.settles(t, limitMB/4)
}

// TestLargeRequestsEvictNoKeys: their garbage is not in use, and a request is in use for a moment
// only. Redis evicts no key here.
func TestLargeRequestsEvictNoKeys(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	const keys, large, room = 20_000, 8 << 20, 26 << 20
	p := startChild(t, 1024)
	c, err := wire.Dial(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetTimeout(slack(wire.DefaultTimeout))
	do := func(args ...string) string {
		t.Helper()
		r, err := c.Do(args...)
		if err != nil {
			t.Fatal(err)
		}
		return r.String()
	}
	_, text, _ := strings.Cut(do("INFO", "memory"), "used_memory:")
	used, err := strconv.Atoi(text[:strings.IndexByte(text, '\\')])
	if err != nil {
		t.Fatal(err)
	}
	do("CONFIG", "SET", "maxmemory", strconv.Itoa(used+room), "maxmemory-policy", "allkeys-lru")
	for i := range keys {
		do("SET", strconv.Itoa(i), strings.Repeat("x", 100))
	}
	value := strings.Repeat("x", large)
	for name, commands := range map[string][][]string{
		"ECHO":  {{"ECHO", value}},
		"EVAL":  {{"EVAL", "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('DEL', KEYS[1])", "1", "k", value}},
		"SET":   {{"SET", "k", value}, {"SET", "k", value}, {"DEL", "k"}},
		"HSET":  {{"HSET", "k", "f", value}, {"DEL", "k"}},
		"MULTI": {{"MULTI"}, {"SET", "k", value}, {"DEL", "k"}, {"EXEC"}},
	} {
		for range 20 {
			for _, command := range commands {
				if r := do(command...); r[0] == '-' {
					t.Fatalf("%s: %s", name, r)
				}
			}
		}
		if n := do("DBSIZE"); n != fmt.Sprint(":", keys) {
			t.Errorf("%s: %s keys are left of %d", name, n, keys)
		}
	}
}

// settles checks that the process returns the memory of the scripts.
func (p child) settles(t *testing.T, mb int) {
	t.Helper()
	eventually(t, 10*time.Second, func() string {
		c, err := wire.Dial(p.addr)
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		if r, err := c.Do("MEMORY", "PURGE"); err != nil || r.String() != "+OK" {
			return fmt.Sprint("MEMORY PURGE: ", r, err)
		}
		if now := p.megabytes("VmRSS"); now > mb {
			return fmt.Sprintf("%d MB are still held", now)
		}
		return ""
	})
}
