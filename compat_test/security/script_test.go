package security

import (
	"os"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
)

// testdata/reachable.txt lists what a script can reach in redis-server. No entry gives
// access to files, processes, the network or Lua's internals.
func TestScriptsReachTheSameGlobalsAsInRedis(t *testing.T) {
	walk, want := read(t, "testdata/walk.lua"), strings.TrimSpace(read(t, "testdata/reachable.txt"))
	onBoth(t, nil, func(t *testing.T, addr string) {
		v, err := redistest.Dial(t, addr).Do("EVAL", walk, "0")
		if err != nil || v.IsError() {
			t.Fatalf("%s %v", v, err)
		}
		got := string(v.Str)
		for _, line := range lines(got, want) {
			t.Errorf("a script reaches %q, which testdata/reachable.txt does not have", line)
		}
		for _, line := range lines(want, got) {
			t.Errorf("testdata/reachable.txt has %q, which a script does not reach", line)
		}
	})
}

// lines returns the lines of a that are not in b.
func lines(a, b string) (missing []string) {
	has := map[string]bool{}
	for line := range strings.Lines(b) {
		has[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(a) {
		if line = strings.TrimSpace(line); !has[line] {
			missing = append(missing, line)
		}
	}
	return missing
}

func TestScriptsCannotLeaveTheirSandbox(t *testing.T) {
	const nonexistent, readonly, notAllowed = "attempted to access nonexistent global variable",
		"Attempt to modify a readonly table",
		"This Redis command is not allowed from script"
	onBoth(t, nil, func(t *testing.T, addr string) {
		c := redistest.Dial(t, addr)
		for script, want := range map[string]string{
			"return os.execute('true')":                         nonexistent,
			"return io.open('/etc/passwd')":                     nonexistent,
			"return debug.getinfo(1)":                           nonexistent,
			"return package.loadlib('libc.so.6', 'system')":     nonexistent,
			"return require('os')":                              nonexistent,
			"return dofile('/etc/passwd')":                      nonexistent,
			"return loadfile('/etc/passwd')":                    nonexistent,
			"return module('x')":                                nonexistent,
			"return newproxy(true)":                             nonexistent,
			"return getfenv(0)":                                 nonexistent,
			"return setfenv(1, {})":                             nonexistent,
			"return print('x')":                                 nonexistent,
			"return loadstring('return os.execute')()":          nonexistent,
			"return coroutine.wrap(function() return os end)()": nonexistent,
			"x = 1":                                  readonly,
			"_G.x = 1":                               readonly,
			"rawset(_G, 'x', 1)":                     readonly,
			"table.insert(_G, 1)":                    readonly,
			"loadstring('x = 1')()":                  readonly,
			"setmetatable(_G, {})":                   readonly,
			"setmetatable(string, {})":               readonly,
			"getmetatable(_G).__index = nil":         readonly,
			"getmetatable('').__index = {}":          readonly,
			"getmetatable('').__index.x = 1":         readonly,
			"redis.call = nil":                       readonly,
			"rawset(redis, 'call', nil)":             readonly,
			"cjson.encode = nil":                     readonly,
			"pcall = nil":                            readonly,
			"KEYS = nil":                             readonly,
			"return tostring(loadstring('\\27Lua'))": "$3\r\nnil\r\n",
			"local n = 0 return tostring((load(function() n = n + 1 if n == 1 then return '\\27Lua' end end)))": "$3\r\nnil\r\n",
			"return tostring(rawget(_G, 'os'))":              "$3\r\nnil\r\n",
			"return redis.call('CONFIG', 'SET', 'dir', '/')": notAllowed,
			"return redis.call('CONFIG', 'REWRITE')":         notAllowed,
			"return redis.call('DEBUG', 'SLEEP', '0')":       notAllowed,
			"return redis.call('SHUTDOWN', 'NOSAVE')":        notAllowed,
			"return redis.call('SAVE')":                      notAllowed,
			"return redis.call('AUTH', 'x')":                 notAllowed,
			"return redis.call('EVAL', 'return 1', '0')":     notAllowed,
		} {
			v, err := c.Do("EVAL", script, "0")
			if err != nil || !has(string(v.Raw), want) {
				t.Errorf("%s: %s %v", script, v, err)
			}
		}
	})
}

func TestByteCodeIsNeitherProducedNorRun(t *testing.T) {
	const script = "local ok, code = pcall(string.dump, function() return 1 end) return ok and loadstring(code) and 'it runs' or 'refused'"
	onBoth(t, nil, func(t *testing.T, addr string) {
		if got := ask(t, redistest.Dial(t, addr), `EVAL "`+script+`" 0`); got != "$7\r\nrefused\r\n" {
			t.Error(got)
		}
	})
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
