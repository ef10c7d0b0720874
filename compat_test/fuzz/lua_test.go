package fuzz

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A script's result is compared as text: numbers with all digits, strings with unusual
// bytes escaped, tables sorted.
const render = `
local function quote(s)
  return '"' .. string.gsub(s, '[^%w ]', function(c) return string.format('\\x%02x', string.byte(c)) end) .. '"'
end
local function show(v, d)
  local t = type(v)
  if t == 'number' then return string.format('%.17g', v) end
  if t == 'string' then return quote(v) end
  if t == 'nil' or t == 'boolean' then return tostring(v) end
  if t ~= 'table' then return t end
  if d > 20 then return 'deep' end
  local parts = {}
  for k, x in pairs(v) do parts[#parts + 1] = show(k, d + 1) .. '=' .. show(x, d + 1) end
  table.sort(parts)
  return '{' .. table.concat(parts, ' ') .. '}'
end
local function all(ok, ...)
  local parts = {tostring(ok)}
  for i = 1, select('#', ...) do parts[i + 1] = show((select(i, ...)), 0) end
  return table.concat(parts, ' ')
end
`

// libraryTarget fuzzes one expression over the strings ARGV[1], ARGV[2] and ARGV[3] and
// the number n.
func libraryTarget(f *testing.F, expression string, skip func(a, b, c string) bool) {
	o := newOracle(f)
	var w *world // scripts leave nothing behind, so one world serves many inputs
	body := render + "local a, b, c, n = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]) " +
		"return all(pcall(function() " + expression + " end))"
	f.Fuzz(func(t *testing.T, a, b, c string, n int) {
		if len(a)+len(b)+len(c) > maxBytes || skip != nil && skip(a, b, c) {
			return
		}
		defer watch(a + "\n" + b + "\n" + c)()
		if w == nil || w.over {
			w = newWorld(t)
		}
		w.t = t
		o.same(t, w, asItIs, "EVAL", body, "0", a, b, c, strconv.Itoa(n))
	})
}

func FuzzPatternsMatchAsInRedis(f *testing.F) {
	for _, pattern := range []string{"(%w+)=(%w+)", "%b()%f[%a]", "^[^%]a-z]-$", "((a)%2)", "%", "[%",
		"(.-)%s", "()x()", "[%w_]*", "%z", "^", "a?", "[a-%z]", "[]]", "[^]", "%1", "[a-]", "(()", "%f",
		"[%a-z]"} {
		f.Add("key=value (x)", pattern, "%1%0", 1)
		f.Add("a\x00b]c", pattern, "%", -3)
	}
	libraryTarget(f, `
		local list = {string.find(a, b, n)}
		for x, y in string.gmatch(a, b) do list[#list + 1] = tostring(x) .. tostring(y) if #list > 50 then break end end
		return list, string.gsub(a, b, c), string.gsub(a, b, {key = 1, x = false}, 2), string.match(a, b, -n)`,
		func(a, b, c string) bool {
			return len(a) > 30 || strings.Count(b, "*")+strings.Count(b, "+")+strings.Count(b,
				"-")+strings.Count(b, "?") > 4
		})
}

func FuzzFormatsAreWrittenAsInRedis(f *testing.F) {
	for _, format := range []string{"%d %s %q", "%-+ #099.99f", "%c%5c%%", "%#.3g|%#x|%.0d", "%",
		"%5.2s|%-5s", "%i%u%o%X%e%E%G", "%.14g", "%5%", "%y", "%-010d", "%+.3q", "%100d"} {
		f.Add(format, "12", "0x1p3", 65)
		f.Add(format, "1e300", "-0.1", -1)
	}
	libraryTarget(f, "return string.format(a, n, b, c, tonumber(b) or n, tonumber(c) or n, b)", nil)
}

func FuzzNumbersReadAsInRedis(f *testing.F) {
	for _, s := range []string{"0x1.8p-3", "  -inf ", "nan(x)", "1e+", "1_0", "0x", "12\x00", "1e15",
		"0x7fffffffffffffff", ".5", "5.", "z", "1e999", "0b1", "017"} {
		f.Add(s, "10", "", 16)
		f.Add(s, s, "1", 36)
	}
	libraryTarget(f, "return tonumber(a), tonumber(a, n), tostring(tonumber(b)), "+
		"pcall(function() return a + b end), a < b, #a, ('x'):rep(2, a)",
		func(a, b, c string) bool {
			// The sign of NaN depends on the processor.
			return strings.Contains(strings.ToLower(a+b), "nan")
		})
}

