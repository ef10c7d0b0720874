package lualib

import (
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// plainState is a state with gopher-lua's own libraries, for comparison.
func plainState(b *testing.B) *lua.LState {
	L := lua.NewState()
	b.Cleanup(L.Close)
	return L
}

func benchCall(b *testing.B, L *lua.LState, code string) {
	if err := L.DoString("bench = function() " + code + " end"); err != nil {
		b.Fatal(err)
	}
	fn := L.GetGlobal("bench")
	b.ReportAllocs()
	for b.Loop() {
		L.Push(fn)
		L.Call(0, 0)
	}
}

// benchBoth measures 100 executions of code, with this package and with gopher-lua's
// own libraries.
func benchBoth(b *testing.B, code string) {
	code = "for i = 1, 100 do " + code + " end"
	b.Run("lualib", func(b *testing.B) { benchCall(b, newState(b), code) })
	b.Run("gopher", func(b *testing.B) { benchCall(b, plainState(b), code) })
}

func BenchmarkTostringInteger(b *testing.B) { benchBoth(b, "local s = tostring(123456)") }
func BenchmarkTostringFraction(b *testing.B) {
	benchBoth(b, "local s = tostring(1234.5678)")
}
func BenchmarkTonumber(b *testing.B)  { benchBoth(b, "local n = tonumber('123456')") }
func BenchmarkStringSub(b *testing.B) { benchBoth(b, "local s = string.sub('hello world', 3, 7)") }
func BenchmarkStringFormat(b *testing.B) {
	benchBoth(b, "local s = string.format('%s:%d', 'key', 42)")
}
func BenchmarkStringFind(b *testing.B) {
	benchBoth(b, "local s = string.find('hello world', 'wor')")
}
func BenchmarkStringMatch(b *testing.B) {
	benchBoth(b, "local k, v = string.match('key=value', '(%w+)=(%w+)')")
}
func BenchmarkStringGsub(b *testing.B) {
	benchBoth(b, "local s = string.gsub('hello world', 'o', '0')")
}
func BenchmarkTableInsert(b *testing.B) { benchBoth(b, "local t = {} table.insert(t, i)") }
func BenchmarkTableConcat(b *testing.B) {
	benchBoth(b, "local s = table.concat({'a', 'b', 'c'}, ',')")
}
func BenchmarkMathFloor(b *testing.B) { benchBoth(b, "local n = math.floor(1.5)") }
func BenchmarkIpairs(b *testing.B)    { benchBoth(b, "for k, v in ipairs({1, 2, 3}) do end") }
func BenchmarkPairs(b *testing.B)     { benchBoth(b, "for k, v in pairs({a = 1, b = 2}) do end") }
func BenchmarkTableSort(b *testing.B) { benchBoth(b, "table.sort({5, 3, 1, 4, 2, 9, 8, 7, 6})") }
func BenchmarkUnpack(b *testing.B)    { benchBoth(b, "local a, b, c = unpack({1, 2, 3})") }

func BenchmarkStructPack(b *testing.B) {
	benchCall(b, newState(b), "for i = 1, 100 do local s = struct.pack('dLc0', 12, 3, 'abc') end")
}
func BenchmarkStructUnpack(b *testing.B) {
	benchCall(b, newState(b), "local s = struct.pack('dLc0', 12, 3, 'abc') "+
		"for i = 1, 100 do local a, c, d = struct.unpack('dLc0', s) end")
}
func BenchmarkCJSONEncode(b *testing.B) {
	benchCall(b, newState(b), "local t = {a = 1, b = {1, 2, 3}, c = 'text'} "+
		"for i = 1, 100 do local s = cjson.encode(t) end")
}
func BenchmarkCJSONDecode(b *testing.B) {
	benchCall(b, newState(b), `for i = 1, 100 do
local t = cjson.decode('{"a":1,"b":[1,2,3],"c":"text"}') end`)
}
func BenchmarkCmsgpackPack(b *testing.B) {
	benchCall(b, newState(b), "local t = {a = 1, b = {1, 2, 3}, c = 'text'} "+
		"for i = 1, 100 do local s = cmsgpack.pack(t) end")
}

func BenchmarkPow(b *testing.B) {
	x, y := 1.1, 2.7
	for b.Loop() {
		x = 1 + Pow(x, y)*1e-9
	}
}
