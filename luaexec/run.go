package luaexec

import (
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/resp"
)

// Run executes a script of this runtime and returns EVAL's reply: the script's
// value, or its error with " script: <sha>, on <source>:<line>." at the end.
// The reply may alias the arguments and the script's strings. It is valid until
// the next call of any of the runtime's methods. A panic inside becomes an error
// reply, and the Lua state is dropped.
func (r *Runtime) Run(s *Script, keys, args [][]byte, c Caller) (reply resp.Reply) {
	m := r.machine()
	if m.caller != nil {
		return resp.Error("ERR a script cannot run another script")
	}
	m.begin(s, keys, args, c)
	done := false
	defer func() {
		if !done {
			m.notePanic(recover())
			reply = resp.ErrInternal
		}
		m.end()
		if m.broken || m.ticker.memory.wasHeavy() {
			r.dropMachine()
		}
	}()
	reply = m.execute(s)
	done = true
	return reply
}

func (m *machine) begin(s *Script, keys, args [][]byte, c Caller) {
	m.caller, m.script, m.proto = c, s, 2
	m.fault, m.taken, m.threads, m.panicked = fault{}, 0, 0, false
	m.ticker.start(c)
	if m.keys.fill(keys) {
		m.sandbox.setGlobal("KEYS", m.keys.table)
	}
	if m.argv.fill(args) {
		m.sandbox.setGlobal("ARGV", m.argv.table)
	}
	if s.loops {
		m.L.SetContext(m.ticker)
	}
}

func (m *machine) end() {
	if m.script.loops {
		m.L.RemoveContext()
	}
	m.caller, m.script = nil, nil
	m.inCall = false
	m.sources, m.active, m.finished = nil, m.active[:0], nil
	m.nesting, m.bases = 0, m.bases[:0]
	m.keys.release()
	m.argv.release()
}

// execute calls the script in protected mode and converts its result.
func (m *machine) execute(s *Script) resp.Reply {
	L := m.L
	L.Push(s.function(m))
	if err := L.PCall(0, 1, m.onError); err != nil {
		return m.failed(err)
	}
	m.elems, m.replyBytes = 0, 0
	reply := m.toReply(L.Get(-1), 0)
	L.SetTop(0)
	if m.ticker.killed {
		return m.failed(nil)
	}
	if m.elems >= maxReplyElems {
		return resp.Error(errReplySize)
	}
	return reply
}

// failed returns the reply for the error that ended a script.
func (m *machine) failed(err error) resp.Reply {
	if m.ticker.killed {
		m.broken = true
		return m.framed(m.ticker.reason, m.fault)
	}
	var e *lua.ApiError
	if !errors.As(err, &e) {
		m.broken = true
		return resp.ErrInternal
	}
	if e.Type == lua.ApiErrorPanic {
		m.checkPanic(e.Object)
	}
	if m.broken {
		return resp.ErrInternal
	}
	text := errorText(m.L, asCLua(e.Object))
	if m.fault.line == 0 {
		m.fault = faultIn(text)
	}
	return m.framed(text, m.fault)
}
