package lualib

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// maxPackNesting is the depth at which pack writes nil in place of a table.
const maxPackNesting = 16

// OpenCMsgpack returns the table of lua-cmsgpack 0.4.0, as Redis 7.0.15 ships it: pack,
// unpack, unpack_one and unpack_limit. limits is optional.
//
// The encoder does not use vmihailenco/msgpack. Its decisions must be those of
// lua-cmsgpack: integers before floats, float32 where it is exact, array or map, nil
// below 16 levels, error messages. That library decides differently. It would write
// only the headers of one byte, through an io.Writer, with an allocation each.
func OpenCMsgpack(L *lua.LState, limits ...Limits) *lua.LTable {
	lib := &msgpackLib{maxString: optionalMaxString(limits)}
	t := L.CreateTable(0, 8)
	L.SetFuncs(t, map[string]lua.LGFunction{
		"pack":         lib.pack,
		"unpack":       lib.unpack,
		"unpack_one":   lib.unpackOne,
		"unpack_limit": lib.unpackLimit,
	})
	t.RawSetString("_NAME", lua.LString("cmsgpack"))
	t.RawSetString("_VERSION", lua.LString("lua-cmsgpack 0.4.0"))
	t.RawSetString("_COPYRIGHT", lua.LString("Copyright (C) 2012, Salvatore Sanfilippo"))
	t.RawSetString("_DESCRIPTION", lua.LString("MessagePack C implementation for Lua"))
	return t
}

type msgpackLib struct {
	maxString int
	buf       []byte // pack's buffer, reused between calls
}

func (lib *msgpackLib) pack(L *lua.LState) int {
	n := L.GetTop()
	switch {
	case n == 0:
		ArgError(L, 0, "MessagePack pack needs input.")
	case 2*n > maxCStack:
		ArgError(L, 0, "Too many arguments for MessagePack pack.")
	}
	p := packer{L: L, out: lib.buf[:0], maxString: lib.maxString}
	for i := 1; i <= n; i++ {
		p.value(L.Get(i), 0)
	}
	L.Push(lua.LString(p.out))
	if cap(p.out) <= 4096 {
		lib.buf = p.out
	}
	return 1
}

type packer struct {
	L         *lua.LState
	out       []byte
	size      growth
	maxString int
}

// value appends v. A value that MessagePack has no type for becomes nil.
func (p *packer) value(v lua.LValue, level int) {
	switch v := v.(type) {
	case lua.LString:
		p.string(string(v))
	case lua.LNumber:
		p.number(float64(v))
	case lua.LBool:
		if v {
			p.out = append(p.out, 0xc3)
		} else {
			p.out = append(p.out, 0xc2)
		}
	case *lua.LTable:
		if level == maxPackNesting {
			p.out = append(p.out, 0xc0)
			return
		}
		p.table(v, level+1)
	default:
		p.out = append(p.out, 0xc0)
	}
	if len(p.out) > p.maxString {
		p.size.check(p.L, len(p.out), p.maxString)
	}
}

func (p *packer) string(s string) {
	p.size.check(p.L, len(p.out)+len(s)+5, p.maxString)
	switch n := len(s); {
	case n < 32:
		p.out = append(p.out, 0xa0|byte(n))
	case n <= math.MaxUint8:
		p.out = append(p.out, 0xd9, byte(n))
	case n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, 0xda), uint16(n))
	default:
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xdb), uint32(n))
	}
	p.out = append(p.out, s...)
}

func (p *packer) number(f float64) {
	if n := toInt64(f); float64(n) == f {
		p.integer(n)
		return
	}
	if f32 := float32(f); float64(f32) == f {
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xca), math.Float32bits(f32))
		return
	}
	p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcb), math.Float64bits(f))
}

func (p *packer) integer(n int64) {
	be := binary.BigEndian
	switch {
	case n >= -32 && n <= math.MaxInt8:
		p.out = append(p.out, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		p.out = append(p.out, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		p.out = be.AppendUint16(append(p.out, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		p.out = be.AppendUint32(append(p.out, 0xce), uint32(n))
	case n >= 0:
		p.out = be.AppendUint64(append(p.out, 0xcf), uint64(n))
	case n >= math.MinInt8:
		p.out = append(p.out, 0xd0, byte(n))
	case n >= math.MinInt16:
		p.out = be.AppendUint16(append(p.out, 0xd1), uint16(n))
	case n >= math.MinInt32:
		p.out = be.AppendUint32(append(p.out, 0xd2), uint32(n))
	default:
		p.out = be.AppendUint64(append(p.out, 0xd3), uint64(n))
	}
}

// header appends the header of an array or map with n elements. fix is the type of a
// header of one byte, wide the header with a length of 16 bits.
func (p *packer) header(n int, fix, wide byte) {
	switch {
	case n <= 15:
		p.out = append(p.out, fix|byte(n))
	case n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, wide), uint16(n))
	default:
		p.out = binary.BigEndian.AppendUint32(append(p.out, wide+1), uint32(n))
	}
}

func (p *packer) table(t *lua.LTable, level int) {
	n, isArray := measure(t)
	if isArray {
		p.header(n, 0x90, 0xdc)
		for i := 1; i <= n; i++ {
			p.value(getIndex(t, i), level)
		}
		return
	}
	p.header(n, 0x80, 0xde)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		p.value(k, level)
		p.value(v, level)
	}
}

// measure counts the elements of t. isArray reports whether their keys are exactly 1
// to n. An empty table is an array.
func measure(t *lua.LTable) (n int, isArray bool) {
	highest := 0.0
	isArray = true
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		n++
		i, ok := k.(lua.LNumber)
		if !ok || i <= 0 || float64(i) != math.Trunc(float64(i)) {
			isArray = false
			continue
		}
		highest = max(highest, float64(i))
	}
	return n, isArray && highest == float64(n)
}
