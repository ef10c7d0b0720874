package luaexec

import (
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// Redis marks tables read-only inside its patched Lua. gopher-lua has no such
// mark. So a script sees a proxy in place of each protected table: an empty
// table whose metatable reads from the real table and refuses writes. Functions
// that read a table without its metatable (rawget, next, pairs …) are this
// package's own (base.go), and look behind the proxy.
//
// A proxy would cost three look-ups for every library function that a script
// names. The compiler avoids them: it binds "redis.call" and the like to an
// entry of the environment that has the whole name (see syntax.Options.Bound).

// visibleGlobals are the names of the globals that redis-server 7.0.15 shows to a
// script, tables excepted.
var visibleGlobals = []string{
	"_VERSION", errorHandler, "assert", "collectgarbage", "error", "gcinfo",
	"getmetatable", "ipairs", "load", "loadstring", "next", "pairs", "pcall", "rawequal",
	"rawget", "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack",
	"xpcall",
}

// errorHandler is a global that functions do not see.
const errorHandler = "__redis__err__handler"

// globalTables are the names of the global tables. All of them are read-only.
var globalTables = []string{
	"bit", "cjson", "cmsgpack", "coroutine", "math", "redis", "string", "struct", "table",
}

// valkeyTable is the other name of the table redis in Valkey.
const valkeyTable = "server"

// sandbox is the read-only environment of a state.
type sandbox struct {
	m        *machine
	real     map[*lua.LTable]*lua.LTable // by proxy, the table behind it
	visible  *lua.LTable                 // the table behind _G
	globals  *lua.LTable                 // _G, a proxy
	metaOf   map[*lua.LTable]lua.LValue  // getmetatable's answer for a proxy; nil if absent
	readonly *lua.LFunction              // __newindex of every proxy
}

// newSandbox moves m's globals behind proxies. Every library must be open. It
// panics if a function or library that Redis has is missing.
func newSandbox(m *machine) {
	s := &sandbox{
		m:       m,
		real:    make(map[*lua.LTable]*lua.LTable),
		metaOf:  make(map[*lua.LTable]lua.LValue),
		visible: m.L.NewTable(),
	}
	m.sandbox = s
	s.readonly = m.L.NewFunction(refuseWrite)
	all := m.globals
	names := visibleGlobals
	if m.chunk == libraryName {
		names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == errorHandler })
	}
	m.globals = m.L.NewTable()
	s.globals = s.newProxy(s.visible, m.L.NewFunction(s.index))
	s.showGlobals(all, names)
	s.showLibraries(all, globalTables)
	if m.opts.Valkey != "" {
		s.setGlobal(valkeyTable, s.visible.RawGetString("redis"))
	}
	s.setGlobal("_G", s.globals)
	s.protectMetatables()
	s.installEnvironment()
	m.numberGlobals()
}

// showGlobals makes the named values of all visible to scripts. It panics if all
// lacks one of them.
func (s *sandbox) showGlobals(all *lua.LTable, names []string) {
	for _, name := range names {
		v := all.RawGetString(name)
		if v == lua.LNil {
			panic("luaexec: sandbox: no global is named " + name)
		}
		s.setGlobal(name, v)
	}
}

// showLibraries makes the named tables of all visible as proxies, and binds
// their functions to their whole names. It panics if all lacks one of them.
func (s *sandbox) showLibraries(all *lua.LTable, names []string) {
	for _, name := range names {
		lib := mustLibrary(all, name)
		lib.ForEach(func(k, v lua.LValue) {
			s.m.globals.RawSetString(name+"."+k.String(), v)
		})
		s.setGlobal(name, s.newProxy(lib, lib))
	}
}

// mustLibrary returns the library table with this name, and panics if there is
// none.
func mustLibrary(globals *lua.LTable, name string) *lua.LTable {
	lib, ok := globals.RawGetString(name).(*lua.LTable)
	if !ok {
		panic("luaexec: sandbox: no library is named " + name)
	}
	return lib
}

// mustFunction returns the Go function lib.name, and panics if there is none.
func mustFunction(lib *lua.LTable, name string) lua.LGFunction {
	fn, ok := lib.RawGetString(name).(*lua.LFunction)
	if !ok || fn.GFunction == nil {
		panic("luaexec: sandbox: the library has no function " + name)
	}
	return fn.GFunction
}

// installEnvironment makes m.globals the environment of scripts. Go functions
// keep the table that gopher-lua has created as their environment.
func (s *sandbox) installEnvironment() {
	L, m := s.m.L, s.m
	m.globals.RawSetString(syntax.HiddenReadonly, s.newProxy(L.NewTable(), lua.LNil))
	m.globals.RawSetString(syntax.HiddenGlobals, s.globals)
	m.installOperators()
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(missingGlobal))
	meta.RawSetString("__newindex", s.readonly)
	m.globals.Metatable = meta
	L.Env = m.globals
}

// protectMetatables shows the metatables of _G and of strings as Redis does:
// scripts can read them and cannot change them.
func (s *sandbox) protectMetatables() {
	L := s.m.L
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(missingGlobal))
	s.metaOf[s.globals] = s.newProxy(meta, meta)
	shown := L.NewTable()
	shown.RawSetString("__index", s.visible.RawGetString("string"))
	s.m.stringMeta = s.newProxy(shown, shown)
}

// newProxy returns the table that scripts see in place of real. index is its
// __index.
func (s *sandbox) newProxy(real *lua.LTable, index lua.LValue) *lua.LTable {
	meta := s.m.L.CreateTable(0, 2)
	meta.RawSetString("__index", index)
	meta.RawSetString("__newindex", s.readonly)
	proxy := &lua.LTable{Metatable: meta}
	s.real[proxy] = real
	return proxy
}

// setGlobal gives a global a value that scripts can read and cannot change.
func (s *sandbox) setGlobal(name string, v lua.LValue) {
	s.visible.RawSetString(name, v)
	s.m.globals.RawSetString(name, v)
	s.m.setNumbered(name, v)
}

// behind returns the table behind a proxy, and t itself for any other table.
// readonly reports whether t is a proxy.
func (s *sandbox) behind(t *lua.LTable) (real *lua.LTable, readonly bool) {
	if t.Metatable == lua.LNil {
		return t, false
	}
	if real, ok := s.real[t]; ok {
		return real, true
	}
	return t, false
}

// index is __index of _G.
func (s *sandbox) index(L *lua.LState) int {
	if v := s.visible.RawGet(L.Get(2)); v != lua.LNil {
		L.Push(v)
		return 1
	}
	return missingGlobal(L)
}

// missingGlobal is __index for a name that is not a global: it throws.
func missingGlobal(L *lua.LState) int {
	name, ok := lualib.AsString(L.Get(2))
	if !ok {
		lualib.Raise(L, errGlobalName)
	}
	lualib.Raise(L, errNoGlobal+lualib.CText(name)+"'")
	return 0
}

// refuseWrite is __newindex of every read-only table.
func refuseWrite(L *lua.LState) int {
	L.RaiseError(lualib.ErrReadOnly)
	return 0
}

// refuse throws the same error from a Go function. Redis gives no position here.
func refuse(L *lua.LState) { L.Error(lua.LString(lualib.ErrReadOnly), 0) }
