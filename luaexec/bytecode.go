package luaexec

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/syntax"
)

// An instruction of gopher-lua has six bits of operation, eight of A, nine of C
// and nine of B.

func opcode(code uint32) int   { return int(code >> 26) }
func operandA(code uint32) int { return int(code >> 18 & 0xff) }
func operandB(code uint32) int { return int(code & 0x1ff) }
func operandC(code uint32) int { return int(code >> 9 & 0x1ff) }

// operandSBx is the signed distance of a jump: 18 bits, with an offset of 2^17-1.
func operandSBx(code uint32) int { return int(code&(1<<18-1)) - maxJump }

// jumps reports whether the instruction has a distance.
func jumps(code uint32) bool {
	switch opcode(code) {
	case lua.OP_JMP, lua.OP_FORLOOP, lua.OP_FORPREP:
		return true
	}
	return false
}

const maxOperandB, maxOperandC = 0x1ff, 0x1ff

func withC(code uint32, c int) uint32 { return code&^(maxOperandC<<9) | uint32(c)<<9 }

const nop = uint32(lua.OP_NOP) << 26

// opBound is an instruction of this package: R(A) := R(B) as a number, where C is
// syntax.Mark.Bound.
const opBound = lua.OP_NOP + 1

// setMarks sets the lines of the marked instructions, and replaces the instructions of bounds.
func setMarks(p *lua.FunctionProto, marks []syntax.Mark) {
	placed := make(map[int]int) // by constructor, the number of fields with a line
	for pc, line := range p.DbgSourcePositions {
		if line >= 0 {
			continue
		}
		n := -1 - line
		field, op := 0, opcode(p.Code[pc])
		switch {
		case marks[n].Bound != 0 && op == lua.OP_UNM:
			p.Code[pc] = withC(p.Code[pc]&(1<<26-1)|uint32(opBound)<<26, marks[n].Bound)
		case op == lua.OP_SETTABLE || op == lua.OP_SETTABLEKS:
			placed[n]++
			field = placed[n]
		}
		p.DbgSourcePositions[pc] = marks[n].Lines[field]
	}
	for _, child := range p.FunctionPrototypes {
		setMarks(child, marks)
	}
}

// fixConstructors corrects three mistakes of gopher-lua's compiler in table
// constructors. It stores positional values in blocks of 50 (SETLIST):
//
//   - It stores a block again after every keyed field that follows directly.
//   - It stores a multiple value after a full block at the indexes of that block.
//   - It stores the values after the 25550th at indexes below 1.
func fixConstructors(p *lua.FunctionProto) {
	var stored [256]int // by register, the number of full blocks in the table there
	for pc := 0; pc < len(p.Code); pc++ {
		code := p.Code[pc]
		a := operandA(code)
		switch opcode(code) {
		case lua.OP_NEWTABLE:
			stored[a] = 0
		case lua.OP_CLOSURE:
			pc += int(p.FunctionPrototypes[code&(1<<18-1)].NumUpvalues)
		case lua.OP_SETLIST:
			full := operandB(code) == lua.FieldsPerFlush
			block := stored[a] + 1
			if full && setsField(p.Code[pc-1], a) {
				block = 0
			} else if full {
				stored[a]++
			}
			pc += setBlock(p.Code[pc:], block)
		}
	}
}

// setsField reports whether an instruction stores a keyed field of the table in
// register a.
func setsField(code uint32, a int) bool {
	op := opcode(code)
	return (op == lua.OP_SETTABLE || op == lua.OP_SETTABLEKS) && operandA(code) == a
}

// setBlock sets the block number of the SETLIST at the start of code, or removes
// the instruction if block is 0. It returns 1 if the word after it is not an
// instruction but a block number that is too large for C, else 0.
func setBlock(code []uint32, block int) int {
	long := operandC(code[0]) == 0
	switch {
	case block == 0:
		code[0] = nop
		if long {
			code[1] = nop
		}
	case long:
		code[1] = uint32(block)
	default:
		code[0] = withC(code[0], block)
	}
	if long {
		return 1
	}
	return 0
}
