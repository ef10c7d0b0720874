package lualib

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// smallState is a state whose functions build strings of at most 64 KB.
func smallState(t *testing.T) *lua.LState {
	L, limits := newState(t), Limits{MaxString: 1 << 16}
	Patch(L, limits)
	L.SetGlobal("cjson", OpenCJSON(L, limits))
	L.SetGlobal("struct", OpenStruct(L, limits))
	L.SetGlobal("cmsgpack", OpenCMsgpack(L, limits))
	return L
}

func TestResultsAboveMaxStringThrow(t *testing.T) {
	L := smallState(t)
	for _, code := range []string{
		"string.rep('x', 65537)",
		"string.rep('xyz', 2147483647)",
		"table.concat({string.rep('x', 40000), string.rep('y', 40000)})",
		"table.concat({'', '', ''}, string.rep('x', 60000))",
		"string.format('%s%s', string.rep('x', 40000), string.rep('x', 40000))",
		"string.format('%q%q', string.rep('x', 40000), string.rep('x', 40000))",
		"string.gsub(string.rep('x', 60000), 'x', 'yy')",
		"string.gsub('x', 'x', string.rep('%0', 60000) .. string.rep('y', 40000))",
		"string.gsub(string.rep('x', 1000), 'x', function() return string.rep('y', 1000) end)",
		"cjson.encode(string.rep('x', 65536))",
		"cjson.encode({string.rep('x', 40000), string.rep('x', 40000)})",
		"cjson.encode({[string.rep('x', 65536)] = 1})",
		"cmsgpack.pack(string.rep('x', 65536))",
		"cmsgpack.pack(string.rep('x', 40000), string.rep('x', 40000))",
		"cmsgpack.unpack('\\129\\206\\3\\0\\0\\0\\1')",
		"struct.pack('c0c0', string.rep('x', 40000), string.rep('x', 40000))",
		"struct.pack('!2147483648B', 1)",
	} {
		got := evalHere(L, "return "+code)
		if !strings.Contains(got, ErrTooLarge) && !strings.Contains(got, "integral size overflow") {
			t.Errorf("%s: %.200s", code, got)
		}
	}
}

func TestResultsUpToMaxStringAreBuilt(t *testing.T) {
	L := smallState(t)
	for code, want := range map[string]string{
		"#string.rep('x', 65536)":                                "65536",
		"#table.concat({string.rep('x', 65535), 'y'})":           "65536",
		"#cjson.encode(string.rep('x', 65534))":                  "65536",
		"cmsgpack.unpack('\\129\\205\\16\\0\\1')[4096]":          "1",
		"#string.gsub(string.rep('x', 32768), 'x', 'yy')":        "65536",
		"#string.format('%s', string.rep('x', 65536))":           "65536",
		"#struct.pack('c0', string.rep('x', 65535))":             "65535",
		"#struct.pack('!1024BI16', 1, 2)":                        "32",
		"#cmsgpack.pack(string.rep('x', 65531))":                 "65534",
		"select(2, string.gsub(string.rep('x', 65536), 'y', 1))": "0",
	} {
		if got := evalHere(L, "return "+code); got != want {
			t.Errorf("%s: got %.200s, want %s", code, got, want)
		}
	}
}

func TestPatternsOfManyItemsThrow(t *testing.T) {
	L := newState(t)
	for _, pattern := range []string{"a?", "a-", "()"} {
		code := "return string.find(string.rep('a', 300000), " +
			"string.rep('" + pattern + "', 300000) .. 'b')"
		got := evalHere(L, code)
		if !strings.Contains(got, "pattern too complex") && !strings.Contains(got, "too many captures") {
			t.Errorf("%s: %.200s", pattern, got)
		}
	}
}

func TestNestedCallbacksThrowAtTheDepthOfCLua(t *testing.T) {
	L := newState(t)
	for name, code := range map[string]string{
		"gsub":     "local function f() n = n + 1 return (string.gsub('x', 'x', f)) end",
		"sort":     "local function f() n = n + 1 table.sort({1, 2}, f) end",
		"foreach":  "local function f() n = n + 1 table.foreach({1}, f) end",
		"foreachi": "local function f() n = n + 1 table.foreachi({1}, f) end",
		"tostring": "local t " +
			"t = setmetatable({}, {__tostring = function() n = n + 1 return tostring(t) end}) " +
			"local function f() return tostring(t) end",
	} {
		got := evalHere(L, "n = 0 "+code+
			" local ok, err = pcall(f) return ok, err, n >= 190 and n <= 200")
		if want := `false "C stack overflow" true`; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if got := evalHere(L, "return (string.gsub('x', 'x', function() return 'y' end))"); got != `"y"` {
			t.Errorf("after %s: %s", name, got)
		}
	}
}

func TestEachStateHasItsOwnSettingsOfCjson(t *testing.T) {
	a, b := newState(t), newState(t)
	evalHere(a, "cjson.encode_max_depth(7) return")
	if got := evalHere(b, "return cjson.encode_max_depth()"); got != "1000" {
		t.Errorf("the other state has %s", got)
	}
}

func TestStatesCanShareARandomSequence(t *testing.T) {
	one := newState(t)
	want := evalHere(one, "return math.random(), math.random()")
	r := NewRandom()
	a, b := newState(t), newState(t)
	SetRandom(a, r)
	SetRandom(b, r)
	got := evalHere(a, "return math.random()") + " " + evalHere(b, "return math.random()")
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNumbersAreFormattedAndParsedAsInC(t *testing.T) {
	for s, want := range map[string]string{
		"0x10": "16", " 1e3\n": "1000", "1e15": "1e+15", "-0": "-0", "inf": "inf", "-nan": "-nan",
		"0.1":              "0.1",
		"9007199254740993": "9.007199254741e+15", "99999999999999": "99999999999999", "1e-5": "1e-05",
		"12\x00x": "12",
	} {
		n, ok := ParseNumber(s)
		if got := FormatNumber(n); !ok || got != want || string(AppendNumber(nil, n)) != want {
			t.Errorf("%q: got %s %v, want %s", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", " ", "x", "0x", "1x", "1 2", "1_000", "0b1", "--1", "1e", ".", "0x1p",
	} {
		if n, ok := ParseNumber(s); ok {
			t.Errorf("%q reads as %v", s, n)
		}
	}
}

func TestPatchPanicsIfALibraryIsNotOpen(t *testing.T) {
	for _, missing := range []string{"string", "table", "math"} {
		L := newState(t)
		L.SetGlobal(missing, lua.LNil)
		func() {
			defer func() {
				if got, want := recover(), "lualib: no library is named "+missing; got != want {
					t.Errorf("got panic %v, want %q", got, want)
				}
			}()
			Patch(L, Limits{})
		}()
	}
}
