package abuse

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// endless are scripts that never end by themselves.
var endless = map[string]string{
	"an empty loop":              `while true do end`,
	"a loop in pcall":            `while true do pcall(function() while true do end end) end`,
	"pcall that catches itself":  `local function f() pcall(f) f() end while true do pcall(f) end`,
	"xpcall with a bad handler":  `local function h() error('x') end while true do xpcall(error, h) end`,
	"recursion in tail position": `local function f() return f() end f()`,
	"goto by recursion":          `local function f(n) if n > 1000 then return end f(n+1) end while true do f(0) end`,
	"an error that is caught":    `while true do pcall(error, {err='x'}) end`,
	"redis.call that fails":      `while true do redis.pcall('NOPE') end`,
	"redis.call that works":      `while true do redis.call('GET', 'k') end`,
	"coroutines":                 `while true do local c = coroutine.wrap(function() coroutine.yield(1) end) c() c() end`,
	"a coroutine that loops":     `coroutine.wrap(function() while true do end end)()`,
	"a coroutine in pcall":       `while true do pcall(coroutine.wrap(function() while true do end end)) end`,
	"__index":                    `local t = {} setmetatable(t, {__index=function(t, k) return t[k+1] end}) while true do pcall(function() return t[1] end) end`,
	"__eq":                       `local m m = {__eq=function(a, b) while true do end end} return setmetatable({}, m) == setmetatable({}, m)`,
	"__concat":                   `local m = {} m.__concat=function(a, b) return a .. b end while true do pcall(function() return setmetatable({}, m) .. 'x' end) end`,
	"an iterator":                `for _ in function() return 1 end do end`,
	"sort's order":               `while true do local t = {} for i = 1, 100 do t[i] = i end pcall(table.sort, t, function() return true end) end`,
	"sort with a loop inside":    `table.sort({3, 2, 1}, function() while true do end end)`,
	"gsub with a loop inside":    `string.gsub('abc', '.', function() while true do end end)`,
	"foreach with a loop inside": `table.foreach({1}, function() while true do end end)`,
	"gmatch that finds nothing":  `while true do for w in string.gmatch('abc', '()') do end end`,
	"load with endless source":   `load(function() return ' ' end)`,
	"loadstring in a loop":       `while true do loadstring('return 1')() end`,
	"loadstring with a loop":     `loadstring('while true do end')()`,
	"a numeric for":              `for i = 1, math.huge do end`,
	"a for of step nothing":      `for i = 1, 2, 0 do end while true do end`,
	"repeat":                     `repeat until false`,
	"a pattern":                  `string.find(string.rep('a', 300000), '.-.-.-.-.-b')`,
	"a pattern with captures":    `string.find(string.rep('a', 300000), '(a*)(a*)(a*)(a*)(a*)b')`,
	"a greedy pattern in gsub":   `string.gsub(string.rep('a', 300000), 'a*a*a*a*b', '')`,
	"a pattern in gmatch":        `for w in string.gmatch(string.rep('a', 300000), 'a-a-a-b') do end`,
	"balanced brackets":          `string.find(string.rep('(', 300000), '%b()%b()') while true do string.match(string.rep('(', 3000), '%b()') end`,
	"a frontier":                 `while true do string.find(string.rep('a', 3000), '%f[b].-%f[c]') end`,
	"a long class in a pattern":  `string.find(string.rep('a', 1e5), '[' .. string.rep('b', 1e5) .. ']')`,
	"a long class, repeated":     `string.find(string.rep('a', 1e6), '[' .. string.rep('b', 1e4) .. 'a]*b')`,
	"a big unpack":               `local t = {} for i = 1, 7000 do t[i] = i end while true do select('#', unpack(t)) end`,
	"table.concat":               `local t = {} for i = 1, 1000 do t[i] = 'x' end while true do table.concat(t) end`,
	"cjson":                      `local t = {} for i = 1, 1000 do t[i] = i end while true do cjson.decode(cjson.encode(t)) end`,
	"table.insert in front":      `local t = {} for i = 1, 10000 do t[i] = i end while true do table.insert(t, 1, 1) table.remove(t, 1) end`,
	"table.insert far in front":  `while true do table.insert({}, -1000000, 1) end`,
	"a SORT by a missing key":    `redis.call('DEL', 'l') while true do redis.call('SORT', 'l', 'BY', 'x*') end`,
}

