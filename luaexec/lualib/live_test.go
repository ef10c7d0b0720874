package lualib

import (
	"flag"
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"strings"
	"testing"
)

var (
	liveRuns = flag.Int("live.runs", 2000, "expressions of each kind to compare with redis-server")
	liveSeed = flag.Int64("live.seed", 1, "seed of the generated expressions")
)

// gen generates expressions.
type gen struct{ *rand.Rand }

func (g gen) pick(words ...string) string { return words[g.Intn(len(words))] }

// bytes is a Lua string literal of up to n of the pieces. Every byte is escaped.
func (g gen) bytes(n int, pieces ...string) string {
	var s strings.Builder
	for range g.Intn(n + 1) {
		s.WriteString(g.pick(pieces...))
	}
	return luaQuote(s.String())
}

func luaQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		fmt.Fprintf(&b, "\\%03d", s[i])
	}
	b.WriteByte('"')
	return b.String()
}

func (g gen) number() string {
	switch g.Intn(8) {
	case 0:
		return strconv.Itoa(g.Intn(300) - 150)
	case 1:
		return g.pick(
			"0", "-1", "1/0", "-1/0", "0/0", "2^31", "-2^31", "2^32", "2^53", "2^63", "-2^63", "2^64",
			"1e15", "1e100", "0.1", "-0.5", "1e-5",
		)
	case 2:
		return strconv.FormatInt(g.Int63()>>g.Intn(63), 10)
	case 3:
		// Not -0: C Lua's compiler makes one constant of 0 and -0 in a chunk.
		return "-" + strconv.FormatInt(g.Int63()>>g.Intn(63)|1, 10)
	case 4:
		return strconv.FormatFloat(g.NormFloat64()*math.Pow10(g.Intn(40)-20), 'g', g.Intn(17)+1, 64)
	case 5:
		return "'" + g.pick(" ", "", "0x", "-") + strconv.Itoa(g.Intn(1000)) +
			g.pick("", " ", "e2", ".5", "x") + "'"
	case 6:
		return fmt.Sprintf("2^%d", g.Intn(70))
	}
	return strconv.FormatFloat(math.Float64frombits(g.Uint64()&^(1<<62)), 'g', 17, 64)
}

