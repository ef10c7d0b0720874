package luaexec

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// asCLua replaces an error message of gopher-lua by C Lua's. The result lacks the
// names of variables, which gopher-lua's messages do not have.
func asCLua(v lua.LValue) lua.LValue {
	s, ok := v.(lua.LString)
	if !ok {
		return v
	}
	place, text, ok := strings.Cut(string(s), ": ")
	if !ok {
		return v
	}
	if changed := cMessage(text); changed != text {
		return lua.LString(place + ": " + changed)
	}
	return v
}

// cMessage is C Lua's message for gopher-lua's message s, and s if there is none.
func cMessage(s string) string {
	if rest, ok := strings.CutPrefix(s, "attempt to index a non-table object("); ok {
		if typ, _, ok := strings.Cut(rest, ") with key '"); ok {
			return "attempt to index a " + typ + " value"
		}
	}
	if rest, ok := strings.CutPrefix(s, "cannot perform "); ok {
		if _, types, ok := strings.Cut(rest, " operation between "); ok {
			return "attempt to perform arithmetic on a " + nonNumber(types) + " value"
		}
	}
	if rest, ok := strings.CutPrefix(s, "attempt to compare "); ok {
		// C Lua takes two types for the same if their third letters are the same.
		a, b, ok := strings.Cut(rest, " with ")
		if ok && a == b || rest == "string with thread" || rest == "thread with string" {
			return "attempt to compare two " + a + " values"
		}
	}
	switch s {
	case "too many recursions in gettable":
		return "loop in gettable"
	case "too many recursions in settable":
		return "loop in settable"
	case "__unm undefined": // of other types, see installRefusals
		return "attempt to perform arithmetic on a table value"
	case "attempt to call a non-function object":
		return "attempt to call a table value"
	}
	return s
}

// nonNumber returns the first type other than number in "<type> and <type>".
func nonNumber(types string) string {
	a, b, _ := strings.Cut(types, " and ")
	if a == "number" {
		return b
	}
	return a
}