// writes names the endless scripts that write. SCRIPT KILL refuses them.
func writes(name string) bool { return strings.Contains(endless[name], "'DEL'") }

// waitBusy returns when the server answers -BUSY to other clients.
func (v *victim) waitBusy(c *wire.Conn) {
	v.t.Helper()
	eventually(v.t, 3*time.Second, func() string {
		if r := v.do(c, "PING").String(); !strings.HasPrefix(r, "-BUSY") {
			return "no BUSY but " + r
		}
		return ""
	})
}

func TestScriptKillEndsEveryEndlessScript(t *testing.T) {
	for name, body := range endless {
		if writes(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			v := attack(t, map[string]string{"busy-reply-threshold": "10"})
			runner, other := v.dial(), v.dial()
			other.SetTimeout(slack(2 * time.Second))
			if err := runner.Send("EVAL", body, "0"); err != nil {
				t.Fatal(err)
			}
			v.waitBusy(other)
			v.want(other, "+OK", "SCRIPT", "KILL")
			r, err := runner.ReceiveWithin(slack(2 * time.Second))
			if err != nil || !strings.HasPrefix(r.String(),
				"-ERR Script killed by user with SCRIPT KILL...") {
				t.Fatalf("%s %v", r, err)
			}
			v.want(runner, ":3", "EVAL", "return 1 + 2", "0")
			v.alive()
		})
	}
}

func TestCloseEndsEveryEndlessScript(t *testing.T) {
	redistest.SkipWhenQuick(t)
	for name, body := range endless {
		t.Run(name, func(t *testing.T) {
			v := attack(t, map[string]string{"busy-reply-threshold": "10"})
			runner, other := v.dial(), v.dial()
			other.SetTimeout(slack(2 * time.Second))
			if err := runner.Send("EVAL", body, "0"); err != nil {
				t.Fatal(err)
			}
			v.waitBusy(other)
			v.close()
		})
	}
}

func TestScriptThatHasWrittenEndsOnlyByShutdown(t *testing.T) {
	v := attack(t, map[string]string{"busy-reply-threshold": "10"})
	runner, other := v.dial(), v.dial()
	for reply := "+OK"; reply == "+OK"; { // until the script had written when it was killed
		send(t, runner, "EVAL", "redis.call('SET', 'k', 'v') while true do end", "0")
		v.waitBusy(other)
		reply = v.do(other, "SCRIPT", "KILL").String()
		if reply == "+OK" {
			if _, err := runner.Receive(); err != nil {
				t.Fatal(err)
			}
		} else if !strings.HasPrefix(reply, "-UNKILLABLE ") {
			t.Errorf("SCRIPT KILL: %s", reply)
		}
	}
	if err := other.Send("SHUTDOWN", "NOSAVE"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-v.srv.Done():
	case <-time.After(slack(2 * time.Second)):
		t.Error("SHUTDOWN NOSAVE did not end the server")
	}
}

