package luaexec

import (
	"runtime/debug"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// fault is where the error that ends a script was raised, as Redis tells it
// behind the message: the source and line of the innermost Lua code.
type fault struct {
	source string
	line   int // 0: there is no Lua code
}

// noteFault is the message handler of the outermost protected call. It runs
// while the stack of the error is still there, and leaves the error as it is.
func (m *machine) noteFault(L *lua.LState) int {
	m.checkPanic(L.Get(1))
	m.fault = m.faultAt(L)
	L.SetTop(1)
	return 1
}

// checkPanic marks the state as broken when an error was a panic of Go code:
// gopher-lua passes the panic's text on as the error. It is first called while
// the stack of the panic is still there.
func (m *machine) checkPanic(v lua.LValue) {
	s, ok := v.(lua.LString)
	if m.inCall || ok && (strings.HasPrefix(string(s), "runtime error: ") || strings.HasPrefix(string(s), "interface conversion: ")) {
		m.notePanic(v)
	}
}

// notePanic marks the state as broken and tells of a run's first panic.
func (m *machine) notePanic(cause any) {
	m.broken = true
	if m.panicked || m.opts.OnPanic == nil {
		return
	}
	m.panicked = true
	m.opts.OnPanic(cause, debug.Stack())
}

// faultAt looks where Redis's handler looks: the function that raised the
// error, or its caller when that is not Lua.
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

// faultIn reads the place from the message of an error that no handler could
// look at, because the stack was full.
func faultIn(text string) fault {
	rest, ok := strings.CutPrefix(text, "ERR "+scriptName+":")
	digits, _, found := strings.Cut(rest, ":")
	line, err := strconv.Atoi(digits)
	if !ok || !found || err != nil {
		return fault{}
	}
	return fault{source: scriptSource, line: line}
}

// framed appends Redis's frame to the text of an error.
func (m *machine) framed(text string, at fault) resp.Reply {
	if at.line == 0 {
		return resp.Error(text)
	}
	return resp.Error(text + " script: " + m.script.sha + ", on " + at.source + ":" + strconv.Itoa(at.line) + ".")
}

// errorText is the message of an error value: a table's err field, which may
// come from its metatable, anything else as tostring shows it, with the class ERR.
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
		// Differs from Redis: 7.0.15 reads the missing field and dies.
		return errNoErrField
	}
	return "ERR " + v.String()
}

// errField is the field err of a table. There is nobody to tell when its
// metatable throws, and it has none then.
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
	*errorFunc(L) = true
	if err := L.PCall(0, 1, nil); err != nil {
		return lua.LNil
	}
	return L.Get(-1)
}
