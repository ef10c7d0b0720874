package luaexec

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/resp"
)

func mustLoad(t *testing.T, r *Runtime, script string) *Script {
	t.Helper()
	s, failure, ok := r.Load([]byte(script))
	if !ok {
		t.Fatal(failure.Text())
	}
	return s
}

// answers runs a script on a new fake server and returns its reply in RESP2.
func answers(r *Runtime, script string, args ...string) string {
	return string(eval(r, script, 2, newFakeServer(), args...))
}

func TestAScriptCannotChangeTheNextScriptsEnvironment(t *testing.T) {
	for _, attempt := range []string{
		`KEYS.x = 'seen'`, `ARGV.x = 'seen'`, `ARGV[9] = 'seen'`, `ARGV[1] = nil ARGV[3] = 'seen'`,
		`ARGV[5] = 1 ARGV[5] = nil`, `for i = 1, 500 do ARGV[i] = 'seen' end`,
		`setmetatable(ARGV, {__index = function() return 'seen' end})`,
		`setmetatable(KEYS, {__metatable = 'seen'})`, `table.remove(ARGV)`,
		`table.insert(ARGV, 'seen')`,
		`pcall(rawset, _G, 'leak', 'seen')`, `pcall(function() leak = 'seen' end)`,
		`pcall(function() string.leak = 'seen' end)`,
		`pcall(rawset, getmetatable(''), '__index', {leak = 'seen'})`,
		`pcall(setmetatable, _G, {__index = {leak = 'seen'}})`,
		`for k, v in pairs(_G) do pcall(rawset, _G, k, 'seen') end`,
		`for k, v in pairs(string) do pcall(rawset, string, k, 'seen') end`,
		`loadstring('pcall(rawset, _G, "leak", "seen")')()`,
		`redis.setresp(3)`, `error('boom')`, `error({err = 'E boom'})`,
		`local function f() return 1 + f() end f()`,
		`coroutine.wrap(function() coroutine.yield(1) end)()`,
		`coroutine.wrap(function() error('in') end)()`,
		`cjson.encode({1})`, `pcall(pcall, error)`, `xpcall(error, error)`,
	} {
		r := New(Options{})
		answers(r, attempt, "one", "two")
		const probe = `local n = 0
for k in pairs(ARGV) do n = n + 1 end for k in pairs(KEYS) do n = n + 1 end
return {#KEYS, #ARGV, n, ARGV[1], tostring(ARGV[2]), tostring(ARGV.x), tostring(rawget(_G, 'leak')),
  tostring(string.leak), tostring(getmetatable(ARGV)), tostring(redis.call('get', 'nokey')),
  type(string.upper), ('x'):upper()}`
		got := answers(r, probe, "first")
		want := answers(New(Options{}), probe, "first")
		if got != want {
			t.Errorf("after %s\n got %q\nwant %q", attempt, got, want)
		}
	}
}

func TestKeysAndArgumentsAreThoseOfTheRun(t *testing.T) {
	r := New(Options{})
	count := mustLoad(t, r, "return {#KEYS, #ARGV, KEYS[1] or 'none', ARGV[#ARGV] or 'none'}")
	list := func(n int) (out [][]byte) {
		for i := range n {
			out = append(out, fmt.Appendf(nil, "arg%d", i))
		}
		return out
	}
	for _, n := range []int{3, 0, 1, 1000, 2, 300, 0, 5} {
		got := string(resp.Append(nil, r.Run(count, list(n), list(n+1), newFakeServer()), 2))
		first := "none"
		if n > 0 {
			first = "arg0"
		}
		last := fmt.Sprintf("arg%d", n)
		want := fmt.Sprintf("*4\r\n:%d\r\n:%d\r\n$4\r\n%s\r\n$%d\r\n%s\r\n",
			n, n+1, first, len(last), last)
		if got != want {
			t.Fatalf("%d keys: got %q, want %q", n, got, want)
		}
	}
}

func TestTickEndsEveryLoopingScript(t *testing.T) {
	for _, script := range []string{
		"while true do end", "repeat until false", "for i = 1, math.huge do end",
		"while true do pcall(function() while true do end end) end",
		"local function f() return f() end f()",
		"coroutine.wrap(function() while true do end end)()",
		"table.sort({1, 2, 3}, function() while true do end end)",
		"string.gsub('abc', '.', function() while true do end end)",
		"while true do redis.pcall('get', 'x') end", "loadstring('while true do end')()",
		"_G['load' .. 'string']('while true do end')()",
		"xpcall(function() while true do end end, function(e) while true do end end)",
		"local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) " +
			"while true do pcall(function() return t[1] end) end",
		"for k in function() return 1 end do end", "for i = 1, 0, 0 do end",
		"local f = loadstring('local x ' .. ('x = 1 '):rep(2000)) while true do f() end",
	} {
		r := New(Options{})
		c := newFakeServer()
		ticks := 0
		c.tick = func() bool { ticks++; return ticks >= 3 }
		s := mustLoad(t, r, script)
		if !s.Loops() {
			t.Errorf("%s: Loops is false", script)
			continue
		}
		reply := r.Run(s, nil, nil, c).Text()
		want := errKilled + " script: " + s.SHA() + ", on "
		if !strings.HasPrefix(reply, want) {
			t.Errorf("%s: %q", script, reply)
		}
		if got := answers(r, "return 'alive'"); got != "$5\r\nalive\r\n" {
			t.Errorf("after %s: %q", script, got)
		}
	}
}

