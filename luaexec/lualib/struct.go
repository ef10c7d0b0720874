package lualib

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxIntSize   = 32 // largest size of iN and IN, in bytes
	defaultAlign = 8  // alignment of "!" without a number, in bytes
)

// OpenStruct returns the table of the struct library that Redis ships: pack, unpack
// and size, with formats of b B h H l L T i I s x c f d < > ! and space. The native
// byte order is little endian on every machine. limits is optional.
func OpenStruct(L *lua.LState, limits ...Limits) *lua.LTable {
	lib := &structLib{maxString: optionalMaxString(limits)}
	t := L.CreateTable(0, 3)
	return L.SetFuncs(t, map[string]lua.LGFunction{
		"pack":   lib.pack,
		"unpack": lib.unpack,
		"size":   structSize,
	})
}

type structLib struct {
	maxString int
	buf       []byte // pack's buffer, reused between calls
}

// structFmt reads the options of a format string. It has the byte order and the
// alignment that the options so far have set.
type structFmt struct {
	L     *lua.LState
	fmt   string
	pos   int
	big   bool
	align int
}

func newStructFmt(L *lua.LState) structFmt {
	fmt := CheckString(L, 1)
	if i := strings.IndexByte(fmt, 0); i >= 0 {
		fmt = fmt[:i]
	}
	return structFmt{L: L, fmt: fmt, align: 1}
}

func (f *structFmt) more() bool { return f.pos < len(f.fmt) }

// next returns the next option, its size, and the padding before it. at is the number
// of bytes before the padding.
func (f *structFmt) next(at uint64) (opt byte, size, pad int) {
	opt = f.fmt[f.pos]
	f.pos++
	size = f.size(opt)
	if size == 0 || opt == 'c' {
		return opt, size, 0
	}
	unit := min(size, f.align)
	return opt, size, (unit - int(at&uint64(unit-1))) & (unit - 1)
}

// size is the size of an option in bytes: 0 for s, c0 and options without data.
func (f *structFmt) size(opt byte) int {
	switch opt {
	case 'b', 'B', 'x':
		return 1
	case 'h', 'H':
		return 2
	case 'f':
		return 4
	case 'l', 'L', 'T', 'd':
		return 8
	case 'c':
		return f.number(1)
	case 'i', 'I':
		n := f.number(4)
		if n > maxIntSize {
			limit := strconv.Itoa(maxIntSize)
			Raise(f.L, "integral size "+strconv.Itoa(n)+" is larger than limit of "+limit)
		}
		return n
	}
	return 0
}

// number reads the decimal after an option. It is def if there is none.
func (f *structFmt) number(def int) int {
	if !f.more() || !isDigit(f.fmt[f.pos]) {
		return def
	}
	n := int64(0)
	for f.more() && isDigit(f.fmt[f.pos]) {
		n = n*10 + int64(f.fmt[f.pos]-'0')
		if n > math.MaxInt32 {
			Raise(f.L, "integral size overflow")
		}
		f.pos++
	}
	return int(n)
}

// control applies an option that has no data.
func (f *structFmt) control(opt byte) {
	switch opt {
	case ' ':
	case '>':
		f.big = true
	case '<':
		f.big = false
	case '!':
		n := f.number(defaultAlign)
		if n <= 0 || n&(n-1) != 0 {
			Raise(f.L, "alignment "+strconv.Itoa(n)+" is not a power of 2")
		}
		f.align = n
	default:
		ArgError(f.L, 1, "invalid format option '"+string([]byte{opt})+"'")
	}
}

func structSize(L *lua.LState) int {
	f := newStructFmt(L)
	total := uint64(0)
	for f.more() {
		opt, size, pad := f.next(total)
		total += uint64(pad)
		switch {
		case opt == 's':
			ArgError(L, 1, "option 's' has no fixed size")
		case opt == 'c' && size == 0:
			ArgError(L, 1, "option 'c0' has no fixed size")
		case !isAlnum(opt):
			f.control(opt)
		}
		total += uint64(size)
	}
	L.Push(lua.LNumber(total))
	return 1
}

func (lib *structLib) pack(L *lua.LState) int {
	f := newStructFmt(L)
	arg, buf := 2, lib.buf[:0]
	for f.more() {
		opt, size, pad := f.next(uint64(len(buf)))
		checkSize(L, len(buf)+pad, lib.maxString)
		buf = append(buf, make([]byte, pad)...)
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			buf = appendInteger(buf, structNumber(L, arg), size, f.big)
			arg++
		case 'x':
			buf = append(buf, 0)
		case 'f':
			buf = f.byteOrder().AppendUint32(buf, math.Float32bits(float32(structNumber(L, arg))))
			arg++
		case 'd':
			buf = f.byteOrder().AppendUint64(buf, math.Float64bits(structNumber(L, arg)))
			arg++
		case 'c', 's':
			s := structString(L, arg)
			arg++
			if size == 0 {
				size = len(s)
			}
			if size > len(s) {
				ArgError(L, arg, "string too short")
			}
			checkSize(L, len(buf)+size+1, lib.maxString)
			buf = append(buf, s[:size]...)
			if opt == 's' {
				buf = append(buf, 0)
			}
		default:
			f.control(opt)
		}
	}
	L.Push(lua.LString(buf))
	lib.keep(buf)
	return 1
}

