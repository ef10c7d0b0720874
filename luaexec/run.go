package luaexec

import (
	"errors"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/resp"
)

// errNested is the reply when a script's command runs a script. The command table
// prevents it.
var errNested = resp.Error("ERR a script cannot run another script")

// Run executes a script of this runtime and returns EVAL's reply: the script's
// value, or its error with " script: <sha>, on <source>:<line>." at the end.
// The reply may alias the arguments and the script's strings. It is valid until
// the next call of any of the runtime's methods. A panic inside becomes an error
// reply, and the Lua state is dropped.
func (r *Runtime) Run(s *Script, keys, args [][]byte, h Host) (reply resp.Reply) {
	if r.running() {
		return errNested
	}
	m := r.machine()
	fn, failure, ok := r.functionOf(s, m)
	if !ok {
		return failure
	}
	if m.keys.fill(keys) {
		m.sandbox.setGlobal("KEYS", m.keys.table)
	}
	if m.argv.fill(args) {
		m.sandbox.setGlobal("ARGV", m.argv.table)
	}
	m.L.Push(fn)
	reply = m.run(task{name: s.sha, pace: s.pace}, h)
	if m.keys.table == nil {
		m.sandbox.setGlobal("KEYS", lua.LNil)
	}
	if m.argv.table == nil {
		m.sandbox.setGlobal("ARGV", lua.LNil)
	}
	if m.broken || m.wasHeavy() {
		r.dropMachine()
	}
	return reply
}

// wasHeavy reports whether the last run allocated much, got much, or ran long. Then
// unused registers of the Lua state may keep much memory alive. A new state is cheaper then.
func (m *machine) wasHeavy() bool {
	h := &m.ticker.memory
	return h.total > heavyRun || h.checks > 64 || m.keys.bytes+m.argv.bytes > heavyRun
}

// running reports whether a script, a function or the code of a library runs.
func (r *Runtime) running() bool {
	vm, libs := r.vm, r.libs.vm
	return vm != nil && vm.ticker.host != nil || libs != nil && libs.ticker.host != nil
}

// task describes a run.
type task struct {
	name    string // of the script or the function, in errors; "" means that errors name none
	pace    pace
	discard bool // the result does not count: the reply is resp.NoReply
	args    int  // the arguments above the function on the stack
}

// run calls the function that lies below its arguments on the stack, and converts its
// result. A panic becomes an error reply.
func (m *machine) run(t task, h Host) (reply resp.Reply) {
	m.begin(t, h)
	defer m.end(t, &reply)
	return m.execute(t)
}

func (m *machine) begin(t task, h Host) {
	m.name, m.proto = t.name, 2
	m.fault, m.taken, m.threads, m.panicked = fault{}, 0, 0, false
	m.ticker.start(h)
	if t.pace != brief {
		m.ticker.rest()
		m.ticker.setPace(t.pace)
		fieldsOf(m.L).mainLoop = m.counting
	}
}

// end is deferred by run.
func (m *machine) end(t task, reply *resp.Reply) {
	if cause := recover(); cause != nil {
		m.notePanic(cause)
		*reply = resp.ErrInternal
	}
	if t.pace != brief {
		m.ticker.setPace(brief)
		fieldsOf(m.L).mainLoop = m.plain
	}
	m.ticker.host = nil
	m.inCall = false
	m.sources, m.active = nil, m.active[:0]
	m.visited, m.visitedKey = nil, nil
	m.nesting, m.bases = 0, m.bases[:0]
	m.forget()
}

// forget forgets the strings of the run. Without it one of them would stay in memory until the
// next run, and a block of the slab has 64.
func (m *machine) forget() {
	const kept = 64 // arguments
	m.keys.release()
	m.argv.release()
	m.values.release()
	if cap(m.args) > kept {
		m.args = nil
	}
	clear(m.args[:cap(m.args)])
}

// execute calls the function on the stack in protected mode and converts its result.
func (m *machine) execute(t task) (reply resp.Reply) {
	L := m.L
	if err := L.PCall(t.args, 1, m.onError); err != nil {
		return m.failed(err)
	}
	m.elems, m.replyBytes = 0, 0
	if !t.discard {
		reply = m.toReply(L.Get(-1), 0)
	}
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
	closeUpvalues(m.L, 0)
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
	text := lualib.CText(errorText(m.L, asCLua(e.Object)))
	if m.name == "" {
		return resp.Error(text)
	}
	if m.fault.line == 0 {
		m.fault = m.faultIn(text)
	}
	return m.framed(text, m.fault)
}
