package luaexec

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/resp"
)

// canary returns a description of the whole environment. Its reply changes if
// another script has changed the environment. Only the settings of cjson and the
// random sequence may change, as in Redis.
const canary = `
local seen, list = {}, {}
local function walk(name, t, depth)
  if seen[t] or depth > 4 then return end
  seen[t] = true
  for k, v in pairs(t) do
    local at = name .. '.' .. tostring(k)
    list[#list + 1] = at .. ' ' .. type(v) ..
      (type(v) == 'string' and v or type(v) == 'number' and tostring(v) or '')
    if type(v) == 'table' then walk(at, v, depth + 1) end
  end
  if getmetatable(t) then list[#list + 1] = name .. ' has a metatable' end
end
walk('_G', _G, 0)
table.sort(list)
list[#list + 1] = type(getmetatable("")) .. tostring(pcall(error)) .. ("x"):upper() ..
  #KEYS .. #ARGV
list[#list + 1] = tostring(pcall(function() leak = 1 end)) .. tostring(rawget(_G, 'leak')) ..
  tostring(pcall(function() return leak end))
math.randomseed(7)
list[#list + 1] = math.random(1000000) .. ' ' .. tostring(redis.call('get', 'nokey')) .. ' ' ..
  coroutine.wrap(function() return 'co' end)()
list[#list + 1] = table.concat({10 % 3, 7 / 2, 2 ^ 0.5, -5 % 3, 1 .. 2, tostring(1e15),
  string.format('%d %s', 3, 'x')}, ' ')
list[#list + 1] = redis.call('set', 'k', 'v').ok .. type(redis.call('hgetall', 'h')) ..
  redis.sha1hex('')
return list`

// tickBudget is the number of safe points, about 1000 instructions apart, after
// which a script is killed.
const tickBudget = 20

var address = regexp.MustCompile(`0x[0-9a-f]+`)

// runFuzzed runs a script and kills it after tickBudget.
func runFuzzed(r *Runtime, source string, proto int) []byte {
	server, ticks := newFakeServer(), 0
	server.tick = func() bool { ticks++; return ticks > tickBudget }
	return address.ReplaceAll(eval(r, source, proto, server, "1", "two", "x\x00y"), nil)
}

// watch panics when a script still runs after half a minute. Seconds in which the
// process itself is stopped do not count.
func watch(done <-chan struct{}, source string) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for range 30 {
		select {
		case <-done:
			return
		case <-second.C:
		}
	}
	panic(fmt.Sprintf("script runs for 30 seconds: %q", source))
}

func FuzzScriptsDoNotChangeTheEnvironment(f *testing.F) {
	for _, s := range []string{
		"return {KEYS[1], ARGV[1], 1.5, true, false, {ok='x'}, {err='y'}}", "while true do end",
		"return redis.pcall('incr', 'x', {})",
		"local t = setmetatable({}, {__index = function(t, k) return k .. k end}) return t.a",
		"return cjson.encode({1, {a = cjson.null}})",
		"for k, v in pairs(_G) do pcall(rawset, _G, k, 'seen') end", "string.upper = nil",
		"KEYS = 1 ARGV[9] = 2 rawset(ARGV, 'x', 1)",
		"local co = coroutine.create(function(a) coroutine.yield(a) error('x') end) " +
			"coroutine.resume(co, 1) return {coroutine.resume(co)}",
		"local s = 'x' for i = 1, 40 do s = s .. s end return #s",
		"local function f() return f() end return f()", "local function f() return 1 + f() end f()",
		"redis.setresp(3) return {map = {a = 1}, double = 1.5}",
		"return {double = 0/0}, {set = {a = true}}, {big_number = '1\\r\\n'}",
		"return {verbatim_string = {format = 'txt', string = 'x'}}",
		"return loadstring('return ...')(1)", "return string.rep('x', 1e9)",
		"return ('a'):rep(30):find(('a*'):rep(30) .. 'b')", "error({err = 'E x'})", "error(nil)",
		"return table.sort({3, 1, 2}, function() return true end)",
		"t = {} t[1e7] = 1 return #t", "return unpack({}, 1, 1e6)",
		"return select('#', unpack({}, 1, 200))",
		"setmetatable(_G, nil) setfenv(1, {}) return getfenv(0)",
		"#!lua flags=no-writes\nreturn redis.call('set', 'a', 'b')", "getmetatable('').__index = nil",
		"return cmsgpack.unpack(cmsgpack.pack({1, 2, a = {}}))", "local t = {} t[1] = t return t",
		"for i = 1, 3 do local function g() return i end i = g() end return tostring(nil) .. -2 ^ 2",
		"return xpcall(function() error('in') end, function(e) return error(e) end)",
	} {
		f.Add(s)
	}
	opts := Options{MaxString: 1 << 16}
	clean := eval(New(opts), canary, 2, newFakeServer())
	if !bytes.HasPrefix(clean, []byte("*")) {
		f.Fatalf("canary: got %s", clean)
	}
	clean = address.ReplaceAll(clean, nil)
	r := New(opts)
	f.Fuzz(func(t *testing.T, source string) {
		if strings.Contains(source, "cjson") && strings.Contains(source, "_") {
			return // encode_max_depth and the like last, as in Redis
		}
		done := make(chan struct{})
		defer close(done)
		go watch(done, source)
		reply := runFuzzed(r, source, 2)
		if bytes.HasPrefix(reply, []byte("-ERR internal error")) {
			t.Fatalf("%s: got %s", source, reply)
		}
		if !bytes.HasSuffix(reply, []byte("\r\n")) || !strings.Contains("+-:$*", string(reply[:1])) {
			t.Fatalf("%s: got %q in RESP2", source, reply)
		}
		if reply := runFuzzed(r, source, 3); !bytes.HasSuffix(reply, []byte("\r\n")) {
			t.Fatalf("%s: got %q in RESP3", source, reply)
		}
		got := address.ReplaceAll(eval(r, canary, 2, newFakeServer()), nil)
		if !bytes.Equal(got, clean) {
			t.Fatalf("after %s the environment is\n%s\nbefore it was\n%s", source, got, clean)
		}
		if r.Len() > 1000 {
			r.Flush()
		}
	})
}

