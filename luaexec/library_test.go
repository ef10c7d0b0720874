package luaexec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/resp"
)

// loadLibrary loads a library with this code behind its first line.
func loadLibrary(t *testing.T, r *Runtime, name, code string) {
	t.Helper()
	if text := tryLibrary(r, name, code, newFakeServer()); text != "" {
		t.Fatal(text)
	}
}

// tryLibrary loads a library, in the place of another one, and returns the error's text.
func tryLibrary(r *Runtime, name, code string, h Host) string {
	_, failure, ok := r.LoadLibrary([]byte("#!lua name="+name+"\n"+code), true, h)
	if ok {
		return ""
	}
	return failure.Text()
}

// fcall calls a function with one key and the arguments, and returns the reply in RESP2.
// Afterwards it overwrites the arguments, as a connection's buffer is.
func fcall(r *Runtime, name string, args ...string) string {
	return fcallOn(r, newFakeServer(), name, args...)
}

func fcallOn(r *Runtime, h Host, name string, args ...string) string {
	f, ok := r.Function([]byte(name))
	if !ok {
		return "no function " + name
	}
	keys, list := [][]byte{[]byte("key")}, make([][]byte, len(args))
	for i, a := range args {
		list[i] = []byte(a)
	}
	reply := string(resp.Append(nil, r.RunFunction(f, keys, list, h), 2))
	for _, b := range append(keys, list...) {
		copy(b, "????????")
	}
	return reply
}

