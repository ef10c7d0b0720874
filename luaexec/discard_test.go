package luaexec

import "testing"

// redis.call converts its reply only if the script uses it, in any of these ways.
func TestAReplyIsConvertedWhenTheScriptUsesIt(t *testing.T) {
	for script, want := range map[string]string{
		`redis.call('set', 'k', 'v') return redis.call('get', 'k')`:                                                               "$1\r\nv\r\n",
		`return redis.call('set', 'k', 'v')`:                                                                                      "+OK\r\n",
		`return (redis.call('set', 'k', 'v'))`:                                                                                    "+OK\r\n",
		`local r = redis.call('set', 'k', 'v') return r.ok`:                                                                       "$2\r\nOK\r\n",
		`local a, b = redis.call('echo', 'x') return {a, b == nil}`:                                                               "*2\r\n$1\r\nx\r\n:1\r\n",
		`return {redis.call('echo', 'x'), redis.call('echo', 'y')}`:                                                               "*2\r\n$1\r\nx\r\n$1\r\ny\r\n",
		`return #redis.call('echo', 'xyz')`:                                                                                       ":3\r\n",
		`local function f(...) return select('#', ...) end return f(redis.call('echo', 'x'))`:                                     ":1\r\n",
		`if redis.call('echo', 'x') == 'x' then return 1 end`:                                                                     ":1\r\n",
		`local _, v = pcall(redis.call, 'echo', 'x') return v`:                                                                    "$1\r\nx\r\n",
		`pcall(redis.call, 'set', 'k', 'v') return redis.call('get', 'k')`:                                                        "$1\r\nv\r\n",
		`local ok, e = pcall(function() redis.call('get') end) return tostring(ok)`:                                               "$5\r\nfalse\r\n",
		`local co = coroutine.wrap(function(...) return redis.call(...) end) return co('echo', 'x')`:                              "$1\r\nx\r\n",
		`local f = coroutine.wrap(function() redis.call('set', 'k', 'v') coroutine.yield(redis.call('get', 'k')) end) return f()`: "$1\r\nv\r\n",
		`return setmetatable({}, {__index = function(_, k) return redis.call('echo', k) end}).x`:                                  "$1\r\nx\r\n",
		`for v in function(_, last) if not last then return redis.call('echo', 'x') end end do return v end`:                      "$1\r\nx\r\n",
		`for v in redis.call, 'echo', 'x' do return v end`:                                                                        "$1\r\nx\r\n",
		`return setmetatable({}, {__call = function(_, v) return redis.call('echo', v) end})('x')`:                                "$1\r\nx\r\n",
		`return setmetatable({}, {__concat = redis.call}) .. 'x'`:                                                                 "-ERR Lua redis lib command arguments must be strings or integers script: ",
		`local call = redis.call call('set', 'k', 'v') return call('get', 'k')`:                                                   "$1\r\nv\r\n",
		`redis.pcall('set', 'k', 'v') return redis.pcall('get', 'k')`:                                                             "$1\r\nv\r\n",
	} {
		got := answers(New(Options{}), script)
		if len(got) > len(want) && want[0] == '-' {
			got = got[:len(want)]
		}
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", script, got, want)
		}
	}
}