func (g gen) value(depth int) string {
	switch n := g.Intn(9); {
	case n < 3:
		return g.number()
	case n < 5:
		return g.bytes(8, "a", "b", "\x00", "\"", "\\", "/", "\x7f", "\xff", "é", "\n", "12")
	case n < 6:
		return g.pick("true", "false", "nil", "cjson.null")
	case depth <= 0:
		return "{}"
	}
	parts := make([]string, g.Intn(4))
	for i := range parts {
		parts[i] = g.pick("", "", "", "a=", "b=", "[1]=", "[3]=", "[20]=", "[2.5]=", "[-1]=") +
			g.value(depth-1)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

var patternPieces = []string{
	"a", "b", ".", "%a", "%d", "%w", "%s", "%S", "%b()", "%f[%w]", "(", ")", "()", "(a)", "*",
	"+", "-", "?", "^", "$", "[", "]", "[ab]", "[^a]", "[a-c]", "%", "%1", "%2", "%z", "\x00",
	"x", "(.-)", "(.*)",
}
var subjectPieces = []string{
	"a", "b", "c", "x", "1", " ", "(", ")", "\x00", "%", "ab", "\xff", "-",
}
var numberPieces = []string{
	"0", "1", "9", "12", "0x", "x", "e", "E", "+", "-", ".", "p", "a", "f", "inf", "nan",
	"infinity", "(", ")", " ", "\t", "\v", "\x00", "_", "123456789", "99999999999999999999",
}
var formatPieces = []string{
	"%", "%", "%", "d", "i", "u", "c", "x", "X", "o", "e", "E", "f", "g", "G", "q", "s", "-", "+",
	" ", "#", "0", "5", "12", ".", ".0", ".3", ".10", "%%", "a", "\x00",
}
var jsonPieces = []string{
	"{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "1", "-", "0", "01", "1e5", "1.5", "0x1f",
	"true", "false", "null", "nan", "inf", " ", "\"", "\\", "\\u0041", "\\ud83d\\ude00",
	"\\ud800", "\\n", "\x00", "\xff", "+", "t",
}
var structPieces = []string{
	"b", "B", "h", "H", "l", "L", "T", "i", "I", "i3", "I7", "i9", "I16", "I32", "x", "c0", "c1",
	"c3", "s", "f", "d", ">", "<", "!", "!2", "!4", "!16", " ", "=", "z", "i0",
}

// shapes are the kinds of expressions, by name.
var shapes = map[string]func(g gen) string{
	"tostring": func(g gen) string { return "tostring(" + g.number() + ")" },
	"tonumber": func(g gen) string { return "tonumber(" + g.bytes(5, numberPieces...) + ")" },
	"tonumber with base": func(g gen) string {
		return "tonumber(" + g.bytes(5, numberPieces...) + "," +
			g.pick("2", "8", "10", "16", "36", "11", "1", "40") + ")"
	},
	"string.format": func(g gen) string {
		return "string.format(" + g.bytes(8, formatPieces...) + "," + g.value(0) + "," + g.number() +
			"," + g.value(0) + ")"
	},
	"string.find": func(g gen) string {
		return "string." + g.pick("find", "match") + "(" + g.bytes(12, subjectPieces...) + "," +
			g.bytes(7, patternPieces...) + g.pick("", "", ",2", ",-3", ",100", ",1,true") + ")"
	},
	"string.gsub": func(g gen) string {
		repl := g.pick(
			"'%0%0'", "'<%1>'", "'%2'", "'%'", "'x'", "{a='A',b=false,ab=5}",
			"function(...) return select('#',...) end", "function(a) return a end", "string.upper", "7",
		)
		return "string.gsub(" + g.bytes(12, subjectPieces...) + "," + g.bytes(6, patternPieces...) +
			"," + repl + g.pick("", "", ",2", ",0") + ")"
	},
	"string.gmatch": func(g gen) string {
		return "(function() local r = {} for a, b in string.gmatch(" + g.bytes(12, subjectPieces...) +
			"," + g.bytes(6, patternPieces...) +
			") do r[#r+1] = tostring(a) .. ',' .. tostring(b) end return table.concat(r, ';') end)()"
	},
	"string.sub and byte": func(g gen) string {
		return "string." + g.pick("sub", "byte") + "(" + g.bytes(10, subjectPieces...) + "," +
			g.number() + "," + g.number() + ")"
	},
	"cjson.decode": func(g gen) string { return "cjson.decode(" + g.bytes(12, jsonPieces...) + ")" },
	// Without the text of an error: the order of keys decides which error comes first.
	"cjson.encode": func(g gen) string {
		return "(function() local ok, s = pcall(cjson.encode," + g.value(4) +
			") return ok and cjson.decode(s) end)()"
	},
	"cjson.encode of arrays": func(g gen) string {
		parts := make([]string, g.Intn(5))
		for i := range parts {
			parts[i] = g.value(0)
		}
		return "cjson.encode({" + strings.Join(parts, ",") + "})"
	},
	"cmsgpack.pack": func(g gen) string {
		return "cmsgpack.pack(" + g.value(0) + "," + g.number() + ",{" + g.value(0) + "," +
			g.number() + "})"
	},
	"cmsgpack round trip": func(g gen) string {
		return "cmsgpack.unpack(cmsgpack.pack(" + g.value(4) + "))"
	},
	"cmsgpack.unpack": func(g gen) string {
		var b []byte
		for range g.Intn(14) {
			b = append(b, g.pick(
				"\x01", "\x00", "\x92", "\x81", "\xa1", "\xc0", "\xc1", "\xca", "\xcb", "\xcc", "\xcd",
				"\xd0", "\xd3", "\xd9", "\xdc", "\xde", "\xff", "a", "\x05",
			)...)
		}
		return "cmsgpack." + g.pick("unpack(", "unpack_one(", "unpack_limit(2,", "unpack(") +
			luaQuote(string(b)) + ")"
	},
	"struct.pack": func(g gen) string {
		return "struct.pack(" + g.bytes(6, structPieces...) + "," + g.number() + "," + g.value(0) +
			"," + g.number() + "," + g.bytes(4, subjectPieces...) + ")"
	},
	"struct.unpack": func(g gen) string {
		return "struct.unpack(" + g.bytes(6, structPieces...) + "," +
			g.bytes(40, "\x00", "\x01", "\x03", "\xff", "a", "1", "\x80") +
			g.pick("", "", ",2", ",0", ",50") + ")"
	},
	"struct.size": func(g gen) string { return "struct.size(" + g.bytes(6, structPieces...) + ")" },
	"bit": func(g gen) string {
		return "bit." +
			g.pick(
				"tobit", "tohex", "bnot", "band", "bor", "bxor", "lshift", "rshift", "arshift", "rol",
				"ror", "bswap",
			) +
			"(" + g.number() + "," + g.number() + ")"
	},
	"math": func(g gen) string {
		return "math." +
			g.pick(
				"floor", "ceil", "abs", "sqrt", "fmod", "mod", "modf", "max", "min", "frexp", "deg", "rad",
				"random",
			) +
			"(" + g.number() + "," + g.number() + ")"
	},
	"table": func(g gen) string {
		return g.pick(
			"table.concat({1,'a',2.5,1e15},", "unpack({1,2,3},", "select(", "table.remove({1,2,3},",
		) +
			g.number() + "," + g.number() + ")"
	},
	"table.insert": func(g gen) string {
		return "(function() local t = {1,2,3} table.insert(t," + strconv.Itoa(g.Intn(20)-8) + "," +
			g.number() + ") return t end)()"
	},
	"table.sort": func(g gen) string {
		parts := make([]string, g.Intn(30))
		for i := range parts {
			parts[i] = strconv.Itoa(g.Intn(20))
		}
		less := g.pick("a < b", "a > b", "a <= b", "a % 5 < b % 5", "true", "false", "a ~= b")
		return "(function() local t, log = {" + strings.Join(parts, ",") + "}, {} " +
			"local ok, err = pcall(table.sort, t, function(a, b) " +
			"log[#log+1] = tostring(a) .. '<' .. tostring(b) return " + less + " end) " +
			"return tostring(err), table.concat(t, ' '), table.concat(log, ' ') end)()"
	},
}

func TestGeneratedExpressionsHaveTheValuesOfRedisServer(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			o := startOracle(t)
			L := newState(t)
			g := gen{rand.New(rand.NewSource(*liveSeed))}
			differences := 0
			for range *liveRuns {
				code := "return " + shape(g)
				want, got := o.eval(code), evalHere(L, code)
				if got == want {
					continue
				}
				t.Errorf("seed %d: %s\nhere  %.300s\nredis %.300s", *liveSeed, code, got, want)
				if differences++; differences == 5 {
					t.Fatal("too many differences")
				}
			}
		})
	}
}