func TestALibraryKeepsItsValuesFromCallToCall(t *testing.T) {
	r := New(Options{})
	loadLibrary(t, r, "lib", `
local kept, n, co = {}, 0
redis.register_function('keep', function(keys, args)
  kept[#kept + 1] = keys[1] .. '=' .. args[1]
  kept.keys, kept.args = keys, args
  return #kept
end)
redis.register_function('kept', function()
  return table.concat(kept, ' ') .. ' ' .. kept.keys[1] .. kept.args[1]
end)
redis.register_function('step', function()
  co = co or coroutine.wrap(function()
    for i = 1, 3 do coroutine.yield(i) end
    return coroutine.yield('last')
  end)
  return co('end')
end)
redis.register_function('next', function() n = n + 1 return n end)`)
	fcall(r, "keep", "first")
	fcall(r, "keep", "second")
	mustLoad(t, r, "return 1")
	r.Flush()
	if got, want := fcall(r, "KEPT"), "$30\r\nkey=first key=second keysecond\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, want := range []string{":1\r\n", ":2\r\n", ":3\r\n", "$4\r\nlast\r\n", "$3\r\nend\r\n"} {
		if got := fcall(r, "step"); got != want {
			t.Errorf("step %d: got %q, want %q", i, got, want)
		}
		if got, want := fcall(r, "next"), fmt.Sprintf(":%d\r\n", i+1); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestALibrarySurvivesFailures ends functions in every way, each time between two changes of
// a captured variable.
func TestALibrarySurvivesFailures(t *testing.T) {
	const code = `
local n, add = 0
redis.register_function('make', function()
  local v = n
  add = function() v = v + 1 n = v return v end
  add()
  %s
end)
redis.register_function('add', function() return add() end)`
	failures := []string{
		"error('x')", "error({err = 'E x'})", "while true do end",
		"pcall(function() while true do end end)",
		"coroutine.wrap(function() while true do end end)()", "local function f() return 1 + f() end f()",
		"coroutine.wrap(function() error('x') end)()", "redis.call('panic')",
		"pcall(redis.call, 'panic')", "string.rep('x', 1e9)",
	}
	if !redistest.Quick() {
		failures = append(failures,
			"local t = {} for i = 1, 1e6 do t[i] = {} end", "for i = 1, 1e5 do string.rep('x', i) end")
	}
	for _, failure := range failures {
		r := New(Options{Growth: func(uint64) uint64 { return 32 << 20 }, OnPanic: func(any, []byte) {}})
		loadLibrary(t, r, "lib", fmt.Sprintf(code, failure))
		server := &panickyServer{fakeServer: newFakeServer()}
		for i := range 3 {
			server.left = 200
			fcallOn(r, server, "make")
			server.left = 200
			if got, want := fcallOn(r, server, "add"), fmt.Sprintf(":%d\r\n", 2*i+2); got != want {
				t.Errorf("%s: call %d: got %q, want %q", failure, i, got, want)
			}
		}
	}
}

func TestAFunctionHasTheSameOperatorsAfterAKill(t *testing.T) {
	r := New(Options{})
	loadLibrary(t, r, "lib", `redis.register_function('loop', function() while true do end end)
redis.register_function('short', function(keys, args) local n = tonumber(args[1]) return tostring(n % (1/0)) .. 7 % n end)
redis.register_function('long', function(keys, args)
  local s = '' for i = args[1], '6' do s = s .. i end return s .. tostring(args[1] % (1/0)) end)`)
	server := &panickyServer{fakeServer: newFakeServer()}
	fcallOn(r, server, "loop")
	for name, want := range map[string]string{"short": "$5\r\n-nan2\r\n", "long": "$6\r\n56-nan\r\n"} {
		server.left = 200
		if got := fcallOn(r, server, name, "5"); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// panickyServer kills a script after some safe points, and has a command that panics.
type panickyServer struct {
	*fakeServer
	left int
}

func (s *panickyServer) Command(args resp.Args) resp.Reply {
	if args.String(0) == "panic" {
		panic("a bug")
	}
	return s.fakeServer.Command(args)
}

func (s *panickyServer) Tick() bool { s.left--; return s.left < 0 }

func TestLibrariesAndScriptsDoNotChangeEachOther(t *testing.T) {
	attempts := []string{
		"leak = 'seen'", "_G.leak = 'seen'", "rawset(_G, 'leak', 'seen')", "string.leak = 'seen'",
		"rawset(string, 'leak', 'seen')", "rawset(getmetatable(''), '__index', {leak = 'seen'})",
		"setmetatable(_G, {__index = {leak = 'seen'}})", "getmetatable(_G).__index = nil",
		"redis.leak = 'seen'",
		"rawset(kept, 'leak', 'seen')", "setmetatable(kept, nil)", "getmetatable(kept).__index = nil",
		"for k in pairs(_G) do pcall(rawset, _G, k, 'seen') end",
		"for k in pairs(redis) do pcall(rawset, redis, k, 'seen') end",
		"for k in pairs(kept) do pcall(rawset, kept, k, 'seen') end",
		"loadstring('leak = 1')()", "redis.setresp(3)", "table.insert(_G, 'seen')",
	}
	const probe = `function() return {
  tostring(rawget(_G, 'leak')), tostring(string.leak), type(redis.call),
  ('x'):upper(), type(redis.call('hgetall', 'h')), #_G, tostring(redis.register_function),
  tostring(pcall(function() return leak end))} end`
	want := ""
	for _, attempt := range append([]string{""}, attempts...) {
		r := New(Options{})
		loadLibrary(t, r, "bad", "local kept = redis "+
			"redis.register_function('bad', function() pcall(function() "+attempt+" end) end)")
		fcall(r, "bad")
		loadLibrary(t, r, "good", "redis.register_function('probe', "+probe+")")
		got := fcall(r, "probe") + answers(r, "return ("+probe+")()") + answers(r, "return pcall(error)")
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("after %s\n got %q\nwant %q", attempt, got, want)
		}
	}
}

func TestLoadingCodeEnds(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	const outOfMemory = "OOM script ended, it takes more memory than it may"
	const registered = " redis.register_function('f', function() end)"
	for code, want := range map[string]string{
		"while true do end":                                                  "ERR FUNCTION LOAD timeout",
		"local function f() return f() end f()":                              "ERR FUNCTION LOAD timeout",
		"local x = ('x'):rep(1e5):find(('x*'):rep(50) .. 'y')":               "ERR FUNCTION LOAD timeout",
		"local s = 'x' while true do s = s .. s end":                         outOfMemory,
		"local t = {} for i = 1, 1e9 do t[i] = {i} end":                      outOfMemory,
		"for i = 1, 1e9 do redis.register_function('f' .. i, redis.log) end": outOfMemory,
	} {
		r := New(Options{Growth: func(uint64) uint64 { return 32 << 20 }})
		loadLibrary(t, r, "lib",
			"local n = 0 redis.register_function('next', function() n = n + 1 return n end)")
		fcall(r, "next")
		server := newFakeServer()
		left := 20_000
		server.tick = func() bool { left--; return left < 0 }
		got := tryLibrary(r, "lib", code+registered, server)
		if got != "ERR Error registering functions: "+want {
			t.Errorf("%s: got %q", code, got)
		}
		if got := fcall(r, "next"); got != ":2\r\n" {
			t.Errorf("%s: the old library answers %q", code, got)
		}
	}
}

func TestALibraryMayHaveTenThousandFunctions(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	r := New(Options{})
	var code strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&code, "redis.register_function('f%d', function(keys, args) return %d end)\n", i, i)
	}
	loadLibrary(t, r, "many", code.String())
	loadLibrary(t, r, "loop",
		"for i = 1, 10000 do redis.register_function('g' .. i, function() return i end) end")
	libraries, callable, registered := r.FunctionCounts()
	if libraries != 2 || callable != 20_000 || registered != 20_000 {
		t.Errorf("%d libraries with %d and %d functions", libraries, callable, registered)
	}
	if got := fcall(r, "f9999") + fcall(r, "G10000"); got != ":9999\r\n:10000\r\n" {
		t.Errorf("got %q", got)
	}
	if !r.DeleteLibrary("many") || r.DeleteLibrary("many") || r.FunctionMemory() > 1<<21 {
		t.Errorf("after the deletion, %d bytes are used", r.FunctionMemory())
	}
	r.DeleteLibrary("loop")
	if r.FunctionMemory() != 0 || r.libs.vm != nil {
		t.Error("without libraries there is a Lua state")
	}
}

