package luaexec

import (
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// Go allocates the data word of an interface when a string or number becomes an
// lua.LValue. This file builds such interface values around words that exist
// already. gopher-lua's own allocator does the same for results of arithmetic.
// Measured with the benchmarks of this package; a string word has 16 bytes, a
// number word 8:
//
//   - KEYS and ARGV reuse their words in every run (vector.go). Without it a lock
//     script with one key and two arguments takes 70 ns (10 %) and 3 allocations
//     more.
//   - The slab takes words from blocks of 64. Without it each string that a
//     command or ".." returns takes 20 ns and an allocation more. Each number
//     above 127, such as the PTTL of a held lock, takes an allocation more; the
//     difference in time is within noise.

const slabSize = 64

// iface is the layout of a Go interface value whose data is behind a pointer.
type iface struct{ typ, data unsafe.Pointer }

// boxString returns *s as a Lua value that points to s. The value changes when
// *s does.
func boxString(s *lua.LString) lua.LValue {
	v := lua.LValue(lua.LString(""))
	(*iface)(unsafe.Pointer(&v)).data = unsafe.Pointer(s)
	return v
}

// boxNumber is boxString for a number.
func boxNumber(n *lua.LNumber) lua.LValue {
	v := lua.LValue(lua.LNumber(0))
	(*iface)(unsafe.Pointer(&v)).data = unsafe.Pointer(n)
	return v
}

// slab allocates Lua strings and numbers in blocks. A value is never reused; a
// block is freed when nothing refers to any of its values.
type slab struct {
	strings []lua.LString
	numbers []lua.LNumber
	bytes   int             // of strings
	small   [128]lua.LValue // the numbers 0 to 127, made once
}

func newSlab() *slab {
	s := &slab{}
	for i := range s.small {
		s.small[i] = lua.LNumber(i)
	}
	return s
}

// str returns s as a Lua value. It keeps s without a copy.
func (b *slab) str(s string) lua.LValue {
	if len(b.strings) == cap(b.strings) {
		b.strings, b.bytes = make([]lua.LString, 0, slabSize), 0
	}
	b.bytes += len(s)
	b.strings = append(b.strings, lua.LString(s))
	return boxString(&b.strings[len(b.strings)-1])
}

// release drops a block of strings with many bytes.
func (b *slab) release() {
	const kept = 64 << 10
	if b.bytes > kept {
		b.strings, b.bytes = nil, 0
	}
}

// num returns n as a Lua value.
func (b *slab) num(n int64) lua.LValue {
	if n >= 0 && n < int64(len(b.small)) {
		return b.small[n]
	}
	return b.large(lua.LNumber(n))
}

// number returns n as a Lua value.
func (b *slab) number(n float64) lua.LValue {
	if n > 0 && n < float64(len(b.small)) {
		if i := int(n); float64(i) == n {
			return b.small[i]
		}
	}
	return b.large(lua.LNumber(n))
}

// large returns n in a word of its own.
func (b *slab) large(n lua.LNumber) lua.LValue {
	if len(b.numbers) == cap(b.numbers) {
		b.numbers = make([]lua.LNumber, 0, slabSize)
	}
	b.numbers = append(b.numbers, n)
	return boxNumber(&b.numbers[len(b.numbers)-1])
}

// bytesOf returns the bytes of s without a copy. They must not be modified.
// redis.call passes its string arguments this way: copies take 100 ns and 8
// allocations more in a lock script of four commands.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// stringOf returns b as a string without a copy. b must not change while the
// string is in use. KEYS and ARGV are made this way: copies take 40 ns and an
// allocation for each more in a lock script.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