// bombs are scripts that need much depth, memory or both. Any answer is right if it comes
// soon and the server stays healthy.
var bombs = map[string]string{
	"nested tables":              `local s = 'return ' .. string.rep('{', 200000) return loadstring(s)`,
	"nested parentheses":         `return loadstring('return ' .. string.rep('(', 200000) .. '1' .. string.rep(')', 200000))`,
	"nested functions":           `return loadstring(string.rep('function() ', 100000))`,
	"nested function values":     `return loadstring(string.rep('return function() ', 100000) .. string.rep(' end', 100000))`,
	"nested blocks":              `return loadstring(string.rep('do ', 200000) .. string.rep(' end', 200000))`,
	"nested ifs":                 `return loadstring(string.rep('if 1 then ', 100000) .. string.rep(' end', 100000))`,
	"nested elseifs":             `return loadstring('if 1 then ' .. string.rep('elseif 1 then ', 100000) .. ' end')`,
	"nested calls":               `return loadstring('return ' .. string.rep('f(', 100000) .. string.rep(')', 100000))`,
	"nested indexes":             `return loadstring('return ' .. string.rep('a[', 100000) .. '1' .. string.rep(']', 100000))`,
	"a chain of indexes":         `return loadstring('return a' .. string.rep('.b', 500000))`,
	"a chain of calls":           `return loadstring('return a' .. string.rep('()', 500000))`,
	"long brackets":              `return loadstring('return [' .. string.rep('=', 1000000) .. '[x')`,
	"a long name":                `return loadstring('local ' .. string.rep('x', 10000000) .. ' = 1')`,
	"many locals":                `local t = {} for i = 1, 100000 do t[i] = 'local a' .. i .. '=1' end return loadstring(table.concat(t, '\n'))`,
	"many locals in one":         `local t = {} for i = 1, 100000 do t[i] = 'a' .. i end return loadstring('local ' .. table.concat(t, ','))`,
	"many parameters":            `local t = {} for i = 1, 100000 do t[i] = 'a' .. i end return loadstring('return function(' .. table.concat(t, ',') .. ') end')`,
	"many arguments":             `return loadstring('return f(' .. string.rep('1,', 100000) .. '1)')`,
	"many targets":               `return loadstring(string.rep('a,', 100000) .. 'a = 1')`,
	"many upvalues":              `local t, u = {}, {} for i = 1, 190 do t[i] = 'local a' .. i .. '=1' u[i] = 'a' .. i end return loadstring(table.concat(t, '\n') .. ' return function() return ' .. table.concat(u, '+') .. ' end')`,
	"many returns":               `return loadstring('return ' .. string.rep('1,', 300000) .. '1')`,
	"string.rep":                 `return #string.rep('x', 1e15)`,
	"string.rep of much":         `return #string.rep(string.rep('x', 1e6), 1e6)`,
	"string.rep of nothing":      `return #string.rep('', 2^53)`,
	"string.rep of less":         `return #string.rep('x', -2^53)`,
	"string.format's width":      `return string.format('%999999999d', 1)`,
	"string.format of much":      `return string.format(string.rep('%99d', 1000), unpack({}))`,
	"table.concat of much":       `local t, s = {}, string.rep('x', 1e6) for i = 1, 10000 do t[i] = s end return #table.concat(t)`,
	"table.concat's separator":   `local t, s = {}, string.rep('x', 1e6) for i = 1, 10000 do t[i] = '' end return #table.concat(t, s)`,
	"table.concat from far":      `return table.concat({}, '', -2^31, 2^31)`,
	"string.byte of much":        `return string.byte(string.rep('x', 1e7), 1, -1)`,
	"string.char of much":        `return string.char(unpack({}, 1, 1e7))`,
	"unpack of much":             `return unpack({}, 1, 1e8)`,
	"unpack at the ends":         `return unpack({}, -2^31, 2^31)`,
	"unpack of all integers":     `return unpack({}, -2^53, 2^53)`,
	"select far":                 `return select(-2^31, 1)`,
	"table.maxn":                 `local t = {} t[1e300] = 1 return table.maxn(t)`,
	"table.remove far":           `return table.remove({1}, 2^31)`,
	"deep recursion":             `local function f(n) return 1 + f(n + 1) end return f(1)`,
	"deep recursion in pcall":    `local function f() return pcall(f) end return f()`,
	"deep recursion by gsub":     `local function f() return (string.gsub('a', 'a', f)) end return f()`,
	"deep recursion by sort":     `local function f() table.sort({2, 1}, f) end return f()`,
	"deep recursion by tostring": `local t = setmetatable({}, {}) getmetatable(t).__tostring = function(t) return tostring(t) end return tostring(t)`,
	"deep recursion by call":     `local t = setmetatable({}, {}) getmetatable(t).__call = t return t()`,
	"deep recursion by index":    `local t = {} for i = 1, 100000 do t = setmetatable({}, {__index = t}) end return t.x`,
	"index that is itself":       `local t = {} setmetatable(t, {__index = t}) return t.x`,
	"newindex that is itself":    `local t = {} setmetatable(t, {__newindex = t}) t.x = 1`,
	"deep recursion by load":     `local function f() return load(f) end return f()`,
	"deep coroutines":            `local function f() return coroutine.wrap(f)() end return f()`,
	"a coroutine that is itself": `local c c = coroutine.wrap(function() c() end) c()`,
	"a cyclic table":             `local t = {} t[1] = t return t`,
	"a cyclic map":               `redis.setresp(3) local t = {} t.map = {a = t} return t`,
	"a cyclic set":               `redis.setresp(3) local t = {} t.set = {[t] = true} return t`,
	"a deep table":               `local t = {} for i = 1, 100000 do t = {t} end return t`,
	"an error that is a table":   `error({})`,
	"an error that is cyclic":    `local t = {} t.err = t error(t)`,
	"an error that is nil":       `error(nil)`,
	"an error that is nothing":   `error()`,
	"an error that is a boolean": `error(true)`,
	"an error that is a number":  `error(0/0)`,
	"an error that is a thread":  `error(coroutine.create(function() end))`,
	"an error that is a library": `error(redis)`,
	"an error that is _G":        `error(_G)`,
	"an error with a metatable":  `error(setmetatable({}, {__index = function() error({}) end, __tostring = error}))`,
	"an error of many lines":     `error(string.rep('x\r\n', 1e5))`,
	"an error with NULs":         `error({err = 'a\0b\r\n:1'})`,
	"an err that is a number":    `return {err = 1, ok = 2}`,
	"a status of many lines":     `return {ok = string.rep('x\r\n+', 1e5)}`,
	"a double that is none":      `return {double = 0/0}`,
	"a big number that is none":  `redis.setresp(3) return {big_number = 'x\r\n:1\r\n'}`,
	"a verbatim without format":  `return {verbatim_string = {string = 'x', format = ''}}`,
	"a verbatim of a table":      `return {verbatim_string = {string = {}, format = {}}}`,
	"a reply that is a function": `return {print, function() end, coroutine.create(function() end), _G, redis}`,
	"_G":                         `return _G`,
	"cjson of depth":             `local t = {} for i = 1, 100000 do t = {t} end return cjson.encode(t)`,
	"cjson of a cycle":           `local t = {} t[1] = t return cjson.encode(t)`,
	"cjson's depth unbound":      `cjson.encode_max_depth(2^31 - 1) local t = {} t[1] = t return pcall(cjson.encode, t)`,
	"cjson decode of depth":      `return cjson.decode(string.rep('[', 1e6))`,
	"cjson decode of objects":    `return cjson.decode(string.rep('{"a":', 1e6))`,
	"cjson decode of numbers":    `return cjson.decode('[' .. string.rep('9', 1e6) .. ',1e999999,-1e-99999]')`,
	"cjson decode of escapes":    `return pcall(cjson.decode, '["\\ud800\\udc00\\ud800\\uZZZZ"]')`,
	"cmsgpack of depth":          `local t = {} for i = 1, 100000 do t = {t} end return cmsgpack.pack(t)`,
	"cmsgpack of a cycle":        `local t = {} t[1] = t return cmsgpack.pack(t)`,
	"cmsgpack's array32":         `return pcall(cmsgpack.unpack, '\221\255\255\255\255')`,
	"cmsgpack's map32":           `return pcall(cmsgpack.unpack, '\223\255\255\255\255')`,
	"cmsgpack's str32":           `return pcall(cmsgpack.unpack, '\219\255\255\255\255')`,
	"cmsgpack unpack of depth":   `return pcall(cmsgpack.unpack, string.rep('\145', 1e6))`,
	"cmsgpack unpack of maps":    `return pcall(cmsgpack.unpack, string.rep('\129', 1e6))`,
	"cmsgpack's array32s":        `return pcall(cmsgpack.unpack, string.rep('\221\0\255\255\255', 1e5))`,
	"cmsgpack of many values":    `return pcall(cmsgpack.unpack, string.rep('\1', 1e6))`,
	"cmsgpack limits":            `return pcall(cmsgpack.unpack_limit, string.rep('\1', 100), -2^31, 2^31)`,
	"struct of much":             `return pcall(struct.pack, '!32768c999999999', 'x')`,
	"struct of padding":          `return pcall(struct.pack, string.rep('x', 1e6))`,
	"struct of sizes":            `return pcall(struct.pack, 'i99999999999999999999', 1)`,
	"struct.unpack far":          `return pcall(struct.unpack, 'i4', 'abcd', 2^31)`,
	"struct.unpack before":       `return pcall(struct.unpack, 'i4', 'abcd', -2^31)`,
	"struct.unpack of c0":        `return pcall(struct.unpack, 'Lc0', string.rep('\255', 8))`,
	"struct.size":                `return pcall(struct.size, string.rep('c2147483647', 10))`,
	"bit at the ends":            `return {bit.lshift(1, 2^31), bit.tohex(1, -2^31), bit.bnot(0/0), bit.rol(2^53, -1)}`,
	"math.random at the ends":    `return {pcall(math.random, 2^53), pcall(math.random, -2^31, 2^31), pcall(math.random, 0)}`,
	"a pattern of captures":      `return pcall(string.find, 'x', string.rep('(', 1e6))`,
	"a pattern of depth":         `return pcall(string.find, string.rep('a', 1e6), string.rep('a?', 1e6))`,
	"a pattern without end":      `return pcall(string.find, 'x', '[') or pcall(string.find, 'x', '%') or pcall(string.find, 'x', '%b') or pcall(string.find, 'x', '%f')`,
	"redis.call of much":         `local t = {} for i = 1, 7000 do t[i] = string.rep('x', 1000) end return redis.call('RPUSH', unpack(t))`,
	"redis.call of nothing":      `return redis.pcall()`,
	"redis.call of a table":      `return redis.pcall({}, {})`,
	"redis.call of EVAL":         `return redis.pcall('EVAL', 'return 1', 0)`,
	"redis.call of SHUTDOWN":     `return redis.pcall('SHUTDOWN')`,
	"tostring of all":            `return {tostring(nil), tostring(0/0), tostring(print), tostring(_G), tostring(coroutine.create(print))}`,
	"tonumber of much":           `return tonumber(string.rep('9', 1e7))`,
	"tonumber of bases":          `return {pcall(tonumber, string.rep('z', 1e6), 36), pcall(tonumber, '1', 2^31), pcall(tonumber, '1', -1)}`,
	"setmetatable on all":        `return {pcall(setmetatable, _G, {}), pcall(setmetatable, '', {}), pcall(setmetatable, redis, nil), pcall(rawset, _G, 'x', 1)}`,
}

