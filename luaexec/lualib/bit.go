package lualib

import (
	"math"
	"math/bits"

	lua "github.com/yuin/gopher-lua"
)

// OpenBit returns the table of Lua BitOp: operations on 32 bits. Arguments are taken
// modulo 2^32, results are signed.
func OpenBit(L *lua.LState) *lua.LTable {
	t := L.CreateTable(0, 16)
	return L.SetFuncs(t, map[string]lua.LGFunction{
		"tobit":   bitTobit,
		"bnot":    bitBnot,
		"bswap":   bitBswap,
		"tohex":   bitTohex,
		"band":    bitBand,
		"bor":     bitBor,
		"bxor":    bitBxor,
		"lshift":  bitLshift,
		"rshift":  bitRshift,
		"arshift": bitArshift,
		"rol":     bitRol,
		"ror":     bitRor,
	})
}

// bitArg is the n-th argument modulo 2^32, rounded to nearest even. Adding 2^52+2^51
// moves the integer part into the low bits of the double. BitOp does the same, so
// numbers far out of range give the same bits.
func bitArg(L *lua.LState, n int) uint32 {
	return uint32(math.Float64bits(checkNumber(L, n) + 0x18p48))
}

func pushBits(L *lua.LState, v uint32) int {
	L.Push(lua.LNumber(int32(v)))
	return 1
}

func bitTobit(L *lua.LState) int { return pushBits(L, bitArg(L, 1)) }
func bitBnot(L *lua.LState) int  { return pushBits(L, ^bitArg(L, 1)) }
func bitBswap(L *lua.LState) int { return pushBits(L, bits.ReverseBytes32(bitArg(L, 1))) }

func bitBand(L *lua.LState) int {
	v := bitArg(L, 1)
	for i := L.GetTop(); i > 1; i-- {
		v &= bitArg(L, i)
	}
	return pushBits(L, v)
}

func bitBor(L *lua.LState) int {
	v := bitArg(L, 1)
	for i := L.GetTop(); i > 1; i-- {
		v |= bitArg(L, i)
	}
	return pushBits(L, v)
}

func bitBxor(L *lua.LState) int {
	v := bitArg(L, 1)
	for i := L.GetTop(); i > 1; i-- {
		v ^= bitArg(L, i)
	}
	return pushBits(L, v)
}

func bitLshift(L *lua.LState) int {
	v := bitArg(L, 1)
	return pushBits(L, v<<(bitArg(L, 2)&31))
}

func bitRshift(L *lua.LState) int {
	v := bitArg(L, 1)
	return pushBits(L, v>>(bitArg(L, 2)&31))
}

func bitArshift(L *lua.LState) int {
	v := int32(bitArg(L, 1))
	return pushBits(L, uint32(v>>(bitArg(L, 2)&31)))
}

func bitRol(L *lua.LState) int {
	v := bitArg(L, 1)
	return pushBits(L, bits.RotateLeft32(v, int(bitArg(L, 2)&31)))
}

func bitRor(L *lua.LState) int {
	v := bitArg(L, 1)
	return pushBits(L, bits.RotateLeft32(v, -int(bitArg(L, 2)&31)))
}

// bitTohex returns the lowest |n| hexadecimal digits, in upper case if n is negative.
func bitTohex(L *lua.LState) int {
	v, n := bitArg(L, 1), int64(8)
	if L.GetTop() >= 2 {
		n = int64(int32(bitArg(L, 2)))
	}
	digits := "0123456789abcdef"
	if n < 0 {
		n, digits = -n, "0123456789ABCDEF"
	}
	if n > 8 {
		n = 8
	}
	var buf [8]byte
	for i := int(n) - 1; i >= 0; i-- {
		buf[i] = digits[v&15]
		v >>= 4
	}
	L.Push(lua.LString(buf[:n]))
	return 1
}
