package luaexec

import (
	"reflect"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// mustPanic fails the test unless f panics with this value.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != want {
			t.Errorf("got panic %v, want %q", got, want)
		}
	}()
	f()
}

func TestAMissingGlobalOrLibraryPanics(t *testing.T) {
	m := newMachine(scriptName, Options{}, lualib.NewRandom())
	all := m.L.NewTable()
	mustPanic(t, "luaexec: sandbox: no global is named nosuch", func() {
		m.sandbox.showGlobals(all, []string{"nosuch"})
	})
	mustPanic(t, "luaexec: sandbox: no library is named nosuch", func() {
		m.sandbox.showLibraries(all, []string{"nosuch"})
	})
}

func TestAMissingLibraryFunctionPanics(t *testing.T) {
	m := newMachine(scriptName, Options{}, lualib.NewRandom())
	lib := m.L.NewTable()
	lib.RawSetString("text", lua.LString("x"))
	for _, name := range []string{"nosuch", "text"} {
		mustPanic(t, "luaexec: sandbox: the library has no function "+name, func() {
			mustFunction(lib, name)
		})
	}
	m.globals.RawSetString("table", lib)
	mustPanic(t, "luaexec: sandbox: the library has no function insert", m.wrapTableLibrary)
}

func TestAMissingPrivateFieldPanics(t *testing.T) {
	table := reflect.TypeFor[lua.LTable]()
	type moved struct {
		_         int
		Metatable lua.LValue
	}
	type renamed struct{ Nosuch int }
	type retyped struct{ Metatable []int }
	for name, mirror := range map[string]reflect.Type{
		"moved.Metatable":   reflect.TypeFor[moved](),
		"renamed.Nosuch":    reflect.TypeFor[renamed](),
		"retyped.Metatable": reflect.TypeFor[retyped](),
	} {
		_, field, _ := strings.Cut(name, ".")
		mustPanic(t, "luaexec: gopher-lua has no field lua.LTable."+field+" like luaexec."+name, func() {
			mustMirror(mirror, table)
		})
	}
}

func TestBoxedValuesEqualOrdinaryOnes(t *testing.T) {
	s, n := lua.LString("text"), lua.LNumber(1.5)
	if v := boxString(&s); v != lua.LValue(lua.LString("text")) || v.Type() != lua.LTString {
		t.Errorf("got %v", v)
	}
	if v := boxNumber(&n); v != lua.LValue(lua.LNumber(1.5)) || v.Type() != lua.LTNumber {
		t.Errorf("got %v", v)
	}
}
