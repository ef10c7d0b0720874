package lualib

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"
)

// fuzzState is a state whose functions build at most 64 KB, so that no input takes
// long. Without the limit a map with one high key would be a huge array.
func fuzzState(f *testing.F) *lua.LState {
	L, limits := newState(f), Limits{MaxString: 1 << 16}
	Patch(L, limits)
	L.SetGlobal("cjson", OpenCJSON(L, limits))
	L.SetGlobal("struct", OpenStruct(L, limits))
	L.SetGlobal("cmsgpack", OpenCMsgpack(L, limits))
	return L
}

// fuzzCall calls lib.name. It returns the results, rendered and as they are, or the Lua
// error. Any other error fails the test.
func fuzzCall(
	t *testing.T, L *lua.LState, lib, name string, args ...any,
) (text string, values []lua.LValue, err error) {
	t.Helper()
	fn := L.GetGlobal(lib).(*lua.LTable).RawGetString(name)
	top := L.GetTop()
	defer L.SetTop(top)
	p := lua.P{Fn: fn, NRet: lua.MultRet, Protect: true}
	if err = L.CallByParam(p, luaValues(args)...); err != nil {
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

// luaValues converts strings, numbers and booleans. It appends the elements of a
// []lua.LValue one by one.
func luaValues(args []any) (values []lua.LValue) {
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			values = append(values, lua.LString(v))
		case int:
			values = append(values, lua.LNumber(v))
		case float64:
			values = append(values, lua.LNumber(v))
		case bool:
			values = append(values, lua.LBool(v))
		case []lua.LValue:
			values = append(values, v...)
		default:
			panic(fmt.Sprintf("luaValues: unexpected type %T", arg))
		}
	}
	return values
}

// renderJSON is render of the Lua value that cjson decodes a JSON value to.
func renderJSON(v any, depth int) string {
	var parts []string
	switch v := v.(type) {
	case nil:
		return "userdata"
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64) // infinite if out of range, as strtod
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

func FuzzCJSONDecodesAsGoAndRoundTrips(f *testing.F) {
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
		text, values, err := fuzzCall(t, L, "cjson", "decode", s)
		shallow := strings.Count(s, "[")+strings.Count(s, "{") < 1000
		surrogates := strings.Contains(strings.ToLower(s), `\ud`)
		if utf8.ValidString(s) && !surrogates && shallow {
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
		// Numbers lose digits only when they are encoded for the first time.
		_, written, err := fuzzCall(t, L, "cjson", "encode", values)
		for i := 0; err == nil && i < 2; i++ {
			var again []lua.LValue
			text, again, err = fuzzCall(t, L, "cjson", "decode", written)
			if err != nil {
				t.Fatalf("%q is encoded as %v: %v", s, written, err)
			}
			var back string
			if _, written, err = fuzzCall(t, L, "cjson", "encode", again); err != nil {
				t.Fatalf("%s cannot be encoded: %v", text, err)
			}
			if back, _, err = fuzzCall(t, L, "cjson", "decode", written); err != nil || back != text {
				t.Fatalf("%q: %s, encoded and decoded: %s %v", s, text, back, err)
			}
		}
	})
}

// negativeZero matches -0, which is packed as the integer 0.
var negativeZero = regexp.MustCompile(`(^|[ =])-0($|[ }=])`)

// nesting is the depth of nested tables, as keys or as values.
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

func FuzzCMsgpackRoundTrips(f *testing.F) {
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
		fuzzCall(t, L, "cmsgpack", "unpack_limit", s, limit, offset)
		fuzzCall(t, L, "cmsgpack", "unpack_one", s, offset)
		text, values, err := fuzzCall(t, L, "cmsgpack", "unpack", s)
		if err != nil || len(values) == 0 {
			return
		}
		if strings.Contains(text, "nan") || negativeZero.MatchString(text) {
			return
		}
		_, packed, err := fuzzCall(t, L, "cmsgpack", "pack", values)
		if err != nil {
			return
		}
		again, values, err := fuzzCall(t, L, "cmsgpack", "unpack", packed)
		if nesting(text) >= maxPackNesting-1 {
			return // tables that are too deep are packed as nil
		}
		if err != nil || again != text {
			t.Fatalf("%q: %s, packed as %q: %s %v", s, text, packed, again, err)
		}
		_, twice, err := fuzzCall(t, L, "cmsgpack", "pack", values)
		if err != nil || len(twice[0].String()) != len(packed[0].String()) {
			t.Fatalf("%q: packed as %q and then as %q %v", s, packed, twice, err)
		}
	})
}