func FuzzCJSONDecodesAsInRedis(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}]}`, `[1e5,-0x1,nan]`, `"\ud83d\ude00\n"`, `{"a":1,}`, `{"a":1,"a":[]}`,
		`[-0,1E+2,1e999,0.1,123456789012345678]`, `[null,true,false,"\u0000\/"]`,
		`"\ud800"`, `[infinity,-inf,01]`, `[1 2]`, `{"a" 1}`, "[\"\x01\"]", `[1,]`, `tru`, `{1:2}`,
		`"\x"`, `"\u12"`, "[[[[", `{"":{"":0}}`, `[+1]`, `[.5]`,
	} {
		f.Add(s, "", "", 0)
	}
	libraryTarget(f, "local v = cjson.decode(a) local ok, s = pcall(cjson.encode, v) "+
		"return v, ok and cjson.decode(s)",
		func(a, b, c string) bool {
			return strings.Count(a, "[")+strings.Count(a, "{") > 900 ||
				strings.Contains(strings.ToLower(a), "nan")
		})
}

func FuzzCMsgpackUnpacksAsInRedis(f *testing.F) {
	for _, s := range []string{
		"\x93\x01\xc0\xa1a", "\x81\xa1a\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00",
		"\xdd\x00\x00\x00\x02\x01\x02", "\x81\xcd\x03\xff\x01", strings.Repeat("\x91", 50),
		"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
		"\xca\x7f\x80\x00\x00", "\x82\x01\x02\x03\x92\xc2\xc3",
		"\xda\x00\x01a\xdb\x00\x00\x00\x01b\xd9\x01c", "\xc1", "\xc4\x01a", "\xd4\x00a", "\x80\x90\xa0",
		"\xdf\x00\x00\x00\x01\x01\x02",
	} {
		f.Add(s, "", "", 1)
	}
	libraryTarget(f, "return pcall(cmsgpack.unpack_limit, a, n, 0), "+
		"pcall(cmsgpack.unpack_one, a), cmsgpack.unpack(a)",
		func(a, b, c string) bool {
			marked := slices.ContainsFunc([]byte(a), func(c byte) bool {
				return strings.IndexByte("\xca\xcb\xce\xd2\xdd\xdf", c) >= 0
			})
			return marked && len(a) > 60 // the sign of NaN; arrays with long holes
		})
}

func FuzzStructUnpacksAsInRedis(f *testing.F) {
	for _, s := range []string{"bBhHlLTiI", "!8BdBf", "Bc0s", ">i7<I32", "!16I16 x", "<i3>i3c4s",
		"!2bh!4bi", "s", "fd", "c", "i33", "!3b", "z", "=b", "i0"} {
		f.Add("\x01\x02abcdefghijklmnopqrstuvw\x00abcdefgh\x00Ň\xbf\xbb", s, "x", 1)
		f.Add("\xff\x80", s, "", 3)
	}
	libraryTarget(f, "return pcall(struct.unpack, b, a, n), pcall(struct.size, b), "+
		"pcall(struct.pack, b, n, c, a, 1.5, c)", func(a, b, c string) bool {
		return strings.ContainsAny(b, "fd") // the sign of NaN
	})
}

// compiled matches errors about a compiler's limits, in which the servers differ.
var compiled = regexp.MustCompile(`function or expression too complex|control structure too long|constant table overflow|has more than \d+ `)

func FuzzScriptsCompileAsInRedis(f *testing.F) {
	for _, s := range []string{
		"return 1", "local a, b = 1, 'x' a, b = b, a", "for i = 1, #t do f(t[i]) end",
		"while true do if nil then break end end", "return function(...) return ... end",
		"t.x.y, a = a .. 1 .. f(), not {1, a = 2, [3] = 4}",
		"--[==[ ]] ]==] return [[x]]", "return 0x1p4 + 1e + 3..2",
		"local function f() return 1 break end", "x = = 1", "return 'a\\z\\065\\x41'", "a.b:c'x'.d = 5",
		"f\n(1)", "goto x ::x::", "return [[\n]] .. \"\\\n\"", "break", "return ...",
		"local t <const> = 1",
		"repeat local x until x", "if a then elseif b else end", "function a.b.c:d() end",
		"return -2^2 .. 3", "for a, b in pairs(t), 1 do end", "return 1; ;", "x 'y' = 1", "\"unfinished",
		"[==[ unfinished", "a = 08 1.2.3", "\x00return", "# comment\nreturn 1", "return \xff",
		"(a).b = 1", "(a) = 1", "return a.1",
	} {
		f.Add(s)
	}
	o := newOracle(f)
	var w *world
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > maxBytes {
			return
		}
		defer watch(source)()
		mask := func(reply string) string {
			if compiled.MatchString(reply) {
				return "too large"
			}
			return reply
		}
		if w == nil {
			w = newWorld(t)
		}
		w.t = t
		o.same(t, w, mask, "EVAL",
			"local f, err = loadstring(ARGV[1], '=s') return f and 'compiles' or err", "0", source)
	})
}

func FuzzGlobsMatchAsInRedis(f *testing.F) {
	for _, pattern := range []string{"a*b?c", "[^a-c]*", `\[*[\]a`, "[", "*[*", "[a-", "**?", "[z-A]",
		"[\x7f-\x80]", `[\B]`, `a\`, "[]", "[^]", "*"} {
		f.Add(pattern, "abcabc")
		f.Add(pattern, "]-ABC")
		f.Add(pattern, "\x80")
	}
	o := newOracle(f)
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern)+len(s) > 200 || strings.Count(pattern, "*") > 6 {
			return // Redis needs exponential time
		}
		defer watch(pattern + "\n" + s)()
		w := newWorld(t)
		for _, args := range [][]string{{"FLUSHALL"}, {"SADD", "set", s},
			{"SSCAN", "set", "0", "MATCH", pattern}, {"SET", s, "1"}, {"KEYS", pattern}} {
			o.same(t, w, asSet, args...)
		}
	})
}

// asSet sorts the reply of KEYS, which has no order.
func asSet(reply string) string {
	words := strings.Fields(strings.Trim(reply, "[]"))
	return sortedLines(strings.Join(words, "\n"))
}
