package lualib

import lua "github.com/yuin/gopher-lua"

// Patch replaces the functions of gopher-lua's base, string, table and math
// libraries that answer differently from Redis's C Lua 5.1. The libraries must
// be open in L, and it must run before scripts do. It leaves alone what belongs
// to the sandbox: pcall, xpcall, load, loadstring, coroutines, and what Redis
// does not have at all.
//
// The random numbers are those of a redis-server that has just started; see
// SetRandom.
func Patch(L *lua.LState, limits Limits) {
	if limits.Nesting == nil {
		limits.Nesting = new(int)
	}
	setWatch(L, limits.Watch)
	patchBase(L, limits)
	patchString(L, limits)
	patchTable(L, limits)
	patchMath(L)
	SetRandom(L, NewRandom())
}
