package lualib

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

type stringLib struct {
	limits    Limits
	maxString int
}

// patchString replaces the string library, and gives strings a metatable of their
// own. gopher-lua uses the library table itself, so that scripts see string.__index.
func patchString(L *lua.LState, limits Limits) {
	lib := &stringLib{limits: limits, maxString: limits.maxString()}
	t := library(L, "string")
	gmatch := L.NewFunction(stringGmatch)
	L.SetFuncs(t, map[string]lua.LGFunction{
		"byte":    stringByte,
		"char":    stringChar,
		"dump":    stringDump,
		"find":    stringFind,
		"format":  lib.format,
		"gsub":    lib.gsub,
		"len":     stringLen,
		"lower":   stringLower,
		"match":   stringMatch,
		"rep":     lib.rep,
		"reverse": stringReverse,
		"sub":     stringSub,
		"upper":   stringUpper,
	})
	t.RawSetString("gmatch", gmatch)
	t.RawSetString("gfind", gmatch)
	t.RawSetString("__index", lua.LNil)
	meta := L.NewTable()
	meta.RawSetString("__index", t)
	L.SetMetatable(lua.LString(""), meta)
}

func stringLen(L *lua.LState) int {
	L.Push(lua.LNumber(len(CheckString(L, 1))))
	return 1
}

func stringSub(L *lua.LState) int {
	s := CheckString(L, 1)
	from := max(position(checkInteger(L, 2), len(s)), 1)
	to := min(position(optInteger(L, 3, -1), len(s)), int64(len(s)))
	if from > to {
		L.Push(lua.LString(""))
	} else {
		L.Push(lua.LString(s[from-1 : to]))
	}
	return 1
}

func stringByte(L *lua.LState) int {
	s := CheckString(L, 1)
	from := position(optInteger(L, 2, 1), len(s))
	to := min(position(optInteger(L, 3, from), len(s)), int64(len(s)))
	from = max(from, 1)
	if from > to {
		return 0
	}
	n := int(to - from + 1)
	if L.GetTop()+n > maxCStack {
		Raise(L, "stack overflow (string slice too long)")
	}
	for i := from - 1; i < to; i++ {
		L.Push(lua.LNumber(s[i]))
	}
	return n
}

func stringChar(L *lua.LState) int {
	n := L.GetTop()
	var small [64]byte
	out := small[:0]
	for i := 1; i <= n; i++ {
		c := checkInt(L, i)
		if c < 0 || c > 255 {
			ArgError(L, i, "invalid value")
		}
		out = append(out, byte(c))
	}
	L.Push(lua.LString(out))
	return 1
}

// stringDump throws.
//
// Differs from Redis: there is no C Lua bytecode here. Redis itself refuses to load
// bytecode.
func stringDump(L *lua.LState) int {
	CheckFunction(L, 1)
	Raise(L, "unable to dump given function")
	return 0
}

// mapBytes returns s to Lua with f applied to each byte.
func mapBytes(L *lua.LState, s string, f func(byte) byte) int {
	i := 0
	for i < len(s) && f(s[i]) == s[i] {
		i++
	}
	if i == len(s) {
		L.Push(lua.LString(s))
		return 1
	}
	Announce(L, len(s))
	out := []byte(s)
	for ; i < len(out); i++ {
		out[i] = f(out[i])
	}
	L.Push(lua.LString(out))
	return 1
}

func stringLower(L *lua.LState) int {
	return mapBytes(L, CheckString(L, 1), func(c byte) byte {
		if isUpper(c) {
			return c | 0x20
		}
		return c
	})
}

func stringUpper(L *lua.LState) int {
	return mapBytes(L, CheckString(L, 1), func(c byte) byte {
		if isLower(c) {
			return c &^ 0x20
		}
		return c
	})
}

func stringReverse(L *lua.LState) int {
	s := CheckString(L, 1)
	Announce(L, len(s))
	out := make([]byte, len(s))
	for i := range len(s) {
		out[len(s)-1-i] = s[i]
	}
	L.Push(lua.LString(out))
	return 1
}

func (lib *stringLib) rep(L *lua.LState) int {
	s, n := CheckString(L, 1), checkInt(L, 2)
	if n <= 0 || s == "" {
		L.Push(lua.LString(""))
		return 1
	}
	if n > lib.maxString/len(s) {
		Raise(L, ErrTooLarge)
	}
	Announce(L, n*len(s))
	L.Push(lua.LString(strings.Repeat(s, n)))
	return 1
}
