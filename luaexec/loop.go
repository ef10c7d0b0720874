package luaexec

import (
	"strconv"
	"unsafe" // also for go:linkname

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua has one hook for running code: a context, which it asks before each
// instruction. That takes a quarter to two thirds of the time of a script that computes. So
// this package has a loop of its own around gopher-lua's instructions. It replaces some of them
// (instructions.go): four have other results than in C Lua, two close loops, one finds
// elements faster (globals.go), and two call redis.call without a frame (bridge.go). opBound and
// opGlobal are new ones.

// instruction runs one instruction of L's current frame. It returns 1 if the frame base has
// returned, else 0. base is the frame that the loop was started for.
type instruction = func(L *lua.LState, code uint32, base unsafe.Pointer) int

// instructions is gopher-lua's table of instructions, by opcode. gopher-lua fills it when the
// program starts, and never changes it.
//
//go:linkname instructions github.com/yuin/gopher-lua.jumpTable
var instructions [lua.OP_NOP + 1]instruction

// init panics if this version of gopher-lua has no table of that name and size.
func init() {
	for op, run := range instructions {
		if run == nil {
			panic("luaexec: gopher-lua has no instruction " + strconv.Itoa(op))
		}
	}
}

// operations has the instructions by opcode.
type operations = [opcodes]instruction

// opcodes is the number of opcodes that an instruction has room for.
const opcodes = 1 << 6

// pace is where code has ticks: places where it may pass a safe point.
type pace int

const (
	brief   pace = iota // in each round of a loop; it has none, ends soon and takes little memory
	looping             // also at each call
	long                // at each instruction
	paces
)

// loop runs L's current function until base returns. It is LState.mainLoop.
type loop = func(L *lua.LState, base unsafe.Pointer)

// installLoop sets the instructions and the loops of m.
func (m *machine) installLoop() {
	t := &m.ticker
	ops := &t.paces[brief]
	copy(ops[:], instructions[:])
	m.replaceInstructions(ops)
	t.paces[looping] = *ops
	for _, op := range []int{lua.OP_TFORLOOP, lua.OP_CALL, lua.OP_TAILCALL} {
		t.paces[looping][op] = t.counted(ops[op])
	}
	for op, run := range ops {
		t.paces[long][op] = t.counted(run)
	}
	t.setPace(brief)
	L := fieldsOf(m.L)
	m.original, m.plain, m.counting = L.mainLoop, m.loop, m.countingLoop
	L.mainLoop = m.plain
}

// counted returns run with a tick before it. It must not be inlined, see jump.
//
//go:noinline
func (t *ticker) counted(run instruction) instruction {
	return func(L *lua.LState, code uint32, base unsafe.Pointer) int {
		t.count(L)
		return run(L, code, base)
	}
}

// loop runs instructions. It looks at the pace before each: a chunk of loadstring may change it.
func (m *machine) loop(L *lua.LState, base unsafe.Pointer) {
	if topFrame(L).Fn.IsG {
		m.original(L, base)
		return
	}
	for {
		f := topFrame(L)
		code := f.Fn.Proto.Code[f.Pc]
		f.Pc++
		if m.ticker.ops[code>>26](L, code, base) == 1 {
			return
		}
	}
}

// countingLoop is loop with a tick at its start. Lua calls metamethods without an
// instruction for a call.
func (m *machine) countingLoop(L *lua.LState, base unsafe.Pointer) {
	if f := topFrame(L); !f.Fn.IsG {
		f.Pc++ // an error has the line of the instruction before Pc
		m.ticker.count(L)
		f.Pc--
	}
	m.loop(L, base)
}
