package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// openBase installs this package's versions of the basic functions: the ones that
// must look behind proxies, the protected calls, and the ones that load code.
func (m *machine) openBase() {
	L, g := m.L, m.globals
	set := func(name string, fn lua.LGFunction) { g.RawSetString(name, L.NewFunction(fn)) }
	set("next", m.next)
	next := L.NewFunction(m.next) // pairs has a next of its own, as in C Lua
	set("pairs", func(L *lua.LState) int {
		lualib.CheckTable(L, 1)
		L.SetTop(1)
		L.Insert(next, 1)
		L.Push(lua.LNil)
		return 3
	})
	set("rawget", m.rawget)
	set("rawset", m.rawset)
	set("getmetatable", m.getmetatable)
	set("setmetatable", m.setmetatable)
	set("pcall", m.pcall)
	set("xpcall", m.xpcall)
	set("load", m.load)
	set("loadstring", m.loadstring)
	set("collectgarbage", collectgarbage)
	set("gcinfo", gcinfo)
	set(errorHandler, m.redisErrorHandler)
	m.wrapTableLibrary()
}

// wrapTableLibrary makes the functions of the table library look behind proxies.
// The functions that it leaves alone read the length first, which is 0 for a
// proxy.
func (m *machine) wrapTableLibrary() {
	lib := mustLibrary(m.globals, "table")
	wrap := func(name string, writes bool) {
		inner := mustFunction(lib, name)
		lib.RawSetString(name, m.L.NewFunction(func(L *lua.LState) int {
			if t, ok := L.Get(1).(*lua.LTable); ok && t.Metatable != lua.LNil {
				real, readonly := m.sandbox.behind(t)
				numbered := L.GetTop() < 3 || L.Get(2).Type() == lua.LTNumber
				if readonly && writes && numbered {
					refuse(L)
				}
				L.Replace(1, real)
			}
			return inner(L)
		}))
	}
	wrap("insert", true)
	wrap("foreach", false)
	wrap("maxn", false)
}

func (m *machine) next(L *lua.LState) int {
	t, _ := m.sandbox.behind(lualib.CheckTable(L, 1))
	after := L.Get(2)
	if after != lua.LNil && (t != m.visited || after != m.visitedKey) && !hasOrHadKey(t, after) {
		L.Error(lua.LString("invalid key to 'next'"), 0)
	}
	key, value := t.Next(after)
	m.visited, m.visitedKey = t, key
	if key == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(key)
	L.Push(value)
	return 2
}

func (m *machine) rawget(L *lua.LState) int {
	t, _ := m.sandbox.behind(lualib.CheckTable(L, 1))
	lualib.CheckAny(L, 2)
	L.Push(t.RawGet(L.Get(2)))
	return 1
}

func (m *machine) rawset(L *lua.LState) int {
	t, readonly := m.sandbox.behind(lualib.CheckTable(L, 1))
	key, value := lualib.CheckAny(L, 2), lualib.CheckAny(L, 3)
	if readonly {
		refuse(L)
	}
	if key == lua.LNil {
		L.Error(lua.LString("table index is nil"), 0)
	}
	if n, ok := key.(lua.LNumber); ok && n != n {
		L.Error(lua.LString("table index is NaN"), 0)
	}
	t.RawSet(key, value)
	L.SetTop(1)
	return 1
}

func (m *machine) getmetatable(L *lua.LState) int {
	lualib.CheckAny(L, 1)
	v := L.Get(1)
	if t, ok := v.(*lua.LTable); ok {
		if _, readonly := m.sandbox.behind(t); readonly {
			meta, ok := m.sandbox.metaOf[t]
			if !ok {
				meta = lua.LNil
			}
			L.Push(meta)
			return 1
		}
	}
	switch v.Type() {
	case lua.LTString:
		L.Push(m.stringMeta)
	case lua.LTTable:
		L.Push(L.GetMetatable(v))
	default:
		L.Push(lua.LNil)
	}
	return 1
}

func (m *machine) setmetatable(L *lua.LState) int {
	t := lualib.CheckTable(L, 1)
	meta := L.Get(2)
	if mt := meta.Type(); L.GetTop() < 2 || mt != lua.LTNil && mt != lua.LTTable {
		lualib.ArgError(L, 2, "nil or table expected")
	}
	if old, ok := t.Metatable.(*lua.LTable); ok && old.RawGetString("__metatable") != lua.LNil {
		lualib.Raise(L, "cannot change a protected metatable")
	}
	if _, readonly := m.sandbox.behind(t); readonly {
		refuse(L)
	}
	if proxy, ok := meta.(*lua.LTable); ok {
		meta, _ = m.sandbox.behind(proxy)
	}
	t.Metatable = meta
	L.SetTop(1)
	return 1
}

// redisErrorHandler is __redis__err__handler, which Redis leaves visible to
// scripts: it turns an error into a table with the source and line of the error.
func (m *machine) redisErrorHandler(L *lua.LState) int {
	v := L.Get(1)
	t, ok := v.(*lua.LTable)
	if !ok {
		t = L.CreateTable(0, 3)
		t.RawSetString("err", lua.LString(errorText(L, v)))
	} else if _, readonly := m.sandbox.behind(t); readonly {
		refuse(L)
	}
	if at := m.faultAt(L); at.line != 0 {
		t.RawSetString("source", lua.LString(at.source))
		t.RawSetString("line", lua.LNumber(at.line))
	}
	L.Push(t)
	return 1
}
