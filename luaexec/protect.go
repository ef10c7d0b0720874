package luaexec

import (
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// gopher-lua's pcall cannot be used. When an error is raised, gopher-lua closes
// the captured variables of every active function, even outside the pcall. After
// that a function and its closures no longer share the variable. With an error
// handler set, gopher-lua closes none at all. So this file always sets a handler,
// which closes the variables of the functions that the error leaves.

// maxNesting is C Lua's limit of 200 nested C calls (LUAI_MAXCCALLS), less the
// calls that Redis needs to start a script.
const maxNesting = 198

// pcall is Redis's pcall. Unlike C Lua's, it returns the field err of an error
// that is a table, if the field is a string or a number. Else it is a third result.
func (m *machine) pcall(L *lua.LState) int {
	if L.GetTop() == 0 {
		return pushFailure(L, lua.LString("attempt to call a boolean value"))
	}
	if msg := lualib.Uncallable(L, L.Get(1)); msg != "" {
		return pushFailure(L, lua.LString(msg))
	}
	err := m.protected(L, L.GetTop()-1, m.unwind)
	if err == nil {
		L.Insert(lua.LTrue, 1)
		return L.GetTop()
	}
	t, ok := err.(*lua.LTable)
	if !ok {
		return pushFailure(L, err)
	}
	field := L.GetField(t, "err")
	switch field.(type) {
	case lua.LString, lua.LNumber:
		return pushFailure(L, field)
	}
	L.Push(lua.LFalse)
	L.Push(t)
	L.Push(field)
	return 3
}

// xpcall calls its second argument with the error before the stack is unwound.
func (m *machine) xpcall(L *lua.LState) int {
	lualib.CheckAny(L, 2)
	handler := L.Get(2)
	fn := L.Get(1)
	L.SetTop(0)
	if msg := lualib.Uncallable(L, fn); msg != "" {
		return m.handleUncallable(L, handler, msg)
	}
	L.Push(fn)
	err := m.protected(L, 0, L.NewFunction(func(L *lua.LState) int {
		m.checkPanic(L.Get(1))
		m.handle(L, handler, asCLua(L.Get(1)))
		return m.unwindUpvalues(L)
	}))
	if err != nil {
		return pushFailure(L, err)
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

// handleUncallable is xpcall of a value that cannot be called.
func (m *machine) handleUncallable(L *lua.LState, handler lua.LValue, msg string) int {
	m.handle(L, handler, lua.LString(msg))
	L.Insert(lua.LFalse, 1)
	return 2
}

// handle calls an error handler with err. Its result is then the only value on
// the stack.
func (m *machine) handle(L *lua.LState, handler, err lua.LValue) {
	L.SetTop(0)
	if lualib.Uncallable(L, handler) == "" {
		L.Push(handler)
		L.Push(err)
		m.nesting-- // the call that failed no longer counts
		failed := m.protected(L, 1, m.unwind)
		m.nesting++
		if failed == nil {
			L.SetTop(1)
			return
		}
	}
	L.SetTop(0)
	L.Push(lua.LString(errInHandler))
}

// protected calls the function that lies below nargs arguments on the stack. It
// returns the error value, or nil. handler must call unwindUpvalues at its end.
func (m *machine) protected(L *lua.LState, nargs int, handler *lua.LFunction) lua.LValue {
	if m.nesting >= maxNesting {
		L.SetTop(0)
		return lua.LString(lualib.ErrCStack)
	}
	hadHandler := fieldsOf(L).hasErrorFunc // PCall clears it
	m.bases = append(m.bases, topFrame(L).LocalBase)
	m.nesting++
	err := L.PCall(nargs, lua.MultRet, handler)
	m.nesting--
	m.bases = m.bases[:len(m.bases)-1]
	fieldsOf(L).hasErrorFunc = hadHandler
	if err == nil {
		return nil
	}
	var e *lua.ApiError
	if !errors.As(err, &e) {
		m.broken = true
		return lua.LString(err.Error())
	}
	if e.Type == lua.ApiErrorPanic && e.Object != lua.LString(goStackFull) {
		m.broken = true
	}
	return asCLua(e.Object)
}

// unwindUpvalues is the end of every error handler. The error value is on top of
// the stack.
func (m *machine) unwindUpvalues(L *lua.LState) int {
	m.checkPanic(L.Get(-1))
	closeUpvalues(L, m.bases[len(m.bases)-1])
	return 1
}

// pushFailure returns false and v to Lua.
func pushFailure(L *lua.LState, v lua.LValue) int {
	L.Push(lua.LFalse)
	L.Push(v)
	return 2
}
