package lualib

import (
	"encoding/binary"
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// Errors of lua-cmsgpack's decoder.
const (
	errMissingBytes = "Missing bytes in input."
	errBadFormat    = "Bad data format in input."
	errTooManyItems = "stack overflow (too many return values at once; " +
		"use unpack_one or unpack_limit instead.)"
	errDeepArray = "stack overflow (in function mp_decode_to_lua_array)"
)

// slotBytes is the size of one element in the array part of a gopher-lua table.
const slotBytes = 16

func (lib *msgpackLib) unpack(L *lua.LState) int { return lib.read(L, 0, 0) }

func (lib *msgpackLib) unpackOne(L *lua.LState) int {
	offset := optInteger(L, 2, 0)
	L.SetTop(min(1, L.GetTop()))
	return lib.read(L, 1, offset)
}

func (lib *msgpackLib) unpackLimit(L *lua.LState) int {
	limit, offset := checkInteger(L, 2), optInteger(L, 3, 0)
	L.SetTop(1)
	return lib.read(L, limit, offset)
}

// read returns up to limit values from offset on to Lua. Before them it returns the
// offset of the next value, -1 at the end. If limit and offset are zero, it returns all
// values and no offset.
func (lib *msgpackLib) read(L *lua.LState, limit, offset int64) int {
	s := CheckString(L, 1)
	shown := int(int32(offset)) // as C prints it
	switch {
	case offset < 0 || limit < 0:
		Raise(L, "Invalid request to unpack with offset of "+strconv.Itoa(shown)+
			" and limit of "+strconv.Itoa(len(s))+".")
	case offset > int64(len(s)):
		Raise(L, "Start offset "+strconv.Itoa(shown)+
			" greater than input length "+strconv.Itoa(len(s))+".")
	}
	all := limit == 0 && offset == 0
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{L: L, src: s, pos: int(offset), stack: L.GetTop(), spare: lib.maxString}
	first, n := L.GetTop()+1, 0
	for ; u.pos < len(s) && int64(n) < limit; n++ {
		L.Push(u.value())
		u.stack++
	}
	u.steps.end(L, valueBytes)
	if all {
		return n
	}
	next := lua.LNumber(-1)
	if u.pos < len(s) {
		next = lua.LNumber(u.pos)
	}
	L.Insert(next, first)
	return n + 1
}

type unpacker struct {
	L     *lua.LState
	src   string
	pos   int
	stack int // slots of C Lua's stack that the C library would use
	steps steps
	spare int // bytes that the empty elements of arrays may still use
}

// need throws msg if C Lua's stack would have no room for n more slots.
func (u *unpacker) need(n int, msg string) {
	if u.stack+n > maxCStack {
		Raise(u.L, msg)
	}
}

// take returns the next n bytes.
func (u *unpacker) take(n int) string {
	if n > len(u.src)-u.pos {
		Raise(u.L, errMissingBytes)
	}
	s := u.src[u.pos : u.pos+n]
	u.pos += n
	return s
}

// uint reads a big-endian unsigned integer of size bytes.
func (u *unpacker) uint(size int) uint64 {
	var b [8]byte
	copy(b[8-size:], u.take(size))
	return binary.BigEndian.Uint64(b[:])
}

// length reads the length of a string or the size of a table. The source is shorter than the
// greatest int32, so a larger number counts as that.
func (u *unpacker) length(size int) int { return int(min(u.uint(size), math.MaxInt32)) }

func (u *unpacker) value() lua.LValue {
	u.steps.add(u.L, 1, valueBytes)
	c := u.take(1)[0]
	u.need(1, errTooManyItems)
	switch {
	case c <= 0x7f:
		return lua.LNumber(c)
	case c >= 0xe0:
		return lua.LNumber(int8(c))
	case c <= 0x8f:
		return u.table(int(c&0xf), true)
	case c <= 0x9f:
		return u.table(int(c&0xf), false)
	case c <= 0xbf:
		return lua.LString(u.take(int(c & 0x1f)))
	}
	switch c {
	case 0xc0:
		return lua.LNil
	case 0xc2:
		return lua.LFalse
	case 0xc3:
		return lua.LTrue
	case 0xca:
		return lua.LNumber(math.Float32frombits(uint32(u.uint(4))))
	case 0xcb:
		return lua.LNumber(math.Float64frombits(u.uint(8)))
	case 0xcc, 0xcd, 0xce:
		return lua.LNumber(u.uint(1 << (c - 0xcc)))
	case 0xcf, 0xd3: // an unsigned integer above 2^63 becomes negative, as in Redis
		return lua.LNumber(int64(u.uint(8)))
	case 0xd0:
		return lua.LNumber(int8(u.uint(1)))
	case 0xd1:
		return lua.LNumber(int16(u.uint(2)))
	case 0xd2:
		return lua.LNumber(int32(u.uint(4)))
	case 0xd9, 0xda, 0xdb:
		return lua.LString(u.take(u.length(1 << (c - 0xd9))))
	case 0xdc, 0xdd:
		return u.table(u.length(2<<(c-0xdc)), false)
	case 0xde, 0xdf:
		return u.table(u.length(2<<(c-0xde)), true)
	}
	Raise(u.L, errBadFormat)
	return lua.LNil
}

func (u *unpacker) table(n int, isMap bool) lua.LValue {
	if isMap {
		return u.hash(n)
	}
	u.need(2, errDeepArray)
	u.stack += 2
	t := u.L.CreateTable(min(n, len(u.src)-u.pos, 16), 0)
	for i := 1; i <= n; i++ {
		t.RawSetInt(i, u.value())
	}
	u.stack -= 2
	return t
}

func (u *unpacker) hash(n int) lua.LValue {
	u.stack++
	t := u.L.CreateTable(0, min(n, len(u.src)-u.pos, 16))
	for ; n > 0; n-- {
		k := u.value()
		u.stack++
		v := u.value()
		u.stack--
		u.set(t, k, v)
	}
	u.stack--
	return t
}

// set stores a pair of a map. For a high integer key gopher-lua fills the array part of
// the table up to the key. spare limits the memory of this for the whole call.
func (u *unpacker) set(t *lua.LTable, k, v lua.LValue) {
	if k == lua.LNil {
		u.L.Error(lua.LString("table index is nil"), 0)
	}
	if f, ok := k.(lua.LNumber); ok {
		if f != f {
			u.L.Error(lua.LString("table index is NaN"), 0)
		}
		if f >= 1 && f < lua.LNumber(lua.MaxArrayIndex) && f == lua.LNumber(int(f)) {
			if u.spare -= max(int(f)-t.MaxN()-1, 0) * slotBytes; u.spare < 0 {
				Raise(u.L, ErrTooLarge)
			}
		}
	}
	t.RawSet(k, v)
}
