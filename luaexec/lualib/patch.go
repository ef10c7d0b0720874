package lualib

import lua "github.com/yuin/gopher-lua"

// Patch replaces the functions of gopher-lua's base, string, table and math
// libraries that behave differently from Redis's C Lua 5.1. The libraries must be
// open in L; Patch panics if one is missing. It must run before scripts do. It does
// not replace the functions that belong to the sandbox (next, pairs, rawget, rawset,
// getmetatable, setmetatable, pcall, xpcall, load, loadstring, collectgarbage, gcinfo,
// coroutines) or that Redis does not have.
//
// The sequence of random numbers starts as in a new redis-server; see SetRandom.
func Patch(L *lua.LState, limits Limits) {
	limits.nesting = new(int)
	setWatch(L, limits.Watch)
	patchBase(L, limits)
	patchString(L, limits)
	patchTable(L, limits)
	patchMath(L)
	SetRandom(L, NewRandom())
}

// library returns the global table with this name. It panics if there is none: the
// caller has not opened the library, or gopher-lua has changed.
func library(L *lua.LState, name string) *lua.LTable {
	t, ok := L.GetGlobal(name).(*lua.LTable)
	if !ok {
		panic("lualib: no library is named " + name)
	}
	return t
}
