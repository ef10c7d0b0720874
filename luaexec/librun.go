package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/resp"
)

// RunFunction executes a function of a library and returns FCALL's reply. Run's doc says
// what is true of both.
func (r *Runtime) RunFunction(f *Function, keys, args [][]byte, h Host) (reply resp.Reply) {
	if r.running() {
		return errNested
	}
	m := r.libs.vm
	m.L.Push(f.fn)
	pace := f.owner.pace
	if f.simple {
		pace = brief
		m.keys.fill(keys)
		m.argv.fill(args)
		m.L.Push(m.keys.table)
		m.L.Push(m.argv.table)
	} else {
		m.L.Push(m.copied(keys))
		m.L.Push(m.copied(args))
		m.keys.weigh(keys)
		m.argv.weigh(args)
	}
	reply = m.run(task{name: f.name, pace: pace, args: 2}, h)
	m.refresh()
	return reply
}

// copied returns a table of strings that a library may keep.
func (m *machine) copied(items [][]byte) *lua.LTable {
	t := m.L.CreateTable(len(items), 0)
	for i, item := range items {
		t.RawSetInt(i+1, m.values.str(string(item)))
	}
	return t
}

// refresh gives a state of functions a new stack after a kill or a panic, which may leave
// the old one inconsistent, and after a run whose unused registers may keep much memory
// alive. The values of the libraries stay.
func (m *machine) refresh() {
	if !m.broken && !m.wasHeavy() {
		return
	}
	L, _ := m.L.NewThread()
	L.G.MainThread, L.G.CurrentThread = L, L
	fieldsOf(L).mainLoop = m.plain
	m.L, m.ticker.main, m.broken = L, L, false
}

// isSimple reports whether a function ends soon, and cannot keep a value for a later call.
// So it has no loop and no inner function, uses no variable of the library's, and names no
// global that could give it either. It needs no safe points, and its keys and arguments
// need no copies.
func isSimple(fn *lua.LFunction) bool {
	if fn.IsG {
		return false
	}
	p := fn.Proto
	if len(p.Code) > maxStraight || len(p.FunctionPrototypes) > 0 || p.NumUpvalues > 0 {
		return false
	}
	for _, c := range p.Constants {
		switch c {
		case lua.LString("load"), lua.LString("loadstring"), lua.LString("_G"):
			return false
		}
	}
	for _, code := range p.Code {
		switch opcode(code) {
		case lua.OP_FORLOOP, lua.OP_TFORLOOP:
			return false
		case lua.OP_JMP:
			if operandSBx(code) < 0 {
				return false
			}
		}
	}
	return true
}