func FuzzStructRoundTrips(f *testing.F) {
	for _, s := range []string{
		"bBhHlLTiI", "!8BdBf", "Bc0s", ">i7<I32", "c2147483647", "!16I16 x", "<i3>i3c4s", "!2bh!4bi",
		"s", "fd",
	} {
		f.Add(s, "\x01\x02abcdefghijklmnopqrstuvw\x00abcdefgh\x00", 1)
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, format, data string, offset int) {
		fuzzCall(t, L, "struct", "pack", format, offset, data, 1, "x")
		text, values, err := fuzzCall(t, L, "struct", "unpack", format, data, offset)
		if err != nil || strings.Contains(format, "c0") || strings.Contains(text, "nan") {
			return
		}
		if offset != 1 { // alignment counts from the start of the string
			return
		}
		// An integer of more than 53 bits is rounded. With both floats and integers in
		// the format, the test cannot tell such an integer from a float.
		floats := strings.ContainsAny(format, "fd")
		integers := strings.ContainsAny(format, "bBhHlLTiI")
		for _, v := range values {
			n, ok := v.(lua.LNumber)
			if ok && math.Abs(float64(n)) >= 1<<53 && (!floats || integers) {
				return
			}
		}
		end := values[len(values)-1].(lua.LNumber)
		values = values[:len(values)-1]
		_, packed, err := fuzzCall(t, L, "struct", "pack", format, values)
		if err != nil {
			t.Fatalf("%q unpacks %q to %s, which cannot be packed: %v", format, data, text, err)
		}
		if n := len(packed[0].String()); n != int(end)-1 {
			t.Fatalf("%q unpacks %d bytes of %q and packs %d", format, int(end)-1, data, n)
		}
		again, _, err := fuzzCall(t, L, "struct", "unpack", format, packed)
		if err != nil || again != text {
			t.Fatalf("%q: %s, packed as %q: %s %v", format, text, packed[0], again, err)
		}
		size, _, err := fuzzCall(t, L, "struct", "size", format)
		if err == nil && size != strconv.Itoa(len(packed[0].String())) {
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
		fuzzCall(t, L, "string", "format", format, n, s, n, s)
		hasNUL := strings.Contains(s, "\x00")
		text, _, err := fuzzCall(t, L, "string", "format", "%s", s)
		if err != nil || text != quote(s) && !hasNUL {
			t.Fatalf("%q is formatted as %s %v", s, text, err)
		}
		_, quoted, err := fuzzCall(t, L, "string", "format", "%q", s)
		if err != nil {
			t.Fatal(err)
		}
		got := evalHere(L, "return "+quoted[0].String())
		if got != quote(s) && !strings.Contains(s, "\r") && !hasNUL {
			t.Fatalf("%q is quoted as %q, whose value is %s", s, quoted[0].String(), got)
		}
		doubled := strings.ReplaceAll(format, "%", "%%")
		if _, _, err := fuzzCall(t, L, "string", "format", doubled); err != nil {
			t.Fatalf("%q with every %% doubled: %v", format, err)
		}
	})
}

// slowPattern reports whether a pattern may take very long. Backtracking takes
// exponential time, in C Lua too.
func slowPattern(src, pat string) bool {
	n := 0
	for _, c := range []string{"*", "+", "-", "?"} {
		n += strings.Count(pat, c)
	}
	return len(src) > 30 || n > 4
}

func FuzzFindMatchAndGsubAgree(f *testing.F) {
	for _, s := range []string{
		"(%w+)=(%w+)", "%b()%f[%a]", "^[^%]a-z]-$", "((a)%2)", "%", "[%", "(.-)%s", "()x()", "[%w_]*",
		"%z", "^", "a?", "[a-%z]",
	} {
		f.Add("key=value (x)", s, "%1%0")
	}
	L := fuzzState(f)
	f.Fuzz(func(t *testing.T, src, pat, repl string) {
		if slowPattern(src, pat) || strings.Contains(pat, "\x00") {
			return
		}
		if !strings.ContainsAny(pat, patternSpecials) {
			return // find searches for pat literally
		}
		_, found, err := fuzzCall(t, L, "string", "find", src, pat)
		captures, _, matchErr := fuzzCall(t, L, "string", "match", src, pat)
		if (err == nil) != (matchErr == nil) {
			t.Fatalf("find(%q, %q) %v, match %v", src, pat, err, matchErr)
		}
		_, replaced, subErr := fuzzCall(t, L, "string", "gsub", src, pat, repl, 1)
		_, same, sameErr := fuzzCall(t, L, "string", "gsub", src, pat, "%0")
		if sameErr == nil && same[0].String() != src {
			t.Fatalf("gsub(%q, %q, '%%0') is %q", src, pat, same[0])
		}
		if err != nil {
			return
		}
		if found[0] == lua.LNil {
			unchanged := subErr != nil || replaced[1] == lua.LNumber(0) && replaced[0].String() == src
			if captures != "nil" || !unchanged {
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
		if subErr == nil {
			result := replaced[0].String()
			around := strings.HasPrefix(result, src[:from-1]) && strings.HasSuffix(result, src[to:])
			if replaced[1] != lua.LNumber(1) || !around {
				t.Fatalf("find(%q, %q) is %d, %d, gsub %v", src, pat, from, to, replaced)
			}
		}
		if plain, at, _ := fuzzCall(t, L, "string", "find", src, pat, 1, true); at[0] != lua.LNil {
			if i := strings.Index(src, pat); at[0] != lua.LNumber(i+1) {
				t.Fatalf("find(%q, %q, 1, true) is %s", src, pat, plain)
			}
		}
	})
}

func FuzzNumbersRoundTrip(f *testing.F) {
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
			t.Fatalf("%q is parsed as %v, which is formatted and parsed as %v", s, n, again)
		}
		g, err := strconv.ParseFloat(s, 64)
		if err == nil && g != n && !math.IsNaN(g) && !strings.Contains(s, "_") {
			t.Fatalf("%q is parsed as %v, by Go as %v", s, n, g)
		}
	})
}
