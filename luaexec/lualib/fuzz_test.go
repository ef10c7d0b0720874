package lualib

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// fuzzState is a state whose functions build at most 64 KB, so that no input
// takes long: a map's one high key is an array with a hole before it.
func fuzzState(f *testing.F) *lua.LState {
	L, limits := newState(f), Limits{MaxString: 1 << 16}
	Patch(L, limits)
	L.SetGlobal("cjson", OpenCJSON(L, limits))
	L.SetGlobal("struct", OpenStruct(L, limits))
	L.SetGlobal("cmsgpack", OpenCMsgpack(L, limits))
	return L
}

// fuzzCall calls lib.name and returns what it returns, rendered and as it is. An
// error that is no Lua error ends the test.
func fuzzCall(t *testing.T, L *lua.LState, lib, name string, args ...lua.LValue) (text string, values []lua.LValue, err error) {
	t.Helper()
	fn := L.GetGlobal(lib).(*lua.LTable).RawGetString(name)
	top := L.GetTop()
	defer L.SetTop(top)
	err = L.CallByParam(lua.P{Fn: fn, NRet: lua.MultRet, Protect: true}, args...)
	if err != nil {
		var api *lua.ApiError
		if !errors.As(err, &api) || api.Type != lua.ApiErrorRun {
			t.Fatalf("%s.%s(%q): %v", lib, name, args, err)
		}
		return "", nil, err
	}
	var parts []string
	for i := top + 1; i <= L.GetTop(); i++ {
		parts = append(parts, render(L.Get(i), 0))
		values = append(values, L.Get(i))
	}
	return strings.Join(parts, " "), values, nil
}

// renderJSON is render of what cjson makes of a JSON value.
func renderJSON(v any, depth int) string {
	var parts []string
	switch v := v.(type) {
	case nil:
		return "userdata"
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64) // out of range: infinite, as strtod
		return render(lua.LNumber(f), 0)
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		if depth > 20 {
			return "deep"
		}
		for i, x := range v {
			parts = append(parts, strconv.Itoa(i+1)+"="+renderJSON(x, depth+1))
		}
	case map[string]any:
		if depth > 20 {
			return "deep"
		}
		for k, x := range v {
			parts = append(parts, quote(k)+"="+renderJSON(x, depth+1))
		}
	}
	sort.Strings(parts)
	return "{" + strings.Join(parts, " ") + "}"
}