func TestARestoreAddsAllLibrariesOrNone(t *testing.T) {
	library := func(name, function string) string {
		return "#!lua name=" + name + "\nredis.register_function('" + function +
			"', function() return '" + name + "' end)"
	}
	for _, tc := range []struct {
		codes          []string
		replace, flush bool
		failure        string
		want           string // the libraries with their functions
	}{
		{nil, false, false, "", "a:f b:g"},
		{nil, false, true, "", ""},
		{[]string{library("c", "h")}, false, false, "", "a:f b:g c:h"},
		{[]string{library("c", "h")}, false, true, "", "c:h"},
		{[]string{library("a", "h")}, false, false, "ERR Library a already exists", "a:f b:g"},
		{[]string{library("a", "h")}, true, false, "", "a:h b:g"},
		{[]string{library("a", "g"), library("b", "f")}, true, false, "", "a:g b:f"},
		{[]string{library("a", "g")}, true, false, "ERR Function g already exists", "a:f b:g"},
		{[]string{library("c", "F")}, false, false, "ERR Function F already exists", "a:f b:g"},
		{[]string{library("c", "h"), library("d", "H")}, true, true,
			"ERR Function H already exists", "a:f b:g"},
		{[]string{library("c", "h"), library("c", "i")}, true, true,
			"ERR Library 'c' already exists", "a:f b:g"},
		{[]string{library("c", "h"), "x"}, true, true, "ERR Missing library metadata", "a:f b:g"},
	} {
		r := New(Options{})
		for _, code := range []string{library("a", "f"), library("b", "g")} {
			if _, failure, ok := r.LoadLibrary([]byte(code), false, newFakeServer()); !ok {
				t.Fatal(failure.Text())
			}
		}
		if got := restoreAll(r, tc.codes, tc.replace, tc.flush); got != tc.failure {
			t.Errorf("%q: got %q, want %q", tc.codes, got, tc.failure)
		}
		var got []string
		for _, l := range r.Libraries() {
			for _, f := range l.Functions() {
				got = append(got, l.Name()+":"+f.Name())
				if answer := fcall(r, f.Name()); answer != "$1\r\n"+l.Name()+"\r\n" {
					t.Errorf("%q: %s of %s answers %q", tc.codes, f.Name(), l.Name(), answer)
				}
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q: got %q, want %q", tc.codes, got, tc.want)
		}
		if len(r.libs.functions) != len(got) || len(got) == 0 != (r.FunctionMemory() == 0) {
			t.Errorf("%q: %d functions, %d bytes", tc.codes, len(r.libs.functions), r.FunctionMemory())
		}
	}
}

func restoreAll(r *Runtime, codes []string, replace, flush bool) (failure string) {
	restored := r.Restore()
	for _, code := range codes {
		if failure, ok := restored.Load(code, newFakeServer()); !ok {
			return failure.Text()
		}
	}
	if failure, ok := restored.Commit(replace, flush); !ok {
		return failure.Text()
	}
	return ""
}

func TestFunctionsThatMayRunLongPassSafePoints(t *testing.T) {
	for body, simple := range map[string]bool{
		"return 1": true,
		"if redis.call('exists', keys[1]) == 0 then redis.call('set', keys[1], args[1]) return nil end " +
			"return redis.call('pttl', keys[1])": true,
		"return #keys > 0 and args[1] or 'none'":    true,
		"while true do end":                         false,
		"repeat until false":                        false,
		"for i = 1, 1e9 do end":                     false,
		"for k in next, keys do end":                false,
		"return outer()":                            false,
		"return (function() end)()":                 false,
		"return loadstring('while true do end')":    false,
		"return _G":                                 false,
		"return load(error)":                        false,
		strings.Repeat("redis.call('ping') ", 1000): false,
	} {
		r := New(Options{})
		loadLibrary(t, r, "lib",
			"local outer redis.register_function('f', function(keys, args) "+body+" end)")
		if f, _ := r.Function([]byte("f")); f.simple != simple {
			t.Errorf("%.60s: simple is %t", body, f.simple)
		}
	}
}

func TestFunctionsThatCanBeKilledAre(t *testing.T) {
	for _, body := range []string{
		"while true do end", "pcall(function() while true do end end) while true do end",
		"local f f = function() return f() end return f()",
		"return ('x'):rep(100000):find(('x*'):rep(50) .. 'y')",
		"coroutine.wrap(function() while true do end end)()",
	} {
		r := New(Options{})
		loadLibrary(t, r, "lib", "redis.register_function('f', function() "+body+" end)")
		server := newFakeServer()
		left := 50
		server.tick = func() bool { left--; return left < 0 }
		const killed = "-ERR Script killed by user with SCRIPT KILL... script: f, on"
		if got := fcallOn(r, server, "f"); !strings.HasPrefix(got, killed) {
			t.Errorf("%s: got %q", body, got)
		}
	}
}

func TestACallOfASimpleFunctionDoesNotAllocate(t *testing.T) {
	r := New(Options{})
	loadLibrary(t, r, "lib", lockFunction)
	f, _ := r.Function([]byte("lock"))
	c := &cannedCaller{free: true}
	keys, args := [][]byte{[]byte("anyLock")}, [][]byte{[]byte("30000"), []byte("285475da:52")}
	if got := testing.AllocsPerRun(100, func() { r.RunFunction(f, keys, args, c) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
	name := []byte("LOCK")
	if got := testing.AllocsPerRun(100, func() { r.Function(name) }); got != 0 {
		t.Errorf("%v allocations for a name", got)
	}
}

func TestScriptsAndFunctionsShareARandomSequence(t *testing.T) {
	r := New(Options{})
	const draw = "return math.random(1000000)"
	loadLibrary(t, r, "lib", "redis.register_function('draw', function() "+draw+" end)")
	var got []string
	for range 2 {
		got = append(got, answers(r, draw), fcall(r, "draw"))
		r.Flush()
	}
	alone := New(Options{})
	var want []string
	for range 4 {
		want = append(want, answers(alone, draw))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// lockFunction is lockScript as a function.
var lockFunction = "redis.register_function('lock', function(KEYS, ARGV)" + lockScript + "\nend)"

func benchmarkFunction(b *testing.B, code string) {
	r := New(Options{})
	if text := tryLibrary(r, "lib", code, newFakeServer()); text != "" {
		b.Fatal(text)
	}
	c := &cannedCaller{free: true}
	keys := [][]byte{[]byte("anyLock")}
	args := [][]byte{[]byte("30000"), []byte("285475da-9152-4c83-822a-67ee2f116a79:52")}
	b.ReportAllocs()
	for b.Loop() {
		f, _ := r.Function([]byte("lock"))
		if reply := r.RunFunction(f, keys, args, c); reply.IsError() {
			b.Fatal(reply.Text())
		}
	}
}

func BenchmarkLockFunction(b *testing.B) { benchmarkFunction(b, lockFunction) }

// BenchmarkLockFunctionWithState is a function that could keep its arguments.
func BenchmarkLockFunctionWithState(b *testing.B) {
	benchmarkFunction(b,
		"local n = 0\n"+strings.Replace(lockFunction, "\nlocal free", "\nn = n + 1 local free", 1))
}