// heavyBombs take seconds or gigabytes before the server stops them. Only the long mode
// runs them.
var heavyBombs = map[string]string{
	"many coroutines":            `local t = {} for i = 1, 20000 do t[i] = coroutine.create(function() coroutine.yield() end) coroutine.resume(t[i]) end return #t`,
	"nested not":                 `return loadstring('return ' .. string.rep('not ', 2000000) .. '1')`,
	"nested minus":               `return loadstring('return ' .. string.rep('- ', 2000000) .. '1')`,
	"nested power":               `return loadstring('return ' .. string.rep('2^', 500000) .. '1')`,
	"nested concat":              `return loadstring('return ' .. string.rep('1 ..', 500000) .. '1')`,
	"a chain of and":             `return loadstring('return ' .. string.rep('1 and ', 500000) .. '1')`,
	"a chain of plus":            `return loadstring('return ' .. string.rep('a+', 500000) .. '1')`,
	"many constants":             `local t = {} for i = 1, 300000 do t[i] = i + 0.5 end return loadstring('return {' .. table.concat(t, ',') .. '}')`,
	"many strings":               `local t = {} for i = 1, 300000 do t[i] = '"s' .. i .. '"' end return loadstring('return {' .. table.concat(t, ',') .. '}')`,
	"many fields":                `local t = {} for i = 1, 300000 do t[i] = 'a' .. i .. '=1' end return loadstring('return {' .. table.concat(t, ',') .. '}')`,
	"many functions":             `return loadstring(string.rep('f(function() end) ', 30000))`,
	"a long function":            `return loadstring(string.rep('a = 1 ', 500000))`,
	"a long loop":                `return loadstring('while x do ' .. string.rep('a = 1 ', 300000) .. ' end')`,
	"string.format of strings":   `local s = string.rep('x', 1e7) return #string.format(string.rep('%s', 1000), unpack((function() local t = {} for i = 1, 1000 do t[i] = s end return t end)()))`,
	"string.format's q":          `return #string.format('%q', string.rep('\0', 1e7))`,
	"doubling":                   `local s = 'x' for i = 1, 60 do s = s .. s end return #s`,
	"doubling by three":          `local s = 'x' for i = 1, 60 do s = s .. s .. s end return #s`,
	"gsub that grows":            `local s = string.rep('x', 1e6) return #string.gsub(s, 'x', s)`,
	"gsub that grows by a table": `local s = string.rep('x', 1e6) return #string.gsub(s, 'x', {x=s})`,
	"upper of much":              `return #string.upper(string.rep('x', 1e8))`,
	"reverse of much":            `return #string.reverse(string.rep('x', 1e8))`,
	"a sparse table":             `local t = {} t[6e7] = 1 return t`,
	"sparse tables":              `local t = {} for i = 1, 30 do t[i] = {[6e7] = i} t[i][5e7] = 1 end return #t`,
	"a table at the ends":        `local t = {} t[2^31] = 1 t[-2^31] = 1 t[2^53] = 1 t[0] = 1 t[2^26] = 1 t[2^26-1] = 1 return #t`,
	"a sparse insert":            `local t = {} table.insert(t, 6e7, 1) return #t`,
	"a sparse rawset":            `local t = {} rawset(t, 6e7, 1) return #t`,
	"a sparse redis reply":       `local t = {} t[6e7] = 1 return redis.call('SET', 'k', #t)`,
	"a sparse cjson array":       `cjson.encode_sparse_array(true, 0, 0) return #cjson.encode({[6e7] = 1})`,
	"a sparse KEYS":              `KEYS[6e7] = 1 ARGV[6e7] = 1 return 1`,
	"a wide table":               `local t = {1} for i = 1, 60 do t = {t, t} end return t`,
	"a wide map":                 `redis.setresp(3) local t = {1} for i = 1, 60 do t = {map={a=t, b=t}} end return t`,
	"a wide set":                 `redis.setresp(3) local t = 1 for i = 1, 60 do t = {set={[{t}]=true, [{t, t}]=true}} end return t`,
	"a table of one string":      `local s, t = string.rep('x', 1e8), {} for i = 1, 200 do t[i] = s end return t`,
	"an error of one string":     `return redis.error_reply(string.rep('x', 1e8))`,
	"cjson of a wide table":      `local t = {1} for i = 1, 60 do t = {t, t} end return #cjson.encode(t)`,
	"cjson decode unbound":       `cjson.decode_max_depth(2^31 - 1) return pcall(cjson.decode, string.rep('[', 1e6) .. string.rep(']', 1e6))`,
	"cmsgpack of a wide table":   `local t = {1} for i = 1, 60 do t = {t, t} end return #cmsgpack.pack(t)`,
	"redis.sha1hex of much":      `return redis.sha1hex(string.rep('x', 1e8))`,
	"redis.log of much":          `redis.log(redis.LOG_DEBUG, string.rep('x', 1e8))`,
	"memory in a table":          `local t = {} for i = 1, 1e9 do t[i] = i end return #t`,
	"memory in strings":          `local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1e6) .. i end return #t`,
	"memory in strings, caught":  `local t = {} while true do pcall(function() t[#t+1] = string.rep('x', 1e7) .. #t end) end`,
	"memory in a straight line":  memoryLine(),
	"memory in closures":         `local f = function() end for i = 1, 1e9 do local g = f f = function() return g, i end end`,
	"memory in keys":             `local t = {} for i = 1, 1e9 do t['k' .. i] = i end`,
	"memory in upper":            `local s, t = string.rep('x', 4e8), {} for i = 1, 100 do t[i] = string.upper(s) end`,
	"memory in cjson":            `local s, t = '[' .. string.rep('{},', 1e7) .. '1]', {} for i = 1, 100 do t[i] = cjson.decode(s) end`,
	"memory in coroutines":       `local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() end) end`,
	"memory in replies":          `redis.call('SET', 'k', string.rep('x', 1e8)) local t = {} for i = 1, 1000 do t[i] = redis.call('GET', 'k') end`,
}

