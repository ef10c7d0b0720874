package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// Redis marks tables read-only inside its patched Lua. gopher-lua has no such
// mark, so a script gets to see stand-ins: an empty table whose metatable reads
// from the real one and refuses to be written to. The functions that look into
// a table without asking its metatable (rawget, next, pairs …) are ours and
// know a stand-in when they get one.
//
// The price would be three look-ups for every library function that a script
// names. It is not paid, because the compiler binds "redis.call" and its like
// to an entry of the environment under the whole name (see syntax.Bind).

// visibleGlobals are the globals of a script, as redis-server 7.0.15 lists them.
var visibleGlobals = [...]string{
	"_VERSION", "__redis__err__handler", "assert", "collectgarbage", "error", "gcinfo",
	"getmetatable", "ipairs", "load", "loadstring", "next", "pairs", "pcall", "rawequal",
	"rawget", "rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack",
	"xpcall",
}

// libraries are the global tables, all of them read-only, with those of their
// functions that gopher-lua has and Redis's Lua has not.
var libraries = map[string][]string{
	"bit": nil, "cjson": nil, "cmsgpack": nil, "coroutine": nil, "math": nil,
	"redis": nil, "string": nil, "struct": nil, "table": nil,
}

// sandbox is the read-only surface of a state.
type sandbox struct {
	m        *machine
	real     map[*lua.LTable]*lua.LTable // a stand-in's table
	visible  *lua.LTable                 // what _G shows
	standIn  *lua.LTable                 // _G itself
	metaOf   map[*lua.LTable]lua.LValue  // what getmetatable answers for a stand-in; nil if absent
	readonly *lua.LFunction              // __newindex of every stand-in
}

// newSandbox moves m's globals behind stand-ins. Every library must be open.
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
	m.globals = m.L.NewTable()
	s.standIn = s.standInFor(s.visible, m.L.NewFunction(s.index))
	for _, name := range visibleGlobals {
		s.setGlobal(name, all.RawGetString(name))
	}
	for name := range libraries {
		lib := all.RawGetString(name).(*lua.LTable)
		lib.ForEach(func(k, v lua.LValue) {
			m.globals.RawSetString(name+"."+k.String(), v)
			m.bound[name+"."+k.String()] = true
		})
		s.setGlobal(name, s.standInFor(lib, lib))
	}
	s.setGlobal("_G", s.standIn)
	s.protectMetatables()
	s.installEnvironment()
}

// installEnvironment makes m.globals the environment of scripts. The table that
// gopher-lua created stays what it is for every Go function: its own.
func (s *sandbox) installEnvironment() {
	L, m := s.m.L, s.m
	m.globals.RawSetString(syntax.HiddenReadonly, s.standInFor(L.NewTable(), lua.LNil))
	m.globals.RawSetString(syntax.HiddenGlobals, s.standIn)
	m.installOperators()
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(missingGlobal))
	meta.RawSetString("__newindex", s.readonly)
	m.globals.Metatable = meta
	L.Env = m.globals
}

// protectMetatables shows _G's metatable, and that of all strings, as Redis
// does: they can be looked at and not be changed.
func (s *sandbox) protectMetatables() {
	L := s.m.L
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(missingGlobal))
	s.metaOf[s.standIn] = s.standInFor(meta, meta)
	shown := L.NewTable()
	shown.RawSetString("__index", s.visible.RawGetString("string"))
	s.m.stringMeta = s.standInFor(shown, shown)
}

// standInFor returns the table scripts see in place of real; index is its
// __index.
func (s *sandbox) standInFor(real *lua.LTable, index lua.LValue) *lua.LTable {
	meta := s.m.L.CreateTable(0, 2)
	meta.RawSetString("__index", index)
	meta.RawSetString("__newindex", s.readonly)
	standIn := &lua.LTable{Metatable: meta}
	s.real[standIn] = real
	return standIn
}

// setGlobal gives a global a value that scripts can read and not change.
func (s *sandbox) setGlobal(name string, v lua.LValue) {
	s.visible.RawSetString(name, v)
	s.m.globals.RawSetString(name, v)
}

// behind returns the table a script means by t, and whether t is read-only.
func (s *sandbox) behind(t *lua.LTable) (real *lua.LTable, readonly bool) {
	if t.Metatable == lua.LNil {
		return t, false
	}
	if real, ok := s.real[t]; ok {
		return real, true
	}
	return t, false
}

// index is __index of _G's stand-in.
func (s *sandbox) index(L *lua.LState) int {
	if v := s.visible.RawGet(L.Get(2)); v != lua.LNil {
		L.Push(v)
		return 1
	}
	return missingGlobal(L)
}

// missingGlobal is __index for what no global is called.
func missingGlobal(L *lua.LState) int {
	name, ok := lualib.AsString(L.Get(2))
	if !ok {
		lualib.Raise(L, errGlobalName)
	}
	lualib.Raise(L, errNoGlobal+name+"'")
	return 0
}

// refuseWrite is __newindex of every read-only table.
func refuseWrite(L *lua.LState) int {
	L.RaiseError(lualib.ErrReadOnly)
	return 0
}

// refuse raises the same error from a Go function: Redis gives no position then.
func refuse(L *lua.LState) { L.Error(lua.LString(lualib.ErrReadOnly), 0) }
