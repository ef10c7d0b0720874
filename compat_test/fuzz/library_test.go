package fuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// library is every function that a script can reach and whose result depends only on its
// arguments. math.pow is left out: the C library decides the sign of its NaN.
var library = strings.Fields(`
	string.byte string.char string.find string.format string.gmatch string.gsub string.len string.lower string.match
	string.rep string.reverse string.sub string.upper
	table.concat table.insert table.maxn table.remove table.sort table.getn table.foreach table.foreachi
	math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp math.floor math.fmod
	math.frexp math.ldexp math.log math.log10 math.max math.min math.modf math.rad math.sin math.sinh math.sqrt
	math.tan math.tanh math.mod
	bit.tobit bit.bnot bit.band bit.bor bit.bxor bit.lshift bit.rshift bit.arshift bit.rol bit.ror bit.bswap bit.tohex
	cjson.encode cjson.decode cjson.encode_sparse_array cjson.encode_max_depth cjson.decode_max_depth
	cjson.encode_number_precision cjson.encode_keep_buffer cjson.encode_invalid_numbers cjson.decode_invalid_numbers
	struct.pack struct.unpack struct.size cmsgpack.pack cmsgpack.unpack cmsgpack.unpack_one cmsgpack.unpack_limit
	redis.sha1hex redis.error_reply redis.status_reply redis.log redis.setresp redis.set_repl redis.acl_check_cmd
	coroutine.create coroutine.resume coroutine.status coroutine.wrap coroutine.yield
	assert error getmetatable ipairs loadstring next pairs pcall rawequal rawget rawset select setmetatable tonumber
	tostring type unpack xpcall`)

// odd are unusual arguments.
var odd = []string{"nil", "0", "1", "-1", "1.5", "-0.5", "3", "1e300", "0/0", "true", `""`, `"a"`,
	`"10"`, `"abc%d"`, `" 0x10 "`, "{}", "{1, 2, 3}", `{"x", "y"}`,
	"function() return 1 end", `setmetatable({}, {__tostring = function() return "T" end})`}

// third are the values of the third argument.
var third = []string{"nil", "0", "-1", "1.5", `"a"`, "{1, 2, 3}", "true"}

// takesMore matches functions with a third parameter.
var takesMore = regexp.MustCompile(`^(string\.(byte|find|format|gmatch|gsub|match|sub)|table\.(concat|insert)|unpack|struct\.(pack|unpack)|cmsgpack\.unpack_limit|select)$`)

// unlike matches calls that need more memory than one of the two servers allows.
var unlike = regexp.MustCompile(`^(string\.rep|table\.concat|unpack)\(.*1e300`)

func TestEveryLibraryFunctionTakesOddArgumentsAsInRedis(t *testing.T) {
	o := newOracle(t)
	w := newWorld(t)
	for _, name := range library {
		calls := []string{name + "()"}
		for _, a := range odd {
			calls = append(calls, fmt.Sprintf("%s(%s)", name, a))
			for _, b := range odd {
				calls = append(calls, fmt.Sprintf("%s(%s, %s)", name, a, b))
				for _, c := range third {
					if takesMore.MatchString(name) {
						calls = append(calls, fmt.Sprintf("%s(%s, %s, %s)", name, a, b, c))
					}
				}
			}
		}
		calls = slices.DeleteFunc(calls, unlike.MatchString)
		for some := range slices.Chunk(calls, 60) {
			// The C library decides the last digit of a sine.
			body := strings.Replace(render, "%.17g", "%.14g", 1) + "local out = {}\n"
			for _, call := range some {
				body += "out[#out + 1] = all(pcall(function() return " + call + " end))\n"
			}
			compareCalls(t, o, w, some, body+"return out")
		}
	}
}

func compareCalls(t *testing.T, o *oracle, w *world, calls []string, body string) {
	want := o.do(t, "EVAL", body, "0")
	got := w.execute(0, words("EVAL", body, "0"))
	if len(got) != 1 || len(want.Elems) != len(calls) || len(got[0].Elems) != len(calls) {
		t.Errorf("%s …\nredis-server %.300s\nlockredis    %.300s", calls[0], want, got)
		return
	}
	for i, call := range calls {
		if a, b := withoutAddresses(want.Elems[i]), withoutAddresses(got[0].Elems[i]); a != b {
			t.Errorf("%s\nredis-server %.200s\nlockredis    %.200s", call, a, b)
		}
	}
}

var addresses = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// withoutAddresses returns a reply's text without addresses, which may be in quotes.
func withoutAddresses(v wire.Value) string {
	text := strings.NewReplacer(`\x3a`, ":").Replace(string(v.Str))
	return addresses.ReplaceAllString(text, "0x")
}
