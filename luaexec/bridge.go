package luaexec

import (
	"math"
	"strconv"
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/resp"
)

// call is redis.call. An error of the command ends the script, unless a pcall
// catches it. Most calls take runCall instead.
func (m *machine) call(L *lua.LState) int {
	args, failure := m.commandArgs(L)
	if failure != "" {
		return throwError(L, failure, false)
	}
	reply := m.command(args)
	if reply.IsError() {
		return throwError(L, reply.Text(), true)
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
	reg := fieldsOf(L).reg
	values := reg.array[topFrame(L).LocalBase:reg.top]
	if len(values) == 0 {
		return nil, errNoArgument
	}
	args, ok := m.argsOf(values)
	if !ok {
		return nil, errArgumentTypes
	}
	return args, ""
}

// argsOf returns the arguments of a command, valid until the next call. ok is false if one of them
// is neither a string nor a number. The strings are not copied.
func (m *machine) argsOf(values []lua.LValue) (args resp.Args, ok bool) {
	if cap(m.args) < len(values) {
		m.args = make([][]byte, len(values))
	}
	args, m.digits = m.args[:len(values)], m.digits[:0]
	for i, v := range values {
		switch v := v.(type) {
		case lua.LString:
			args[i] = bytesOf(string(v))
		case lua.LNumber:
			args[i] = m.number(float64(v))
		default:
			return nil, false
		}
	}
	return args, true
}

// runCall returns OP_CALL or OP_TAILCALL, which calls redis.call itself. A call frame would take as
// long as a small command. An error has the same place without the frame: the line of the call. A
// reply that the script does not use is not converted. A tail call leaves its result to the
// OP_RETURN that follows. Registers above the results are cleared: forget would not find their
// strings.
//
//go:noinline
func (m *machine) runCall(call instruction) instruction {
	return func(L *lua.LState, code uint32, base unsafe.Pointer) int {
		reg := fieldsOf(L).reg
		first := topFrame(L).LocalBase + operandA(code) // the function; its arguments follow
		if fn, is := reg.array[first].(*lua.LFunction); !is || fn != m.redisCall {
			return call(L, code, base)
		}
		end := first + operandB(code)
		if operandB(code) == 0 {
			end = reg.top
		}
		args, ok := m.argsOf(reg.array[first+1 : end])
		if !ok || len(args) == 0 {
			return call(L, code, base) // it throws
		}
		reply := m.command(args)
		if reply.IsError() {
			return throwError(L, reply.Text(), true)
		}
		wanted := operandC(code) - 1
		next := first + max(wanted, 0)
		if wanted != 0 {
			reg.array[first] = m.toLua(reply)
			for i := first + 1; i < next; i++ {
				reg.array[i] = lua.LNil
			}
			next = max(next, first+1)
		}
		clear(reg.array[next:max(next, end, reg.top)])
		reg.top = next
		return 0
	}
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
	reply := m.ticker.host.Command(args)
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
