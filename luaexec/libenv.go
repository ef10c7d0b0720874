package luaexec

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// Libraries share an environment with each other, but not with scripts. While a library
// is loaded, the environment has other contents: the global redis is its only name, and
// that table has only register_function, log and constants. The functions of a library
// see the ordinary contents when they run. They may keep the loading table redis in a
// local variable.

// loadEnvironment is what code sees while its library is loaded.
type loadEnvironment struct {
	redis    *lua.LTable // the table behind the global redis
	contents lua.LTable  // of the environment
}

// newLoadEnvironment builds the environment of loading libraries. The sandbox of m must be
// complete.
func (m *machine) newLoadEnvironment() *loadEnvironment {
	L, s := m.L, m.sandbox
	env := &loadEnvironment{redis: table(L, map[string]lua.LGFunction{
		"register_function": m.registerFunction,
		"log":               m.log,
	})}
	m.setConstants(env.redis)
	missing := L.NewFunction(env.index)
	contents := L.NewTable()
	m.globals.ForEach(func(name, v lua.LValue) {
		if strings.HasPrefix(name.String(), "(") { // an operator
			contents.RawSet(name, v)
		}
	})
	env.redis.ForEach(func(name, v lua.LValue) {
		if whole := "redis." + name.String(); m.names.has(whole) {
			contents.RawSetString(whole, v)
		}
	})
	proxy := s.newProxy(env.redis, missing)
	shown := L.NewTable()
	shown.RawSetString("__index", missing)
	s.metaOf[proxy] = s.newProxy(shown, shown)
	contents.RawSetString("redis", proxy)
	if m.opts.Valkey != "" {
		contents.RawSetString(valkeyTable, proxy)
	}
	contents.RawSetString(syntax.HiddenGlobals, s.newProxy(L.NewTable(), missing))
	meta := L.NewTable()
	meta.RawSetString("__index", L.NewFunction(missingWhileLoading))
	meta.RawSetString("__newindex", s.readonly)
	contents.Metatable = meta
	env.contents = *contents
	return env
}

// index is __index of the loading table redis.
func (env *loadEnvironment) index(L *lua.LState) int {
	if L.Get(1).Type() == lua.LTTable {
		if v := env.redis.RawGet(L.Get(2)); v != lua.LNil {
			L.Push(v)
			return 1
		}
	}
	return missingGlobal(L)
}

// missingWhileLoading is __index of the environment. The compiler reads "redis.call" as one
// name. Redis reports the missing part.
func missingWhileLoading(L *lua.LState) int {
	if name, ok := lualib.AsString(L.Get(2)); ok {
		lib, field, whole := strings.Cut(name, ".")
		switch {
		case whole && lib == "redis":
			name = field
		case whole:
			name = lib
		}
		lualib.Raise(L, errNoGlobal+name+"'")
	}
	return missingGlobal(L)
}

// whileLoading calls do with the contents of the environment that a loading library sees.
func (m *machine) whileLoading(do func()) {
	ordinary, numbered := *m.globals, m.numbered
	*m.globals, m.numbered = m.loadEnv.contents, nil
	defer func() { *m.globals, m.numbered = ordinary, numbered }()
	do()
}
