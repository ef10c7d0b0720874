package luaexec

import (
	"math"

	lua "github.com/yuin/gopher-lua"

	"github.com/lockredis/lockredis/luaexec/lualib"
	"github.com/lockredis/lockredis/luaexec/syntax"
)

// installOperators puts the functions into the environment that the compiler calls
// for operators. It also gives strings a metatable with the arithmetic operators,
// which convert strings to numbers as C Lua does. gopher-lua asks an operand's
// metatable before its own conversion.
func (m *machine) installOperators() {
	set := func(name string, fn lua.LGFunction) {
		m.globals.RawSetString(name, m.L.NewFunction(fn))
	}
	set(syntax.HiddenConcat, m.concat)
	set(syntax.HiddenMod, modulo)
	set(syntax.HiddenPow, power)
	set(syntax.HiddenSpread, spread)

	m.globals.RawSetString(syntax.HiddenFalse, lua.LFalse)

	meta := m.L.NewTable()
	stringLib, _ := m.sandbox.behind(mustLibrary(m.sandbox.visible, "string"))
	meta.RawSetString("__index", stringLib)
	for event, op := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": remainder,
		"__pow": lualib.Pow,
	} {
		meta.RawSetString(event, m.L.NewFunction(arithmetic(event, op)))
	}
	meta.RawSetString("__unm", m.L.NewFunction(func(L *lua.LState) int {
		n, ok := lualib.AsNumber(L.Get(1))
		if !ok {
			raiseArithmetic(L, L.Get(1))
		}
		L.Push(lua.LNumber(-n))
		return 1
	}))
	meta.RawSetString("__call", m.L.NewFunction(refuseCall))
	m.L.SetMetatable(lua.LString(""), meta)
	m.installRefusals()
}

// installRefusals gives the types that have no operators a metatable whose functions throw
// C Lua's errors. Without it gopher-lua's own errors do not name the type of the operand.
// Scripts do not see the metatable: see getmetatable and lualib.Uncallable.
func (m *machine) installRefusals() {
	L := m.L
	meta := L.NewTable()
	meta.RawSetString("__call", L.NewFunction(refuseCall))
	meta.RawSetString("__len", L.NewFunction(length))
	meta.RawSetString("__unm", L.NewFunction(func(L *lua.LState) int {
		raiseArithmetic(L, L.Get(1))
		return 0
	}))
	cjson, _ := m.sandbox.behind(mustLibrary(m.sandbox.visible, "cjson"))
	for _, v := range []lua.LValue{
		lua.LNil, lua.LFalse, lua.LNumber(0), L.NewFunction(refuseCall), L, cjson.RawGetString("null"),
	} {
		L.SetMetatable(v, meta)
	}
}

// refuseCall throws C Lua's error for a call of its first argument, which is no function.
func refuseCall(L *lua.LState) int {
	lualib.Raise(L, lualib.Uncallable(L, L.Get(1)))
	return 0
}

// remainder is C Lua's %. It is inexact for large quotients, and NaN for infinite
// divisors.
func remainder(a, b float64) float64 { return a - math.Floor(a/b)*b }

// modulo is the operator %.
func modulo(L *lua.LState) int {
	a, okA := L.Get(1).(lua.LNumber)
	b, okB := L.Get(2).(lua.LNumber)
	if !okA || !okB {
		return arithmeticSlow(L, "__mod", remainder)
	}
	L.Push(lua.LNumber(remainder(float64(a), float64(b))))
	return 1
}

// power is the operator ^.
func power(L *lua.LState) int {
	a, okA := L.Get(1).(lua.LNumber)
	b, okB := L.Get(2).(lua.LNumber)
	if !okA || !okB {
		return arithmeticSlow(L, "__pow", lualib.Pow)
	}
	L.Push(lua.LNumber(lualib.Pow(float64(a), float64(b))))
	return 1
}

// arithmetic returns an operator for the metatable of strings.
func arithmetic(event string, op func(a, b float64) float64) lua.LGFunction {
	return func(L *lua.LState) int { return arithmeticSlow(L, event, op) }
}

// arithmeticSlow is an operator whose operands are not both numbers. It calls a
// metamethod only if they cannot be converted to numbers.
func arithmeticSlow(L *lua.LState, event string, op func(a, b float64) float64) int {
	a, okA := lualib.AsNumber(L.Get(1))
	b, okB := lualib.AsNumber(L.Get(2))
	if okA && okB {
		L.Push(lua.LNumber(op(a, b)))
		return 1
	}
	for i := 1; i <= 2; i++ {
		if L.Get(i).Type() == lua.LTString {
			continue
		}
		if fn := L.GetMetaField(L.Get(i), event); fn != lua.LNil {
			return callMeta(L, fn)
		}
	}
	bad := L.Get(2)
	if !okA {
		bad = L.Get(1)
	}
	raiseArithmetic(L, bad)
	return 0
}

