package luaexec

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// Turning a Go string or number into an lua.LValue allocates the interface's
// data word. Slabs hand these words out from blocks, as gopher-lua's own
// allocator does for the results of arithmetic.

const slabSize = 64

// iface is the layout of a Go interface value.
type iface struct{ typ, data unsafe.Pointer }

func boxString(s *lua.LString) lua.LValue {
	v := lua.LValue(lua.LString(""))
	(*iface)(unsafe.Pointer(&v)).data = unsafe.Pointer(s)
	return v
}

func boxNumber(n *lua.LNumber) lua.LValue {
	v := lua.LValue(lua.LNumber(0))
	(*iface)(unsafe.Pointer(&v)).data = unsafe.Pointer(n)
	return v
}

// slab hands out values that live as long as anything refers to them.
type slab struct {
	strings []lua.LString
	numbers []lua.LNumber
	small   [128]lua.LValue
}

func newSlab() *slab {
	s := &slab{}
	for i := range s.small {
		s.small[i] = lua.LNumber(i)
	}
	return s
}

// str returns s as a Lua value that keeps s.
func (b *slab) str(s string) lua.LValue {
	if len(b.strings) == cap(b.strings) {
		b.strings = make([]lua.LString, 0, slabSize)
	}
	b.strings = append(b.strings, lua.LString(s))
	return boxString(&b.strings[len(b.strings)-1])
}

// num returns n as a Lua value.
func (b *slab) num(n int64) lua.LValue {
	if n >= 0 && n < int64(len(b.small)) {
		return b.small[n]
	}
	if len(b.numbers) == cap(b.numbers) {
		b.numbers = make([]lua.LNumber, 0, slabSize)
	}
	b.numbers = append(b.numbers, lua.LNumber(n))
	return boxNumber(&b.numbers[len(b.numbers)-1])
}

// bytesOf returns the bytes of s without a copy; they must not be written to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// stringOf returns b as a string without a copy; b must not change while the
// string is in use.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
