package luaexec

import (
	"maps"
	"slices"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// A lock script reads a global about twenty times: redis.call, KEYS, ARGV. gopher-lua finds it in
// a map each time, which took a sixth of such a script. The names of the environment are known
// before a script is compiled, and scripts cannot change their values. So each name has a number,
// the compiled code has the number, and the state has an array of the values.

// names are the numbers of the names that the environment has. They are the same in all states for
// scripts, and in all states for libraries: code outlives a state.
type names map[string]int

// maxNames is how many numbers an instruction can have.
const maxNames = maxOperandB + 1

// has reports whether the environment has a name such as "redis.call".
func (n names) has(name string) bool {
	_, is := n[name]
	return is
}

// numberGlobals numbers the names of the environment, which is complete but for KEYS and ARGV.
func (m *machine) numberGlobals() {
	values := map[string]lua.LValue{"KEYS": nil, "ARGV": nil}
	m.globals.ForEach(func(name, v lua.LValue) { values[name.String()] = v })
	m.names = make(names, len(values))
	for i, name := range slices.Sorted(maps.Keys(values)) {
		m.names[name] = i
		m.numbered = append(m.numbered, values[name])
	}
}

// setNumbered sets the value of a name for the code that has its number.
func (m *machine) setNumbered(name string, v lua.LValue) {
	i, is := m.names[name]
	switch {
	case !is:
	case v == lua.LNil:
		m.numbered[i] = nil
	default:
		m.numbered[i] = v
	}
}

// opGlobal is an instruction of this package: R(A) := the global with the number B, whose name is
// constant C.
const opGlobal = opBound + 1

// useNumbers gives each instruction of p and its inner functions that reads a numbered global the number.
func (n names) useNumbers(p *lua.FunctionProto) {
	for pc, code := range p.Code {
		if opcode(code) != lua.OP_GETGLOBAL {
			continue
		}
		constant := int(code & (1<<18 - 1))
		i, is := n[p.Constants[constant].String()]
		if is && i < maxNames && constant <= maxOperandC {
			p.Code[pc] = uint32(opGlobal)<<26 | code&(0xff<<18) | uint32(constant)<<9 | uint32(i)
		}
	}
	for _, child := range p.FunctionPrototypes {
		n.useNumbers(child)
	}
}

// readGlobal returns opGlobal. It looks into the environment if the function has another one, or
// if there is no value.
//
//go:noinline
func (m *machine) readGlobal() instruction {
	return func(L *lua.LState, code uint32, base unsafe.Pointer) int {
		f := topFrame(L)
		if i := operandB(code); f.Fn.Env == m.globals && i < len(m.numbered) {
			if v := m.numbered[i]; v != nil {
				fieldsOf(L).reg.set(f.LocalBase+operandA(code), v)
				return 0
			}
		}
		byName := uint32(lua.OP_GETGLOBAL)<<26 | code&(0xff<<18) | uint32(operandC(code))
		return instructions[lua.OP_GETGLOBAL](L, byName, base)
	}
}

// readElement returns OP_GETTABLE, in which a number finds an element of a table's array at once.
//
//go:noinline
func readElement() instruction {
	return func(L *lua.LState, code uint32, base unsafe.Pointer) int {
		f, reg := topFrame(L), fieldsOf(L).reg
		t, isTable := reg.array[f.LocalBase+operandB(code)].(*lua.LTable)
		n, isNumber := operand(L, operandC(code)).(lua.LNumber)
		if isTable && isNumber {
			array, i := tableFieldsOf(t).array, int(n)-1
			if uint(i) < uint(len(array)) && lua.LNumber(i+1) == n && array[i] != lua.LNil {
				reg.set(f.LocalBase+operandA(code), array[i])
				return 0
			}
		}
		return instructions[lua.OP_GETTABLE](L, code, base)
	}
}