// raiseArithmetic throws C Lua's error for an operand that is not a number.
func raiseArithmetic(L *lua.LState, operand lua.LValue) {
	lualib.Raise(L, "attempt to perform arithmetic on a "+operand.Type().String()+" value")
}

// callMeta calls fn with the first two arguments of the running function.
func callMeta(L *lua.LState, fn lua.LValue) int {
	a, b := L.Get(1), L.Get(2)
	if msg := lualib.Uncallable(L, fn); msg != "" {
		lualib.Raise(L, msg)
	}
	L.Push(fn)
	L.Push(a)
	L.Push(b)
	L.Call(2, 1)
	return 1
}

// concat is a chain of "..", evaluated from the right as in C Lua. It joins
// adjacent strings and numbers at once, and calls a metamethod for other values.
func (m *machine) concat(L *lua.LState) int {
	n := L.GetTop()
	acc := L.Get(n)
	for i := n - 1; i >= 1; {
		left := L.Get(i)
		if !isText(left) || !isText(acc) {
			acc = concatMeta(L, left, acc)
			i--
			continue
		}
		first := i
		for first > 1 && isText(L.Get(first-1)) {
			first--
		}
		acc = m.join(L, first, i, acc)
		i = first - 1
	}
	L.Push(acc)
	return 1
}

func isText(v lua.LValue) bool {
	switch v.(type) {
	case lua.LString, lua.LNumber:
		return true
	}
	return false
}

// join returns the arguments first to last, followed by tail, as one string.
func (m *machine) join(L *lua.LState, first, last int, tail lua.LValue) lua.LValue {
	const numberBytes, kept = 32, 64 << 10
	piece := func(i int) lua.LValue {
		if i > last {
			return tail
		}
		return L.Get(i)
	}
	size := 0
	for i := first; i <= last+1; i++ {
		if s, ok := piece(i).(lua.LString); ok {
			if size += len(s); size > m.maxString() {
				lualib.Raise(L, lualib.ErrTooLarge)
			}
		} else {
			size += numberBytes
		}
	}
	lualib.Announce(L, size)
	buf := m.text[:0]
	if size > kept {
		buf = make([]byte, 0, size)
	}
	for i := first; i <= last+1; i++ {
		switch v := piece(i).(type) {
		case lua.LString:
			buf = append(buf, v...)
		case lua.LNumber:
			buf = lualib.AppendNumber(buf, float64(v))
		}
	}
	if size > kept {
		return m.values.str(stringOf(buf))
	}
	m.text = buf
	return m.values.str(string(buf))
}

func concatMeta(L *lua.LState, left, right lua.LValue) lua.LValue {
	fn := L.GetMetaField(left, "__concat")
	if fn == lua.LNil {
		fn = L.GetMetaField(right, "__concat")
	}
	if fn == lua.LNil {
		bad := left
		if isText(left) {
			bad = right
		}
		lualib.Raise(L, "attempt to concatenate a "+bad.Type().String()+" value")
	}
	if msg := lualib.Uncallable(L, fn); msg != "" {
		lualib.Raise(L, msg)
	}
	L.Push(fn)
	L.Push(left)
	L.Push(right)
	L.Call(2, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// forBound returns the function that converts a bound of a numeric for to a
// number. what is the name of the bound in its error.
func forBound(what string) lua.LGFunction {
	return func(L *lua.LState) int {
		n, ok := lualib.AsNumber(L.Get(1))
		if !ok {
			lualib.Raise(L, "'for' "+what+" must be a number")
		}
		L.Push(lua.LNumber(n))
		return 1
	}
}

// length is the operator # for strings and tables. Like C Lua 5.1 it ignores __len
// of a table.
func length(L *lua.LState) int {
	switch v := L.Get(1).(type) {
	case lua.LString:
		L.Push(lua.LNumber(len(v)))
	case *lua.LTable:
		L.Push(lua.LNumber(v.Len()))
	default:
		lualib.Raise(L, "attempt to get length of a "+v.Type().String()+" value")
	}
	return 1
}

// spread takes a table, a number n and further arguments. It returns the elements
// 1 to n of the table, and then the further arguments.
func spread(L *lua.LState) int {
	t := L.Get(1).(*lua.LTable)
	n := int(L.Get(2).(lua.LNumber))
	rest := make([]lua.LValue, 0, L.GetTop()-2)
	for i := 3; i <= L.GetTop(); i++ {
		rest = append(rest, L.Get(i))
	}
	L.SetTop(0)
	for i := 1; i <= n; i++ {
		L.Push(t.RawGetInt(i))
	}
	for _, v := range rest {
		L.Push(v)
	}
	return n + len(rest)
}
