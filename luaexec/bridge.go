package luaexec

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/resp"
)

// call is redis.call. An error of the command ends the script, unless a pcall
// catches it. The reply is not converted when the script discards it.
func (m *machine) call(L *lua.LState) int {
	args, failure := m.commandArgs(L)
	if failure != "" {
		return throwError(L, failure, false)
	}
	reply := m.command(args)
	if reply.IsError() {
		return throwError(L, reply.Text(), true)
	}
	if topFrame(L).Parent.discardsResults() {
		return 0
	}
	L.Push(m.toLua(reply))
	return 1
}

// pcallCommand is redis.pcall: an error of the command is its result.
func (m *machine) pcallCommand(L *lua.LState) int {
	args, failure := m.commandArgs(L)
	if failure != "" {
		L.Push(errorTable(L, failure, false))
		return 1
	}
	L.Push(m.toLua(m.command(args)))
	return 1
}

// commandArgs returns the arguments of the running function as a command, valid
// until the next call. The strings are not copied. failure is an error text, or
// "".
func (m *machine) commandArgs(L *lua.LState) (args resp.Args, failure string) {
	n := L.GetTop()
	if n == 0 {
		return nil, errNoArgument
	}
	m.args, m.digits = m.args[:0], m.digits[:0]
	for i := 1; i <= n; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			m.args = append(m.args, bytesOf(string(v)))
		case lua.LNumber:
			m.args = append(m.args, m.number(float64(v)))
		default:
			return nil, errArgumentTypes
		}
	}
	return m.args, ""
}

// number returns the text of a number argument: C's %.17g. The text is in
// m.digits. When m.digits grows, earlier arguments keep the old array.
func (m *machine) number(f float64) []byte {
	start := len(m.digits)
	negativeZero := f == 0 && math.Signbit(f)
	if f == math.Trunc(f) && math.Abs(f) < 1e17 && !negativeZero {
		m.digits = strconv.AppendInt(m.digits, int64(f), 10)
	} else {
		m.digits = resp.AppendFloat(m.digits, f, 17)
	}
	return m.digits[start:len(m.digits):len(m.digits)]
}

// command runs a command. inCall stays set when the command panics: gopher-lua
// turns the panic into an error, which a script could catch.
func (m *machine) command(args resp.Args) resp.Reply {
	m.inCall = true
	reply := m.host.Command(args)
	m.inCall = false
	return reply
}

// errorTable returns an error as scripts see it. counted means that the failed
// command has already counted the error in INFO, so EVAL must not count it again.
func errorTable(L *lua.LState, text string, counted bool) *lua.LTable {
	t := L.CreateTable(0, 2)
	t.RawSetString("err", lua.LString(text))
	if counted {
		t.RawSetString("ignore_error_stats_update", lua.LTrue)
	}
	return t
}

// throwError throws errorTable(text, counted).
func throwError(L *lua.LState, text string, counted bool) int {
	L.Error(errorTable(L, cloned(text), counted), 0)
	return 0
}