// memoryLine is a script without a loop, so it reaches no safe point.
func memoryLine() string {
	var b strings.Builder
	b.WriteString("local t = {} ")
	for i := range 300 {
		fmt.Fprintf(&b, "t[%d] = string.rep('x', 5e8 - %d) ", i+1, i)
	}
	return b.String() + "return #t"
}

func TestScriptBombsLeaveTheServerUnharmed(t *testing.T) {
	redistest.SkipUnlessWhole(t)
	v := attack(t, nil)
	for name, body := range bombs {
		t.Run(name, func(t *testing.T) {
			v.defuse(t, name, body, 5*time.Second)
		})
	}
}

func TestHeavyScriptBombsLeaveTheServerUnharmed(t *testing.T) {
	if !long() {
		t.Skip("LOCKREDIS_ABUSE=long runs these")
	}
	v := attack(t, nil)
	for name, body := range heavyBombs {
		t.Run(name, func(t *testing.T) {
			v.defuse(t, name, body, time.Minute)
		})
	}
}

// defuse runs a bomb. Within the time limit it must end by itself or by SCRIPT KILL.
func (v *victim) defuse(t *testing.T, name, body string, limit time.Duration) {
	t.Helper()
	old := v.t
	v.t = t
	defer func() { v.t = old }()
	before := measure()
	defer v.recovers(before)
	defer v.alive()
	c, killer := v.dial(), v.dial()
	c.SetTimeout(limit + slack(limit))
	defer c.Close()
	defer killer.Close()
	var killing sync.WaitGroup
	killing.Add(1)
	late := time.AfterFunc(limit, func() {
		defer killing.Done()
		r, err := killer.Do("SCRIPT", "KILL")
		if text := r.String(); err != nil || text != "+OK" && !strings.HasPrefix(text, "-NOTBUSY") {
			t.Errorf("SCRIPT KILL: %s %v", text, err)
		}
	})
	begin := time.Now()
	r, err := c.Do("EVAL", body, "0")
	if !late.Stop() {
		killing.Wait()
	}
	if err != nil {
		v.t.Fatal(err)
	}
	text := r.String()
	if strings.Contains(text, "internal error") {
		v.t.Errorf("%s: %s", name, text)
	}
	if len(text) > 200 {
		text = text[:200]
	}
	v.t.Logf("%v %s", time.Since(begin).Round(time.Millisecond), text)
}
