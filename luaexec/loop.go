package luaexec

import (
	"strconv"
	"unsafe" // also for go:linkname

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua has one hook for running code: a context, which it asks before each
// instruction. That takes a quarter to two thirds of the time of a script that computes. So
// this package has a loop of its own around gopher-lua's instructions. It counts them for
// safe points, and it replaces the four whose result differs from C Lua's (instructions.go).

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

// opcodes is the number of opcodes that an instruction has room for.
const opcodes = 1 << 6

// loop runs L's current function until base returns. It is LState.mainLoop.
type loop = func(L *lua.LState, base unsafe.Pointer)

// installLoop sets the loops of m.
func (m *machine) installLoop() {
	copy(m.ops[:], instructions[:])
	m.installInstructions()
	L := fieldsOf(m.L)
	m.original, m.plain, m.counted = L.mainLoop, m.loop, m.countingLoop
	L.mainLoop = m.plain
}

// loop runs code that cannot run for ever or long.
func (m *machine) loop(L *lua.LState, base unsafe.Pointer) {
	if topFrame(L).Fn.IsG {
		m.original(L, base)
		return
	}
	for {
		f := topFrame(L)
		code := f.Fn.Proto.Code[f.Pc]
		f.Pc++
		if m.ops[code>>26](L, code, base) == 1 {
			return
		}
	}
}

// countingLoop is loop with safe points.
func (m *machine) countingLoop(L *lua.LState, base unsafe.Pointer) {
	if topFrame(L).Fn.IsG {
		m.original(L, base)
		return
	}
	for {
		f := topFrame(L)
		code := f.Fn.Proto.Code[f.Pc]
		f.Pc++
		if m.ticker.soon--; m.ticker.soon <= 0 {
			m.ticker.pause(L)
		}
		if m.ops[code>>26](L, code, base) == 1 {
			return
		}
	}
}