func FuzzCJSONReadsWhatGoReadsAndWhatItWrote(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}]}`, `[1e5,-0x1,nan]`, `"\ud83d\ude00\n"`, strings.Repeat("[", 2000),
		`{"a":1,}`, `{"a":1,"a":[]}`,
		`[-0,1E+2,1e999,0.1,123456789012345678]`, `[null,true,false,"\u0000\/"]`, ` [1 , 2] `,
		`"\ud800"`, `{"1":1,"2":{}}`, `[infinity,-inf,01]`,
	} {
		f.Add(s)
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, s string) {
		text, values, err := fuzzCall(t, L, "cjson", "decode", lua.LString(s))
		if plain := utf8.ValidString(s) && !strings.Contains(strings.ToLower(s), `\ud`) && strings.Count(s, "[")+strings.Count(s, "{") < 1000; plain {
			d := json.NewDecoder(strings.NewReader(s))
			d.UseNumber()
			var want any
			goErr := d.Decode(&want)
			if _, aggregate := want.(map[string]any); goErr == nil && json.Valid([]byte(s)) {
				_, list := want.([]any)
				switch {
				case err != nil:
					t.Fatalf("%q: %v", s, err)
				case (aggregate || list || want != nil) && text != renderJSON(want, 0):
					t.Fatalf("%q: %s, Go reads %s", s, text, renderJSON(want, 0))
				}
			}
		}
		if err != nil {
			return
		}
		// Numbers lose digits when they are first written, and then no more.
		_, written, err := fuzzCall(t, L, "cjson", "encode", values...)
		for i := 0; err == nil && i < 2; i++ {
			var again []lua.LValue
			text, again, err = fuzzCall(t, L, "cjson", "decode", written...)
			if err != nil {
				t.Fatalf("%q was written as %v: %v", s, written, err)
			}
			var back string
			if _, written, err = fuzzCall(t, L, "cjson", "encode", again...); err != nil {
				t.Fatalf("%s is not written again: %v", text, err)
			}
			if back, _, err = fuzzCall(t, L, "cjson", "decode", written...); err != nil || back != text {
				t.Fatalf("%q: %s, written and read: %s %v", s, text, back, err)
			}
		}
	})
}

// negativeZero is packed as the integer 0.
var negativeZero = regexp.MustCompile(`(^|[ =])-0($|[ }=])`)

// nesting is how deep tables lie in tables, as keys or as values.
func nesting(text string) (deepest int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '{':
			depth++
			deepest = max(deepest, depth)
		case '}':
			depth--
		}
	}
	return deepest
}

func FuzzCMsgpackReadsWhatItWrote(f *testing.F) {
	for _, s := range []string{
		"\x93\x01\xc0\xa1a", "\x81\xa1a\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00",
		"\xdd\xff\xff\xff\xff\x01", "\x81\xce\x03\xff\xff\xff\x01",
		strings.Repeat("\x91", 5000),
		"\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xd3\x80\x00\x00\x00\x00\x00\x00\x00\xca\x7f\xc0\x00\x00",
		"\x82\x01\x02\x03\x92\xc2\xc3", "\xda\x00\x01a\xdb\x00\x00\x00\x01b\xd9\x01c",
	} {
		f.Add(s, 0, 0)
		f.Add(s, 2, 1)
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, s string, limit, offset int) {
		fuzzCall(t, L, "cmsgpack", "unpack_limit", lua.LString(s), lua.LNumber(limit), lua.LNumber(offset))
		fuzzCall(t, L, "cmsgpack", "unpack_one", lua.LString(s), lua.LNumber(offset))
		text, values, err := fuzzCall(t, L, "cmsgpack", "unpack", lua.LString(s))
		if err != nil || len(values) == 0 || strings.Contains(text, "nan") || negativeZero.MatchString(text) {
			return
		}
		_, packed, err := fuzzCall(t, L, "cmsgpack", "pack", values...)
		if err != nil {
			return
		}
		again, values, err := fuzzCall(t, L, "cmsgpack", "unpack", packed...)
		if nesting(text) >= maxPackNesting-1 {
			return // what is too deep is packed as nil, and a table that holds nothing else as an empty one
		}
		if err != nil || again != text {
			t.Fatalf("%q: %s, packed as %q: %s %v", s, text, packed, again, err)
		}
		if _, twice, err := fuzzCall(t, L, "cmsgpack", "pack", values...); err != nil || len(twice[0].String()) != len(packed[0].String()) {
			t.Fatalf("%q: packed as %q and then as %q %v", s, packed, twice, err)
		}
	})
}

func FuzzStructReadsWhatItWrote(f *testing.F) {
	for _, s := range []string{
		"bBhHlLTiI", "!8BdBf", "Bc0s", ">i7<I32", "c2147483647", "!16I16 x", "<i3>i3c4s", "!2bh!4bi",
		"s", "fd",
	} {
		f.Add(s, "\x01\x02abcdefghijklmnopqrstuvw\x00abcdefgh\x00", 1)
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, format, data string, offset int) {
		fuzzCall(t, L, "struct", "pack", lua.LString(format), lua.LNumber(offset), lua.LString(data), lua.LNumber(1), lua.LString("x"))
		text, values, err := fuzzCall(t, L, "struct", "unpack", lua.LString(format), lua.LString(data), lua.LNumber(offset))
		if err != nil || strings.Contains(format, "c0") || strings.Contains(text, "nan") {
			return
		}
		if offset != 1 { // alignment counts from the string's beginning
			return
		}
		for _, v := range values {
			if n, ok := v.(lua.LNumber); ok && math.Abs(float64(n)) >= 1<<53 && !strings.ContainsAny(format, "fd") {
				return // more bits than a number holds
			}
			if n, ok := v.(lua.LNumber); ok && strings.ContainsAny(format, "fd") && math.Abs(float64(n)) >= 1<<53 && strings.ContainsAny(format, "bBhHlLTiI") {
				return
			}
		}
		end := values[len(values)-1].(lua.LNumber)
		values = append([]lua.LValue{lua.LString(format)}, values[:len(values)-1]...)
		_, packed, err := fuzzCall(t, L, "struct", "pack", values...)
		if err != nil {
			t.Fatalf("%q reads %q as %s, which is not packed: %v", format, data, text, err)
		}
		if n := len(packed[0].String()); n != int(end)-1 {
			t.Fatalf("%q takes %d bytes of %q and packs %d", format, int(end)-1, data, n)
		}
		if again, _, err := fuzzCall(t, L, "struct", "unpack", lua.LString(format), packed[0]); err != nil || again != text {
			t.Fatalf("%q: %s, packed as %q: %s %v", format, text, packed[0], again, err)
		}
		if size, _, err := fuzzCall(t, L, "struct", "size", lua.LString(format)); err == nil && size != strconv.Itoa(len(packed[0].String())) {
			t.Fatalf("%q has size %s and packs %q", format, size, packed[0])
		}
	})
}

func FuzzStringFormat(f *testing.F) {
	for _, s := range []string{
		"%d %s %q", "%-+ #099.99f", "%c%5c%%", "%#.3g|%#x|%.0d", "%", "%5.2s|%-5s", "%i%u%o%X%e%E%G",
		"%.14g",
	} {
		f.Add(s, 1.5, "text\x00")
		f.Add(s, math.Inf(-1), "\n\r\"\\")
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, format string, n float64, s string) {
		fuzzCall(t, L, "string", "format", lua.LString(format), lua.LNumber(n), lua.LString(s), lua.LNumber(n), lua.LString(s))
		if text, _, err := fuzzCall(t, L, "string", "format", lua.LString("%s"), lua.LString(s)); err != nil || text != quote(s) && !strings.Contains(s, "\x00") {
			t.Fatalf("%q is formatted as %s %v", s, text, err)
		}
		_, quoted, err := fuzzCall(t, L, "string", "format", lua.LString("%q"), lua.LString(s))
		if err != nil {
			t.Fatal(err)
		}
		if got := evalHere(L, "return "+quoted[0].String()); got != quote(s) && !strings.Contains(s, "\r") && !strings.Contains(s, "\x00") {
			t.Fatalf("%q is quoted as %q, which reads as %s", s, quoted[0].String(), got)
		}
		if _, _, err := fuzzCall(t, L, "string", "format", lua.LString(strings.ReplaceAll(format, "%", "%%"))); err != nil {
			t.Fatalf("%q with every %% doubled: %v", format, err)
		}
	})
}

// slowPattern tells whether a pattern may take very long: backtracking takes
// exponential time in C Lua too.
func slowPattern(src, pat string) bool {
	n := 0
	for _, c := range []string{"*", "+", "-", "?"} {
		n += strings.Count(pat, c)
	}
	return len(src) > 30 || n > 4
}

func FuzzPatternsAgreeWithEachOther(f *testing.F) {
	for _, s := range []string{
		"(%w+)=(%w+)", "%b()%f[%a]", "^[^%]a-z]-$", "((a)%2)", "%", "[%", "(.-)%s", "()x()", "[%w_]*",
		"%z", "^", "a?", "[a-%z]",
	} {
		f.Add("key=value (x)", s, "%1%0")
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, src, pat, repl string) {
		// Without a special character before a NUL find takes the pattern for plain text.
		if slowPattern(src, pat) || strings.Contains(pat, "\x00") || !strings.ContainsAny(pat, "^$*+?.([%-") {
			return
		}
		_, found, err := fuzzCall(t, L, "string", "find", lua.LString(src), lua.LString(pat))
		captures, _, matchErr := fuzzCall(t, L, "string", "match", lua.LString(src), lua.LString(pat))
		if (err == nil) != (matchErr == nil) {
			t.Fatalf("find(%q, %q) %v, match %v", src, pat, err, matchErr)
		}
		_, replaced, subErr := fuzzCall(t, L, "string", "gsub", lua.LString(src), lua.LString(pat), lua.LString(repl), lua.LNumber(1))
		if _, same, err := fuzzCall(t, L, "string", "gsub", lua.LString(src), lua.LString(pat), lua.LString("%0")); err == nil && same[0].String() != src {
			t.Fatalf("gsub(%q, %q, '%%0') is %q", src, pat, same[0])
		}
		if err != nil {
			return
		}
		if found[0] == lua.LNil {
			if captures != "nil" || subErr == nil && (replaced[1] != lua.LNumber(0) || replaced[0].String() != src) {
				t.Fatalf("find(%q, %q) finds nothing, match %s, gsub %v", src, pat, captures, replaced)
			}
			return
		}
		from, to := int(found[0].(lua.LNumber)), int(found[1].(lua.LNumber))
		if from < 1 || to < from-1 || to > len(src) {
			t.Fatalf("find(%q, %q) is %d, %d", src, pat, from, to)
		}
		if len(found) == 2 && captures != quote(src[from-1:to]) {
			t.Fatalf("find(%q, %q) is %d, %d, match %s", src, pat, from, to, captures)
		}
		if subErr == nil && (replaced[1] != lua.LNumber(1) || !strings.HasPrefix(replaced[0].String(), src[:from-1]) || !strings.HasSuffix(replaced[0].String(), src[to:])) {
			t.Fatalf("find(%q, %q) is %d, %d, gsub %v", src, pat, from, to, replaced)
		}
		if plain, at, _ := fuzzCall(t, L, "string", "find", lua.LString(src), lua.LString(pat), lua.LNumber(1), lua.LTrue); at[0] != lua.LNil {
			if i := strings.Index(src, pat); at[0] != lua.LNumber(i+1) {
				t.Fatalf("find(%q, %q, 1, true) is %s", src, pat, plain)
			}
		}
	})
}

func FuzzNumbersReadBack(f *testing.F) {
	for _, s := range []string{
		"0x1.8p-3", "  -inf ", "nan(x)", "1e+", "1_0", "0x", "12\x00", "1e15", "123456789012345",
		"0x7fffffffffffffff", ".5", "5.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseNumber(s)
		if !ok {
			return
		}
		again, ok := ParseNumber(FormatNumber(n))
		if !ok || FormatNumber(again) != FormatNumber(n) {
			t.Fatalf("%q reads as %v, which reads back as %v", s, n, again)
		}
		if g, err := strconv.ParseFloat(s, 64); err == nil && g != n && !math.IsNaN(g) && !strings.ContainsAny(s, "_") {
			t.Fatalf("%q reads as %v, Go reads %v", s, n, g)
		}
	})
}
