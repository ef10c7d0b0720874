package lualib

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

func (lib *cjsonLib) encode(L *lua.LState) int {
	if L.GetTop() != 1 {
		ArgError(L, 1, "expected 1 argument")
	}
	e := jsonEncoder{cjsonLib: lib, L: L, out: lib.buf[:0], stack: 1}
	e.value(L.Get(1), 0)
	L.Push(lua.LString(e.out))
	if cap(e.out) <= 4096 {
		lib.buf = e.out
	}
	return 1
}

type jsonEncoder struct {
	*cjsonLib
	L     *lua.LState
	out   []byte
	size  growth
	stack int // slots of C Lua's stack that the C library would use
}

// fail throws cjson's error for a value that it cannot encode.
func (e *jsonEncoder) fail(v lua.LValue, reason string) {
	Raise(e.L, "Cannot serialise "+v.Type().String()+": "+reason)
}

func (e *jsonEncoder) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		e.string(string(v))
	case lua.LNumber:
		e.number(v)
	case lua.LBool:
		e.out = strconv.AppendBool(e.out, bool(v))
	case *lua.LNilType:
		e.out = append(e.out, "null"...)
	case *lua.LTable:
		e.table(v, depth+1)
	default:
		if !isNull(v) {
			e.fail(v, "type not supported")
		}
		e.out = append(e.out, "null"...)
	}
}

func (e *jsonEncoder) table(t *lua.LTable, depth int) {
	// The second limit is C Lua's stack, which a script that raises the maximum depth
	// can reach.
	if depth > e.encodeMaxDepth || e.stack+3 > maxCStack {
		Raise(e.L, "Cannot serialise, excessive nesting ("+strconv.Itoa(depth)+")")
	}
	if n := e.arrayLength(t); n > 0 {
		e.array(t, n, depth)
	} else {
		e.object(t, depth)
	}
	e.size.check(e.L, len(e.out), e.maxString)
}

// arrayLength is the highest index of a table whose keys are all positive integers.
// For other tables, which become objects, it is not above 0.
func (e *jsonEncoder) arrayLength(t *lua.LTable) int {
	highest, items := 0, 0
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n, ok := k.(lua.LNumber)
		if !ok || math.Floor(float64(n)) != float64(n) || n < 1 {
			return -1
		}
		if float64(n) > float64(highest) {
			highest = toInt32(float64(n))
		}
		items++
	}
	if e.sparseRatio > 0 && highest > items*e.sparseRatio && highest > e.sparseSafe {
		if !e.sparseConvert {
			e.fail(t, "excessively sparse array")
		}
		return -1
	}
	return highest
}

// toInt32 is C's (int) of a double: a value out of range becomes the lowest int.
func toInt32(f float64) int {
	if f > math.MinInt32-1 && f < math.MaxInt32+1 {
		return int(f)
	}
	return math.MinInt32
}

func (e *jsonEncoder) array(t *lua.LTable, n, depth int) {
	e.out = append(e.out, '[')
	e.stack++
	for i := 1; i <= n; i++ {
		if i > 1 {
			e.out = append(e.out, ',')
		}
		e.value(getIndex(t, i), depth)
		e.size.check(e.L, len(e.out), e.maxString)
	}
	e.stack--
	e.out = append(e.out, ']')
}

func (e *jsonEncoder) object(t *lua.LTable, depth int) {
	e.out = append(e.out, '{')
	e.stack += 2
	first := true
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		e.key(k)
		e.value(v, depth)
		e.size.check(e.L, len(e.out), e.maxString)
	}
	e.stack -= 2
	e.out = append(e.out, '}')
}

func (e *jsonEncoder) key(k lua.LValue) {
	switch k := k.(type) {
	case lua.LNumber:
		e.out = append(e.out, '"')
		e.number(k)
		e.out = append(e.out, '"', ':')
	case lua.LString:
		e.string(string(k))
		e.out = append(e.out, ':')
	default:
		e.fail(k, "table key must be a number or string")
	}
}

func (e *jsonEncoder) number(v lua.LNumber) {
	f := float64(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		switch {
		case e.encodeInvalid == 0:
			e.fail(v, "must not be NaN or Inf")
		case e.encodeInvalid == 2:
			e.out = append(e.out, "null"...)
			return
		case math.IsNaN(f):
			e.out = append(e.out, "nan"...)
			return
		}
	}
	e.out = appendG(e.out, f, e.precision)
}

const lowerHex = "0123456789abcdef"

// string writes s in quotes. It copies bytes from 0x80 unchanged, as cjson does.
func (e *jsonEncoder) string(s string) {
	e.size.check(e.L, len(e.out)+len(s)+2, e.maxString)
	out := append(e.out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != '/' && c != 0x7f {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\', '/':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\t':
			out = append(out, '\\', 't')
		case '\n':
			out = append(out, '\\', 'n')
		case '\f':
			out = append(out, '\\', 'f')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
		}
	}
	out = append(out, s[from:]...)
	e.out = append(out, '"')
}
