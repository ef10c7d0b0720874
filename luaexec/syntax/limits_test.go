package syntax

import (
	"fmt"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func repeat(n int, s string) string { return strings.Repeat(s, n) }

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Each source compiles with max repetitions and not with one more, as measured on
// redis-server 7.0.15.
func TestNestingHasTheLimitsOfRedis(t *testing.T) {
	const tooDeep = "chunk has too many syntax levels"
	for name, c := range map[string]struct {
		max    int
		source func(n int) string
		errors string
	}{
		"parentheses": {198, func(n int) string { return "return " + repeat(n, "(") + "1" + repeat(n, ")") }, tooDeep},
		"not":         {198, func(n int) string { return "return " + repeat(n, "not ") + "1" }, tooDeep},
		"minus":       {198, func(n int) string { return "return " + repeat(n, "- ") + "1" }, tooDeep},
		"braces":      {199, func(n int) string { return "return " + repeat(n, "{") + repeat(n, "}") }, tooDeep},
		"do":          {199, func(n int) string { return repeat(n, "do ") + repeat(n, "end ") }, tooDeep},
		"if":          {199, func(n int) string { return repeat(n, "if 1 then ") + repeat(n, "end ") }, tooDeep},
		"while":       {199, func(n int) string { return repeat(n, "while nil do ") + repeat(n, "end ") }, tooDeep},
		"repeat":      {199, func(n int) string { return repeat(n, "repeat ") + repeat(n, "until 1 ") }, tooDeep},
		"concat":      {198, func(n int) string { return "local a='x' return " + repeat(n, "a..") + "a" }, tooDeep},
		"power":       {198, func(n int) string { return "return " + repeat(n, "1^") + "1" }, tooDeep},
		"functions":   {99, func(n int) string { return "return " + repeat(n, "function() return ") + "1 " + repeat(n, "end ") }, tooDeep},
		"calls":       {198, func(n int) string { return "local f=tostring return " + repeat(n, "f(") + "1" + repeat(n, ")") }, tooDeep},
		"locals":      {200, func(n int) string { return numbered(n, "local a%d ") }, "main function has more than 200 local variables"},
		"parameters":  {200, func(n int) string { return "return function(" + strings.TrimSuffix(numbered(n, "a%d,"), ",") + ") end" }, "function at line 1 has more than 200 local variables"},
		"upvalues": {60, func(n int) string {
			return numbered(n, "local a%d ") + "return function() return " +
				strings.TrimSuffix(numbered(n, "a%d or "), " or ") + " end"
		}, "function at line 1 has more than 60 upvalues"},
		"targets": {200, func(n int) string { return "local a " + strings.TrimSuffix(repeat(n, "a,"), ",") + "=1" }, "main function has more than 199 variables in assignment"},
	} {
		if _, err := Parse(c.source(c.max), Options{Name: "s"}); err != nil {
			t.Errorf("%s: %d: %v", name, c.max, err)
		}
		_, err := Parse(c.source(c.max+1), Options{Name: "s"})
		if err == nil || err.Error() != "s:1: "+c.errors {
			t.Errorf("%s: %d: %v", name, c.max+1, err)
		}
	}
}

// None of these sources may overflow the stack, which cannot be recovered from, or take
// long, which would block the server.
func TestHugeSourcesCompileOrFail(t *testing.T) {
	const n = 300_000
	for name, source := range map[string]string{
		"braces": repeat(n, "{"), "parentheses": repeat(n, "("), "not": "return " + repeat(n, "not "),
		"brackets": repeat(n, "a["), "functions": repeat(n, "function a()"), "do": repeat(n, "do "),
		"if": repeat(n, "if a then "), "elseif": "if a then " + repeat(n, "elseif a then "),
		"sums": "return 1" + repeat(n, "+a"), "fields": "return a" + repeat(n, ".b"),
		"calls": "return a" + repeat(n, "()"), "methods": "return a" + repeat(n, ":b()"),
		"and": "return a" + repeat(n, " and a"), "equal": "return a" + repeat(n, "==a"),
		"statements": repeat(n, "a() "), "table": "return {" + repeat(n, "1,") + "}",
		"names": "function a" + repeat(n, ".b") + "() end", "comments": repeat(n, "--[[x]]"),
	} {
		block, err := Parse(source, Options{Name: "s"})
		if err != nil {
			continue
		}
		if _, err := lua.Compile(block.Stmts, "s"); err != nil {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestLoopsIsTrueForSourcesThatMayRunForEver(t *testing.T) {
	for source, want := range map[string]bool{
		"return 1":                          false,
		"if a then b() else c() end":        false,
		"return redis.call('get', KEYS[1])": false,
		"while true do end":                 true,
		"repeat until false":                true,
		"for i = 1, 2 do end":               true,
		"for k in pairs(t) do end":          true,
		"local function f() end":            true,
		"return function() end":             true,
		"loadstring('x')()":                 true,
		"local l = load":                    true,
		"return _G":                         true,
		"local load = 1 return load":        false,
		"local t = {} return t.loadstring":  false,
	} {
		block, err := Parse(source, Options{})
		if err != nil || block.Loops != want {
			t.Errorf("%s: %v, %v", source, block.Loops, err)
		}
	}
}

func TestLongArgumentListsCompile(t *testing.T) {
	for _, source := range []string{
		"return f(" + strings.TrimSuffix(repeat(240, "1,"), ",") + ")",
		"return f(" + repeat(240, "a,") + "g())",
		"return f(" + repeat(49, "a,") + "f(" + repeat(49, "a,") + "f(" + repeat(49, "a,") + "1)))",
	} {
		block, err := Parse(source, Options{Name: "s"})
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := lua.Compile(block.Stmts, "s"); err != nil {
			t.Error(err)
		}
	}
}