// keep keeps a buffer of at most 4 KB for the next call.
func (lib *structLib) keep(buf []byte) {
	if cap(buf) <= 4096 {
		lib.buf = buf
	}
}

func (f *structFmt) byteOrder() interface {
	binary.AppendByteOrder
	binary.ByteOrder
} {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// structNumber is checkNumber, but with the error "got nil" for a missing argument: the
// C library pushes a nil after the arguments while it packs.
func structNumber(L *lua.LState, n int) float64 {
	if n > L.GetTop() {
		ArgError(L, n, "number expected, got nil")
	}
	return checkNumber(L, n)
}

// structString is structNumber for a string.
func structString(L *lua.LState, n int) string {
	if n > L.GetTop() {
		ArgError(L, n, "string expected, got nil")
	}
	return CheckString(L, n)
}

// appendInteger appends the low size bytes of n. Bytes after the eighth are zero, for
// negative numbers too.
func appendInteger(buf []byte, n float64, size int, big bool) []byte {
	v := uint64(0)
	if n < 0 {
		v = uint64(toInt64(n))
	} else {
		v = toUint64(n)
	}
	at := len(buf)
	for i := 0; i < size; i++ {
		buf = append(buf, byte(v))
		v >>= 8
	}
	if big {
		for i, j := at, len(buf)-1; i < j; i, j = i+1, j-1 {
			buf[i], buf[j] = buf[j], buf[i]
		}
	}
	return buf
}

func (lib *structLib) unpack(L *lua.LState) int {
	f := newStructFmt(L)
	data := CheckString(L, 2)
	offset := optInteger(L, 3, 1)
	if offset == 0 {
		ArgError(L, 3, "offset must be 1 or greater")
	}
	base := L.GetTop()
	// A negative offset is a huge unsigned position in C.
	pos, n := uint64(offset-1), 0
	for f.more() {
		opt, size, pad := f.next(pos)
		pos += uint64(pad)
		if size > len(data) || pos > uint64(len(data)-size) {
			ArgError(L, 2, "data string too short")
		}
		if base+n+2 > maxCStack {
			Raise(L, "stack overflow (too many results)")
		}
		at := data[pos:]
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			L.Push(lua.LNumber(readInteger(at[:size], f.big, isLower(opt))))
			n++
		case 'x':
		case 'f':
			L.Push(lua.LNumber(math.Float32frombits(f.byteOrder().Uint32([]byte(at[:4])))))
			n++
		case 'd':
			L.Push(lua.LNumber(math.Float64frombits(f.byteOrder().Uint64([]byte(at[:8])))))
			n++
		case 'c':
			if size == 0 {
				size = popSize(L, n, len(at))
				n--
			}
			L.Push(lua.LString(at[:size]))
			n++
		case 's':
			end := strings.IndexByte(at, 0)
			if end < 0 {
				Raise(L, "unfinished string in data")
			}
			L.Push(lua.LString(at[:end]))
			size = end + 1
			n++
		default:
			f.control(opt)
		}
		pos += uint64(size)
	}
	L.Push(lua.LNumber(int64(pos + 1)))
	return n + 1
}

// popSize pops the last of n results: the length of a c0 string. left is the number of
// bytes that remain in the data.
func popSize(L *lua.LState, n, left int) int {
	v, ok := 0.0, false
	if n > 0 {
		v, ok = AsNumber(L.Get(-1))
	}
	if !ok {
		Raise(L, "format 'c0' needs a previous size")
	}
	L.Pop(1)
	size := toUint64(v)
	if size > uint64(left) {
		ArgError(L, 2, "data string too short")
	}
	return int(size)
}

// readInteger reads an integer of up to 32 bytes. Only the low 64 bits count. Above
// eight bytes, the sign bit is where x86 puts it when it shifts by more than 63.
func readInteger(b string, big, signed bool) float64 {
	v := uint64(0)
	for i := range len(b) { // by bytes: range over a string would read runes
		c := b[i]
		if !big {
			c = b[len(b)-1-i]
		}
		v = v<<8 | uint64(c)
	}
	if !signed {
		return float64(v)
	}
	mask := ^uint64(0) << (uint(len(b)*8-1) & 63)
	if v&mask != 0 {
		v |= mask
	}
	return float64(int64(v))
}
