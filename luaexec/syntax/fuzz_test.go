package syntax

import (
	"fmt"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func FuzzSourcesCompileOrHaveAnErrorWithALine(f *testing.F) {
	for _, s := range []string{
		"return 1", "local a, b = 1, 'x' a, b = b, a", "for i = 1, #t do f(t[i]) end", "\x00",
		"a = \n\n= 1",
		"while true do if nil then break end end", "return function(...) return ... end",
		"t.x.y, a = a .. 1 .. f(), not {1, a = 2, [3] = 4}", "--[==[ ]] ]==] return [[x]]",
		"if a then elseif b == nil then return else end", "repeat local x = 1 until x or not x",
		"return a.b.c:d(1, ...)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		block, err := Parse(source, Options{Name: "s"})
		again, err2 := Parse(source, Options{Name: "s"})
		if fmt.Sprint(err) != fmt.Sprint(err2) || block.Loops != again.Loops ||
			len(block.Stmts) != len(again.Stmts) {
			t.Fatalf("%q parses differently the second time: %v, %v", source, err, err2)
		}
		if err == nil {
			lua.Compile(block.Stmts, "s")
			return
		}
		failure, ok := err.(*Error)
		// A line ends with \r, \n or a pair of both.
		lines := 1 + strings.Count(source, "\n") + strings.Count(source, "\r")
		if !ok || failure.Line < 1 || failure.Line > lines || failure.Text == "" {
			t.Fatalf("%q: %v, of %d lines at most", source, err, lines)
		}
	})
}