func TestLockScriptsRunWithoutSafePoints(t *testing.T) {
	r := New(Options{})
	if mustLoad(t, r, lockScript).Loops() {
		t.Error("Loops is true for a script without loops and functions")
	}
}

// panicCaller panics in every command.
type panicCaller struct{ *fakeServer }

func (panicCaller) Command(resp.Args) resp.Reply { panic("a bug") }

func TestAPanicReplacesTheState(t *testing.T) {
	r := New(Options{})
	for _, script := range []string{
		"return redis.call('x')", "return pcall(redis.call, 'x')", "return redis.pcall('x')",
	} {
		s := mustLoad(t, r, script)
		before := r.vm
		r.Run(s, nil, nil, panicCaller{newFakeServer()})
		if r.vm == before {
			t.Errorf("%s: the state was kept", script)
		}
		if got := answers(r, "return 1"); got != ":1\r\n" {
			t.Errorf("after %s: %q", script, got)
		}
	}
}

func TestRunInsideRunIsAnError(t *testing.T) {
	r := New(Options{})
	s := mustLoad(t, r, "return redis.call('again')")
	c := &againCaller{fakeServer: newFakeServer()}
	c.again = func() resp.Reply { return r.Run(s, nil, nil, c) }
	if reply := r.Run(s, nil, nil, c); !reply.IsError() {
		t.Error("a nested run was allowed")
	}
}

type againCaller struct {
	*fakeServer
	again func() resp.Reply
}

func (c *againCaller) Command(resp.Args) resp.Reply { return c.again() }

func TestSeveralGoroutinesUseOneStateInTurn(t *testing.T) {
	r := New(Options{})
	s := mustLoad(t, r, "local n = 0 for i = 1, 50 do n = n + i end return n .. ARGV[1]")
	for i := range 20 {
		done := make(chan string)
		go func() {
			reply := r.Run(s, nil, [][]byte{fmt.Append(nil, i)}, newFakeServer())
			done <- reply.Text()
		}()
		if got, want := <-done, fmt.Sprintf("1275%d", i); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestStringsAboveTheLimitAreErrors(t *testing.T) {
	for _, script := range []string{
		"return string.rep('x', 1e9)",
		"local s = string.rep('x', 1000) local t = {} for i = 1, 2000 do t[i] = s end " +
			"return table.concat(t)",
		"local s = 'x' while true do s = s .. s end",
		"local s = string.rep('x', 900000) return s .. s",
		"return string.format('%s%s', string.rep('x', 900000), string.rep('x', 900000))",
		"return load(function() return string.rep(' ', 1000000) end)()",
	} {
		r := New(Options{MaxString: 1 << 20})
		if got := answers(r, script); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("%s: %.80q", script, got)
		}
	}
}

func TestTheStateSurvivesEndlessRecursion(t *testing.T) {
	for _, script := range []string{
		"local function f() return 1 + f() end return f()",
		"local function f() return pcall(f) end return f()",
		"local t = setmetatable({}, {}) " +
			"getmetatable(t).__index = function(t, k) return t[k] end return t.x",
		"local t = setmetatable({}, {}) " +
			"getmetatable(t).__add = function(a, b) return a + b end return t + 1",
		"local function f() return string.gsub('x', 'x', f) end return f()",
		"local function f() table.sort({1, 2}, f) end return f()",
		"local function f() return coroutine.wrap(f)() end return f()",
		"local function f() return coroutine.resume(coroutine.create(f)) end return f()",
		"local function f() for i in f do end end return f()",
		"local t = setmetatable({}, {}) " +
			"getmetatable(t).__tostring = function(t) return tostring(t) end return tostring(t)",
		"local co co = coroutine.wrap(function() co() end) co()",
	} {
		r := New(Options{})
		answers(r, script)
		if got := answers(r, "return 'alive'"); got != "$5\r\nalive\r\n" {
			t.Errorf("after %s: %q", script, got)
		}
	}
}

func TestRepliesAreCopiedBeforeTheNextCommandChangesThem(t *testing.T) {
	r := New(Options{})
	buf := []byte("first")
	c := &bufferCaller{fakeServer: newFakeServer(), buf: buf}
	s := mustLoad(t, r, `local a = redis.call('x') local b = redis.call('x')
local e = redis.pcall('e') redis.call('x') return a .. b .. e.err`)
	if got := r.Run(s, nil, nil, c).Text(); got != "axxxxbxxxxcxxxx" {
		t.Errorf("got %q", got)
	}
}

// bufferCaller replies with one buffer, which every call changes.
type bufferCaller struct {
	*fakeServer
	buf []byte
	n   byte
}

func (c *bufferCaller) Command(args resp.Args) resp.Reply {
	copy(c.buf, bytes.Repeat([]byte("x"), len(c.buf)))
	c.buf[0] = 'a' + c.n
	c.n++
	if args.String(0) == "e" {
		return resp.Error(stringOf(c.buf))
	}
	return resp.Bulk(c.buf)
}

func TestNumbersReachCommandsAsRedisPrintsThem(t *testing.T) {
	r := New(Options{})
	got := answers(r, "return redis.call('echo', 123456789012345678)")
	if got != "$22\r\n1.2345678901234568e+17\r\n" {
		t.Errorf("got %q", got)
	}
}