// FuzzLibrariesDoNotChangeTheEnvironment loads a library, calls its functions, and loads it
// again. The functions of another library, and scripts, must not notice.
func FuzzLibrariesDoNotChangeTheEnvironment(f *testing.F) {
	for _, code := range []string{
		"redis.register_function('f', function(keys, args) return {keys, args} end)",
		"redis.register_function{function_name='f', callback=function() x = 1 end, flags={'no-writes'}}",
		"local r = redis redis.register_function('f', function() r.x = 1 return r.call('get', 'k') end)",
		"local co redis.register_function('f', function() " +
			"co = co or coroutine.wrap(function() while true do coroutine.yield(1) end end) return co() end)",
		"local t = {} redis.register_function('f', function(k, a) t[#t + 1] = k t[a] = t return #t end)",
		"while true do end", "x = 1", "return pairs", "redis.register_function()",
		"for i = 1, 50 do redis.register_function('f' .. i, redis.log) end",
		"redis.register_function('f', function() getmetatable('').__index = nil " +
			"setmetatable(_G, {}) error({err='x'}) end)",
	} {
		f.Add("#!lua name=lib\n" + code)
	}
	f.Add("#!lua name=a name=b\n")
	f.Add("#!js name='a'\n\x00")
	const other = "#!lua name=other\n" +
		"redis.register_function('canary', function(KEYS, ARGV)" + canary + "\nend)"
	call := func(r *Runtime, name string) []byte {
		found, ok := r.Function([]byte(name))
		if !ok {
			return nil
		}
		server, ticks := newFakeServer(), 0
		server.tick = func() bool { ticks++; return ticks > tickBudget }
		reply := r.RunFunction(found, [][]byte{[]byte("k")}, [][]byte{[]byte("a")}, server)
		return address.ReplaceAll(resp.Append(nil, reply, 2), nil)
	}
	start := func() *Runtime {
		r := New(Options{Growth: func(uint64) uint64 { return 64 << 20 }, MaxString: 1 << 20})
		r.LoadLibrary([]byte(other), false, newFakeServer())
		return r
	}
	want := call(start(), "canary")
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 1<<12 || strings.Contains(code, "encode_") || strings.Contains(code, "decode_") ||
			strings.Contains(code, "other") {
			t.Skip()
		}
		done := make(chan struct{})
		defer close(done)
		go watch(done, code)
		r := start()
		for range 2 {
			server, ticks := newFakeServer(), 0
			server.tick = func() bool { ticks++; return ticks > tickBudget }
			_, failure, ok := r.LoadLibrary([]byte(code), true, server)
			if !ok && !strings.HasPrefix(failure.Text(), "ERR ") {
				t.Fatalf("%q: %q", code, failure.Text())
			}
			for _, l := range r.Libraries() {
				for _, f := range l.Functions() {
					call(r, f.Name())
				}
			}
			if got := call(r, "canary"); !bytes.Equal(got, want) {
				t.Fatalf("after %q\n got %q\nwant %q", code, got, want)
			}
		}
	})
}
