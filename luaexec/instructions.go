package luaexec

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
)

// The operators %, ^, # and .. have instructions of their own: gopher-lua's give other
// results than C Lua for some operands. An instruction handles the usual operands. For others
// it calls the function of operators.go, which converts them, calls a metamethod or throws.
// The instructions that close a loop have a tick. The instructions for globals, elements and calls
// are only faster.

// operatorFunctions are the functions of the operators for unusual operands.
type operatorFunctions struct {
	mod, pow, length, concat *lua.LFunction
	bounds                   [3]*lua.LFunction // by syntax.Mark.Bound - 1
}

// replaceInstructions replaces instructions of gopher-lua in ops.
func (m *machine) replaceInstructions(ops *operations) {
	m.slow = operatorFunctions{
		mod:    m.L.NewFunction(modulo),
		pow:    m.L.NewFunction(power),
		length: m.L.NewFunction(length),
		concat: m.L.NewFunction(m.concat),
	}
	for i, what := range []string{"initial value", "limit", "step"} {
		m.slow.bounds[i] = m.L.NewFunction(forBound(what))
	}
	ops[opBound] = m.runBound
	ops[opGlobal] = m.readGlobal()
	ops[lua.OP_GETTABLE] = readElement()
	ops[lua.OP_CALL] = m.runCall(instructions[lua.OP_CALL])
	ops[lua.OP_TAILCALL] = m.runCall(instructions[lua.OP_TAILCALL])
	ops[lua.OP_MOD] = m.runMod
	ops[lua.OP_POW] = m.runPow
	ops[lua.OP_LEN] = m.runLen
	ops[lua.OP_CONCAT] = m.runConcat
	ops[lua.OP_FORLOOP] = m.runForLoop
	ops[lua.OP_JMP] = m.ticker.jump()
}

// operand is the value of operand B or C of f: a register, or with bit 8 a constant.
func operand(L *lua.LState, n int) lua.LValue {
	const constant = 1 << 8
	f := topFrame(L)
	if n&constant != 0 {
		return f.Fn.Proto.Constants[n&^constant]
	}
	return fieldsOf(L).reg.array[f.LocalBase+n]
}

// set sets register i.
func (r *registryFields) set(i int, v lua.LValue) {
	r.array[i] = v
	r.top = max(r.top, i+1)
}

// setResult sets register A of the function that runs in L.
func setResult(L *lua.LState, code uint32, v lua.LValue) {
	fieldsOf(L).reg.set(topFrame(L).LocalBase+operandA(code), v)
}

// callOperator runs an operator by calling its function.
func callOperator(L *lua.LState, code uint32, fn *lua.LFunction, args ...lua.LValue) {
	L.Push(fn)
	for _, arg := range args {
		L.Push(arg)
	}
	L.Call(len(args), 1)
	v := L.Get(-1)
	L.Pop(1)
	setResult(L, code, v)
}

// numbers returns the operands B and C. ok is false if one of them is not a number.
func numbers(L *lua.LState, code uint32) (b, c float64, ok bool) {
	x, okB := operand(L, operandB(code)).(lua.LNumber)
	y, okC := operand(L, operandC(code)).(lua.LNumber)
	return float64(x), float64(y), okB && okC
}

func (m *machine) runMod(L *lua.LState, code uint32, _ unsafe.Pointer) int {
	if b, c, ok := numbers(L, code); ok {
		setResult(L, code, m.values.number(remainder(b, c)))
	} else {
		callOperator(L, code, m.slow.mod, operand(L, operandB(code)), operand(L, operandC(code)))
	}
	return 0
}

func (m *machine) runPow(L *lua.LState, code uint32, _ unsafe.Pointer) int {
	if b, c, ok := numbers(L, code); ok {
		setResult(L, code, m.values.number(lualib.Pow(b, c)))
	} else {
		callOperator(L, code, m.slow.pow, operand(L, operandB(code)), operand(L, operandC(code)))
	}
	return 0
}

func (m *machine) runLen(L *lua.LState, code uint32, _ unsafe.Pointer) int {
	switch v := operand(L, operandB(code)).(type) {
	case *lua.LTable:
		setResult(L, code, m.values.number(float64(v.Len())))
	case lua.LString:
		setResult(L, code, m.values.number(float64(len(v))))
	default:
		callOperator(L, code, m.slow.length, v)
	}
	return 0
}

// runBound converts a bound of a numeric for to a number.
func (m *machine) runBound(L *lua.LState, code uint32, _ unsafe.Pointer) int {
	v := operand(L, operandB(code))
	if v.Type() == lua.LTNumber {
		setResult(L, code, v)
	} else {
		callOperator(L, code, m.slow.bounds[operandC(code)-1], v)
	}
	return 0
}

// runForLoop begins the next round of a numeric for, or ends it.
func (m *machine) runForLoop(L *lua.LState, code uint32, base unsafe.Pointer) int {
	m.ticker.count(L)
	f, reg := topFrame(L), fieldsOf(L).reg
	i := f.LocalBase + operandA(code)
	r := reg.array[i : i+4] // the last value, limit, step, and the variable
	last, _ := r[0].(lua.LNumber)
	limit, _ := r[1].(lua.LNumber)
	step, _ := r[2].(lua.LNumber)
	next := last + step
	if step > 0 && next <= limit || step <= 0 && next >= limit {
		v := m.values.number(float64(next))
		r[0], r[3] = v, v
		reg.top = max(reg.top, i+len(r))
		f.Pc += operandSBx(code)
		return 0
	}
	return instructions[lua.OP_FORLOOP](L, code, base)
}

// jump returns the instruction that jumps. A jump back closes a loop.
//
// If Go inlined jump, it would not inline the calls in its closure: a loop with while would
// execute 4 % more instructions.
//
//go:noinline
func (t *ticker) jump() instruction {
	return func(L *lua.LState, code uint32, _ unsafe.Pointer) int {
		distance := operandSBx(code)
		if distance < 0 {
			t.count(L)
		}
		topFrame(L).Pc += distance
		return 0
	}
}

// runConcat joins short texts. m.concat announces the length of long ones, and may throw.
func (m *machine) runConcat(L *lua.LState, code uint32, _ unsafe.Pointer) int {
	const most, numberBytes = 4 << 10, 32
	first := topFrame(L).LocalBase
	parts := fieldsOf(L).reg.array[first+operandB(code) : first+operandC(code)+1]
	size, numbers := 0, false
	for _, part := range parts {
		switch v := part.(type) {
		case lua.LString:
			size += len(v)
		case lua.LNumber:
			numbers = true
			size += numberBytes
		default:
			size = most + 1
		}
	}
	if size > min(most, m.maxString()) {
		callOperator(L, code, m.slow.concat, parts...)
		return 0
	}
	var buf []byte
	if numbers {
		buf = m.text[:0]
	} else {
		buf = make([]byte, 0, size)
	}
	for _, part := range parts {
		switch v := part.(type) {
		case lua.LString:
			buf = append(buf, v...)
		case lua.LNumber:
			buf = lualib.AppendNumber(buf, float64(v))
		}
	}
	text := stringOf(buf)
	if numbers {
		m.text = buf
		text = string(buf)
	}
	setResult(L, code, m.values.str(text))
	return 0
}
