package luaexec

import (
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// computing are scripts that call no command. Each takes about a millisecond on bare gopher-lua.
var computing = []struct{ name, script string }{
	{"for", `local s = 0 for i = 1, 20000 do s = s + i end return s`},
	{"nested for", `local s, n = 0, 10 for i = 1, 500 do for j = 1, n do s = s + j end end return s`},
	{"while", `local s, i = 0, 0 while i < 10000 do i = i + 1 if i > 5000 then s = s + 2
else s = s - 1 end end return s`},
	{"modulo", `local s = 0 for i = 1, 10000 do if i % 3 == 0 then s = s + i end end return s`},
	{"power", `local s = 0 for i = 1, 5000 do s = s + i ^ 2 end return s`},
	{"length", `local s, t, x = 0, {1, 2, 3}, 'abcd' for i = 1, 10000 do s = s + #t + #x end return s`},
	{"concat", `local s = '' for i = 1, 4000 do s = 'key:' .. i .. ':field' end return s`},
	{"append", `local s = '' for i = 1, 1000 do s = s .. 'x' end return #s`},
	{"array", `local t, s = {}, 0 for i = 1, 5000 do t[i] = i end
for i = 1, 5000 do s = s + t[i] end return s`},
	{"hash", `local t = {} for i = 1, 5000 do t.count = (t.count or 0) + i t.last = i end return t.count`},
	{"ipairs", `local t, s = {}, 0 for i = 1, 3000 do t[i] = i end
for _, v in ipairs(t) do s = s + v end return s`},
	{"pairs", `local t, s = {}, 0 for i = 1, 100 do t['k' .. i] = i end
for n = 1, 20 do for _, v in pairs(t) do s = s + v end end return s`},
	{"insert", `local t = {} for i = 1, 4000 do table.insert(t, i) end
for i = 1, 4000 do table.remove(t) end return #t`},
	{"calls", `local function add(a, b) return a + b end local s = 0
for i = 1, 5000 do s = add(s, i) end return s`},
	{"recursion", `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
return fib(16)`},
	{"upvalues", `local n = 0 local function inc() n = n + 1 return n end
for i = 1, 5000 do inc() end return n`},
	{"methods", `local o = {n = 0} function o:add(i) self.n = self.n + i end
for i = 1, 4000 do o:add(i) end return o.n`},
	{"closures", `local s = 0 for i = 1, 3000 do local f = function() return i end s = s + f() end
return s`},
	{"pcall", `local function f(x) return x end local s = 0
for i = 1, 1000 do local ok, v = pcall(f, i) s = s + v end return s`},
	{"format", `local s for i = 1, 2000 do s = string.format('%d:%s:%5.2f', i, 'abc', i / 3) end
return s`},
	{"strings", `local s = 0 for i = 1, 3000 do s = s + #string.sub('abcdefgh', 2, 5) +
string.byte('abc', 2) end return s`},
	{"find", `local s = 0 for i = 1, 2000 do if string.find('user:1000:name', '%d+') then s = s + 1
end end return s`},
	{"gsub", `local s for i = 1, 500 do s = string.gsub('hello world from lua', '%w+', '<%0>') end
return s`},
	{"tostring", `local s = 0 for i = 1, 3000 do s = s + tonumber(tostring(i)) end return s`},
	{"math", `local s = 0 for i = 1, 4000 do s = s + math.floor(i / 3) + math.max(i, 7) end return s`},
	{"sort", `local t = {} for i = 1, 1000 do t[i] = i * 7919 % 1009 end table.sort(t) return t[1]`},
	{"sort by function", `local t = {} for i = 1, 300 do t[i] = i * 7919 % 1009 end
table.sort(t, function(a, b) return a > b end) return t[1]`},
	{"table.concat", `local t = {} for i = 1, 100 do t[i] = 'item' end local s
for i = 1, 50 do s = table.concat(t, ',') end return #s`},
}

// BenchmarkCompute runs the scripts of computing in a Runtime and in a bare Lua state of gopher-lua,
// which has its own libraries and no safe points. Compare the two lines of a script, by a count of
// instructions: the times of equal instructions differ between runs, by up to a half. With GOGC=off
// a Runtime executes at most a tenth more than gopher-lua, in "while".
func BenchmarkCompute(b *testing.B) {
	for _, c := range computing {
		b.Run(c.name+"/bare", func(b *testing.B) {
			L := lua.NewState()
			defer L.Close()
			fn, err := L.LoadString(c.script)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				L.Push(fn)
				L.Call(0, 1)
				L.Pop(1)
			}
		})
		b.Run(c.name+"/luaexec", func(b *testing.B) { benchmarkRun(b, c.script, &cannedCaller{}) })
	}
}

// BenchmarkCJSON has no bare twin: gopher-lua has no cjson.
func BenchmarkCJSON(b *testing.B) {
	benchmarkRun(b, `local t = {name = 'lock', count = 3, list = {1, 2, 3, 4}}
for i = 1, 500 do t = cjson.decode(cjson.encode(t)) end return t.count`, &cannedCaller{})
}
