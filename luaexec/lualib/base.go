package lualib

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

type baseLib struct {
	limits    Limits
	typeNames [lua.LTChannel + 1]lua.LValue // by type, so that type() does not allocate
}

func patchBase(L *lua.LState, limits Limits) {
	lib := &baseLib{limits: limits}
	for i := range lib.typeNames {
		lib.typeNames[i] = lua.LString(lua.LValueType(i).String())
	}
	step := L.NewFunction(ipairsStep)
	for name, fn := range map[string]lua.LGFunction{
		"assert":   baseAssert,
		"error":    baseError,
		"rawequal": baseRawEqual,
		"select":   baseSelect,
		"tonumber": baseToNumber,
		"tostring": lib.toString,
		"type":     lib.typeOf,
		"unpack":   baseUnpack,
		"ipairs": func(L *lua.LState) int {
			t := CheckTable(L, 1)
			L.Push(step)
			L.Push(t)
			L.Push(lua.LNumber(0))
			return 3
		},
	} {
		L.SetGlobal(name, L.NewFunction(fn))
	}
}

func ipairsStep(L *lua.LState) int {
	t, i := CheckTable(L, 1), checkInt(L, 2)+1
	v := getIndex(t, i)
	if v == lua.LNil {
		return 0
	}
	L.Push(lua.LNumber(i))
	L.Push(v)
	return 2
}

func baseAssert(L *lua.LState) int {
	if lua.LVIsFalse(CheckAny(L, 1)) {
		Raise(L, CText(OptString(L, 2, "assertion failed!")))
	}
	return L.GetTop()
}

func baseError(L *lua.LState) int {
	level, v := OptInt(L, 2, 1), L.Get(1)
	if text, ok := AsString(v); ok && level > 0 {
		v = lua.LString(Position(L, level) + text)
	}
	L.Error(v, 0)
	return 0
}

func baseRawEqual(L *lua.LState) int {
	a, b := CheckAny(L, 1), CheckAny(L, 2)
	L.Push(lua.LBool(a == b))
	return 1
}

func baseSelect(L *lua.LState) int {
	n := L.GetTop()
	if s, ok := L.Get(1).(lua.LString); ok && s != "" && s[0] == '#' {
		L.Push(lua.LNumber(n - 1))
		return 1
	}
	i := checkInt(L, 1)
	if i < 0 {
		i += n
	} else if i > n {
		i = n
	}
	if i < 1 {
		ArgError(L, 1, "index out of range")
	}
	return n - i
}

func (lib *baseLib) typeOf(L *lua.LState) int {
	L.Push(lib.typeNames[CheckAny(L, 1).Type()])
	return 1
}

func baseUnpack(L *lua.LState) int {
	t := CheckTable(L, 1)
	from := OptInt(L, 2, 1)
	to := 0
	if L.Get(3) == lua.LNil {
		to = t.Len()
	} else {
		to = checkInt(L, 3)
	}
	if from > to {
		return 0
	}
	n := int64(to) - int64(from) + 1
	if int64(L.GetTop())+n > maxCStack {
		Raise(L, "too many results to unpack")
	}
	for i := range int(n) {
		L.Push(getIndex(t, from+i))
	}
	return int(n)
}

func (lib *baseLib) toString(L *lua.LState) int {
	arg := CheckAny(L, 1)
	switch v := arg.(type) {
	case lua.LString:
		if L.GetMetaField(arg, "__tostring") == lua.LNil {
			L.Push(arg)
			return 1
		}
	case lua.LNumber:
		L.Push(lua.LString(FormatNumber(float64(v))))
		return 1
	case lua.LBool, *lua.LNilType:
		L.Push(lua.LString(v.String()))
		return 1
	}
	return lib.toStringMeta(L, arg)
}

// toStringMeta converts v with __tostring, whose result may have any type, or to
// its type and address.
func (lib *baseLib) toStringMeta(L *lua.LState, v lua.LValue) int {
	if fn := L.GetMetaField(v, "__tostring"); fn != lua.LNil {
		if msg := Uncallable(L, fn); msg != "" {
			L.Error(lua.LString(msg), 0)
		}
		L.Push(fn)
		L.Push(v)
		lib.limits.callLua(L, 1, 1)
		return 1
	}
	L.Push(lua.LString(Address(v)))
	return 1
}

// Address is the type and address of v, as Lua prints them.
func Address(v lua.LValue) string {
	if isNull(v) {
		return "userdata: (nil)"
	}
	return fmt.Sprintf("%s: %p", v.Type(), v)
}

func baseToNumber(L *lua.LState) int {
	base := OptInt(L, 2, 10)
	if base == 10 {
		arg := CheckAny(L, 1)
		if _, ok := arg.(lua.LNumber); ok {
			L.Push(arg)
		} else if f, ok := AsNumber(arg); ok {
			L.Push(lua.LNumber(f))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	}
	s := CheckString(L, 1)
	if base < 2 || base > 36 {
		ArgError(L, 2, "base out of range")
	}
	if u, ok := strtoul(s, uint64(base)); ok {
		L.Push(lua.LNumber(u))
	} else {
		L.Push(lua.LNil)
	}
	return 1
}

// strtoul converts s, up to a NUL byte, as C's strtoul does: a negative number wraps
// around, and a number above 2^64-1 becomes 2^64-1. ok is false if s has other
// characters.
func strtoul(s string, base uint64) (n uint64, ok bool) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	neg := i < len(s) && s[i] == '-'
	if neg || i < len(s) && s[i] == '+' {
		i++
	}
	if base == 16 && i+2 < len(s) && s[i] == '0' && s[i+1]|0x20 == 'x' && isHex(s[i+2]) {
		i += 2
	}
	start, overflow := i, false
	for ; i < len(s); i++ {
		d := digitValue(s[i])
		if d >= base {
			break
		}
		if n > (^uint64(0)-d)/base {
			overflow = true
		}
		n = n*base + d
	}
	if i == start {
		return 0, false
	}
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i < len(s) && s[i] != 0 {
		return 0, false
	}
	switch {
	case overflow:
		n = ^uint64(0)
	case neg:
		n = -n
	}
	return n, true
}

func digitValue(c byte) uint64 {
	switch {
	case isDigit(c):
		return uint64(c - '0')
	case isAlpha(c):
		return uint64(c|0x20-'a') + 10
	}
	return 99
}
