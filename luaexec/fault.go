package luaexec

import (
	"runtime/debug"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// fault is the place that Redis names after the message of an error that ends a
// script: the source and line of the innermost Lua code when it was raised.
type fault struct {
	source string
	line   int // 0 if no place is known, -1 if the function and its caller are Go
}

// noteFault is the message handler of the outermost protected call: it sets
// m.fault and returns the error unchanged. It runs before the stack is unwound. It
// closes the captured variables, because the closures of a library outlive the error.
func (m *machine) noteFault(L *lua.LState) int {
	m.checkPanic(L.Get(1))
	m.fault = m.faultAt(L)
	closeUpvalues(L, 0)
	L.SetTop(1)
	return 1
}

// checkPanic marks the state as broken when an error was a panic of Go code.
// gopher-lua turns a panic into an error with the panic's text. The first call
// comes before the stack is unwound, so that OnPanic gets the panic's stack.
func (m *machine) checkPanic(v lua.LValue) {
	s, _ := v.(lua.LString)
	if m.inCall || strings.HasPrefix(string(s), "runtime error: ") ||
		strings.HasPrefix(string(s), "interface conversion: ") {
		m.notePanic(v)
	}
}

// notePanic marks the state as broken, and calls OnPanic for a run's first panic.
func (m *machine) notePanic(cause any) {
	m.broken = true
	if m.panicked || m.opts.OnPanic == nil {
		return
	}
	m.panicked = true
	m.opts.OnPanic(cause, debug.Stack())
}

// faultAt returns the place that Redis's error handler would find: the function
// that raised the error, or the caller if that function is not Lua.
func (m *machine) faultAt(L *lua.LState) fault {
	for level := 1; level <= 2; level++ {
		dbg, ok := L.GetStack(level)
		if !ok {
			return fault{}
		}
		fn, err := L.GetInfo("fSl", dbg, lua.LNil)
		if err != nil {
			return fault{}
		}
		if f, ok := fn.(*lua.LFunction); ok && !f.IsG {
			return fault{source: m.chunkSource(dbg.Source), line: dbg.CurrentLine}
		}
	}
	return fault{source: "=[C]", line: -1}
}

// faultIn reads the place from an error's message. It is for errors that did not
// reach noteFault, because the stack was full.
func (m *machine) faultIn(text string) fault {
	rest, ok := strings.CutPrefix(text, "ERR "+m.chunk+":")
	digits, _, found := strings.Cut(rest, ":")
	line, err := strconv.Atoi(digits)
	if !ok || !found || err != nil {
		return fault{}
	}
	return fault{source: "@" + m.chunk, line: line}
}

// framed appends the name of the script or function, and the place, to the text of an
// error, as Redis does.
func (m *machine) framed(text string, at fault) resp.Reply {
	if at.line == 0 {
		return resp.Error(text)
	}
	place := at.source + ":" + strconv.Itoa(at.line)
	return resp.Error(text + " script: " + m.name + ", on " + place + ".")
}

// errorText is the text of the error reply for an error value: the field err of a
// table, else the class ERR and the value as tostring shows it.
func errorText(L *lua.LState, v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return "ERR " + string(v)
	case lua.LNumber:
		return "ERR " + lualib.FormatNumber(float64(v))
	case *lua.LTable:
		switch e := errField(L, v).(type) {
		case lua.LString:
			return string(e)
		case lua.LNumber:
			return lualib.FormatNumber(float64(e))
		}
		// Differs from Redis: 7.0.15 crashes when the field is missing.
		return errNoErrField
	case *lua.LUserData:
		return "ERR " + lualib.Address(v)
	}
	return "ERR " + v.String()
}

// errField is the field err of a table, which may come from its metatable. It is
// nil if the metatable throws: the script has already ended.
func errField(L *lua.LState, t *lua.LTable) lua.LValue {
	if t.Metatable == lua.LNil {
		return t.RawGetString("err")
	}
	top := L.GetTop()
	defer L.SetTop(top)
	L.Push(L.NewFunction(func(L *lua.LState) int {
		L.Push(L.GetField(t, "err"))
		return 1
	}))
	if err := L.PCall(0, 1, nil); err != nil {
		return lua.LNil
	}
	return L.Get(-1)
}
