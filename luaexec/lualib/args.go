package lualib

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// These functions stand in for gopher-lua's Check and Opt functions, which refuse
// numbers in strings, print numbers in Go's way and word their errors otherwise
// than C Lua.

// Raise throws msg with the position of the Lua code that called the running
// function in front, and without one when that caller is not Lua (pcall).
func Raise(L *lua.LState, msg string) {
	L.Error(lua.LString(Position(L, 1)+msg), 0)
}

// Position is "source:line: " of the frame at level, or "" when it is not Lua code.
func Position(L *lua.LState, level int) string {
	dbg, ok := L.GetStack(level)
	if !ok {
		return ""
	}
	if _, err := L.GetInfo("Sl", dbg, lua.LNil); err != nil || dbg.CurrentLine <= 0 {
		return ""
	}
	return dbg.Source + ":" + strconv.Itoa(dbg.CurrentLine) + ": "
}

// ArgError throws C Lua's sentence for a bad n-th argument. The function has the
// name that the calling code used for it, "?" when it was called by pcall.
func ArgError(L *lua.LState, n int, msg string) {
	name := "?"
	if dbg, ok := L.GetStack(0); ok {
		if _, err := L.GetInfo("n", dbg, lua.LNil); err == nil && dbg.Name != "" && dbg.Name != "(anonymous)" {
			name = dbg.Name
		}
	}
	Raise(L, "bad argument #"+strconv.Itoa(n)+" to '"+name+"' ("+msg+")")
}

// typeError throws "want expected, got <type of the n-th argument>".
func typeError(L *lua.LState, n int, want string) {
	ArgError(L, n, want+" expected, got "+ArgTypeName(L, n))
}

// ArgTypeName is the type of the n-th argument, "no value" when there is none.
func ArgTypeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

// CheckAny returns the n-th argument, which may be nil but must be there.
func CheckAny(L *lua.LState, n int) lua.LValue {
	if n > L.GetTop() {
		ArgError(L, n, "value expected")
	}
	return L.Get(n)
}

// CheckTable returns a table argument and throws when it is none.
func CheckTable(L *lua.LState, n int) *lua.LTable {
	t, ok := L.Get(n).(*lua.LTable)
	if !ok {
		typeError(L, n, "table")
	}
	return t
}

// CheckFunction returns a function argument and throws when it is none.
func CheckFunction(L *lua.LState, n int) *lua.LFunction {
	f, ok := L.Get(n).(*lua.LFunction)
	if !ok {
		typeError(L, n, "function")
	}
	return f
}

// CheckString returns a string argument; a number arrives as its text. It throws
// when the argument is neither.
func CheckString(L *lua.LState, n int) string {
	s, ok := AsString(L.Get(n))
	if !ok {
		typeError(L, n, "string")
	}
	return s
}

// OptString returns a string argument, or def where it is nil or not there, and
// throws when it is none.
func OptString(L *lua.LState, n int, def string) string {
	if L.Get(n) == lua.LNil {
		return def
	}
	return CheckString(L, n)
}

// checkNumber returns a number argument; a string that reads as one counts.
func checkNumber(L *lua.LState, n int) float64 {
	v := L.Get(n)
	if f, ok := v.(lua.LNumber); ok {
		return float64(f)
	}
	if s, ok := v.(lua.LString); ok {
		if f, ok := ParseNumber(string(s)); ok {
			return f
		}
	}
	typeError(L, n, "number")
	return 0
}

// checkInteger is C's (ptrdiff_t) of a number argument.
func checkInteger(L *lua.LState, n int) int64 { return toInt64(checkNumber(L, n)) }

// checkInt is C's (int) of checkInteger: the low 32 bits.
func checkInt(L *lua.LState, n int) int { return int(int32(checkInteger(L, n))) }

func optInteger(L *lua.LState, n int, def int64) int64 {
	if L.Get(n) == lua.LNil {
		return def
	}
	return checkInteger(L, n)
}

func optInt(L *lua.LState, n, def int) int {
	return int(int32(optInteger(L, n, int64(def))))
}

// AsString converts as lua_tolstring does: strings and numbers only.
func AsString(v lua.LValue) (string, bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return FormatNumber(float64(v)), true
	}
	return "", false
}

// AsNumber converts as lua_tonumber does: numbers and strings that read as one.
func AsNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return ParseNumber(string(v))
	}
	return 0, false
}

// toInt64 truncates as an x86-64 compiler's (int64_t) cast does: NaN and what
// does not fit become the lowest integer, on every machine.
func toInt64(f float64) int64 {
	if f >= -0x1p63 && f < 0x1p63 {
		return int64(f)
	}
	return math.MinInt64
}

// toUint64 truncates as an x86-64 compiler's (uint64_t) cast does.
func toUint64(f float64) uint64 {
	if f >= 0x1p63 {
		return uint64(toInt64(f-0x1p63)) ^ 1<<63
	}
	return uint64(toInt64(f))
}
