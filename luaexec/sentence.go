package luaexec

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// asCLua puts an error of gopher-lua's machine into C Lua's words, as far as
// what it says allows: it does not know the names of variables.
func asCLua(v lua.LValue) lua.LValue {
	s, ok := v.(lua.LString)
	if !ok {
		return v
	}
	place, sentence, ok := strings.Cut(string(s), ": ")
	if !ok {
		return v
	}
	if changed := cSentence(sentence); changed != sentence {
		return lua.LString(place + ": " + changed)
	}
	return v
}

func cSentence(s string) string {
	if rest, ok := strings.CutPrefix(s, "attempt to index a non-table object("); ok {
		if typ, _, ok := strings.Cut(rest, ") with key '"); ok {
			return "attempt to index a " + typ + " value"
		}
	}
	if rest, ok := strings.CutPrefix(s, "cannot perform "); ok {
		if _, types, ok := strings.Cut(rest, " operation between "); ok {
			return "attempt to perform arithmetic on a " + culprit(types) + " value"
		}
	}
	if rest, ok := strings.CutPrefix(s, "attempt to compare "); ok {
		if a, b, ok := strings.Cut(rest, " with "); ok && a == b {
			return "attempt to compare two " + a + " values"
		}
	}
	switch s {
	case "too many recursions in gettable":
		return "loop in gettable"
	case "too many recursions in settable":
		return "loop in settable"
	case "__unm undefined":
		return "attempt to perform arithmetic on a nil value"
	case "__len undefined":
		return "attempt to get length of a nil value"
	case "attempt to call a non-function object":
		return "attempt to call a nil value"
	}
	return s
}

// culprit picks the operand that is no number from "<type> and <type>".
func culprit(types string) string {
	a, b, _ := strings.Cut(types, " and ")
	if a == "number" {
		return b
	}
	return a
}
