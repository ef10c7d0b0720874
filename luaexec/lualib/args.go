package lualib

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The functions of this file replace gopher-lua's Check and Opt functions, which
// refuse numbers in strings, print numbers as Go does, and have other error
// messages than C Lua.

// Raise throws msg. In front of it is the position of the Lua code that called the
// running function, or nothing if the caller is not Lua (pcall).
func Raise(L *lua.LState, msg string) {
	L.Error(lua.LString(Position(L, 1)+msg), 0)
}

// CText is the part of s that C prints: the bytes before the first zero byte.
func CText(s string) string {
	text, _, _ := strings.Cut(s, "\x00")
	return text
}

// Uncallable is the error of calling v, "" if it can be called. Only the metatables of
// tables count: see installRefusals in luaexec.
func Uncallable(L *lua.LState, v lua.LValue) string {
	if v.Type() == lua.LTFunction ||
		v.Type() == lua.LTTable && L.GetMetaField(v, "__call").Type() == lua.LTFunction {
		return ""
	}
	return "attempt to call a " + v.Type().String() + " value"
}

// Position is "source:line: " of the frame at level, or "" if it is not Lua code.
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

// ArgError throws C Lua's error for a bad n-th argument. The error has the name
// that the calling code uses for the function, or "?" if pcall or FCALL called it.
func ArgError(L *lua.LState, n int, msg string) {
	name := "?"
	if dbg, ok := L.GetStack(0); ok {
		_, err := L.GetInfo("n", dbg, lua.LNil)
		if err == nil && dbg.Name != "" && dbg.Name != "(anonymous)" && dbg.Name != "main chunk" {
			name = dbg.Name
		}
	}
	Raise(L, "bad argument #"+strconv.Itoa(n)+" to '"+name+"' ("+msg+")")
}

// typeError throws "want expected, got <type of the n-th argument>".
func typeError(L *lua.LState, n int, want string) {
	ArgError(L, n, want+" expected, got "+ArgTypeName(L, n))
}

// ArgTypeName is the type of the n-th argument, "no value" if there is none.
func ArgTypeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

// CheckAny returns the n-th argument. It throws if there is none; nil is allowed.
func CheckAny(L *lua.LState, n int) lua.LValue {
	if n > L.GetTop() {
		ArgError(L, n, "value expected")
	}
	return L.Get(n)
}

// CheckTable returns the n-th argument, and throws if it is not a table.
func CheckTable(L *lua.LState, n int) *lua.LTable {
	t, ok := L.Get(n).(*lua.LTable)
	if !ok {
		typeError(L, n, "table")
	}
	return t
}

// CheckFunction returns the n-th argument, and throws if it is not a function.
func CheckFunction(L *lua.LState, n int) *lua.LFunction {
	f, ok := L.Get(n).(*lua.LFunction)
	if !ok {
		typeError(L, n, "function")
	}
	return f
}

// CheckString returns the n-th argument as a string. A number becomes its text. It
// throws if the argument is neither a string nor a number.
func CheckString(L *lua.LState, n int) string {
	s, ok := AsString(L.Get(n))
	if !ok {
		typeError(L, n, "string")
	}
	return s
}

// OptString is CheckString for an optional argument: it returns def if the argument
// is nil or missing.
func OptString(L *lua.LState, n int, def string) string {
	if L.Get(n) == lua.LNil {
		return def
	}
	return CheckString(L, n)
}

// checkNumber returns the n-th argument as a number. A string is accepted if Lua
// converts it to a number.
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

// OptInt returns the n-th argument as a number converted to C's int, or def if it is
// nil or missing.
func OptInt(L *lua.LState, n, def int) int {
	return int(int32(optInteger(L, n, int64(def))))
}

// AsString converts strings and numbers to a string, as lua_tolstring does. ok is
// false for other types.
func AsString(v lua.LValue) (s string, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return FormatNumber(float64(v)), true
	}
	return "", false
}

// AsNumber converts numbers and numeric strings to a number, as lua_tonumber does.
// ok is false for other values.
func AsNumber(v lua.LValue) (n float64, ok bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return ParseNumber(string(v))
	}
	return 0, false
}

// toInt64 is C's (int64_t) of a double on x86-64, on every machine: NaN and values
// out of range become the lowest integer.
func toInt64(f float64) int64 {
	if f >= -0x1p63 && f < 0x1p63 {
		return int64(f)
	}
	return math.MinInt64
}

// toUint64 is C's (uint64_t) of a double on x86-64, on every machine.
func toUint64(f float64) uint64 {
	if f >= 0x1p63 {
		return uint64(toInt64(f-0x1p63)) ^ 1<<63
	}
	return uint64(toInt64(f))
}
