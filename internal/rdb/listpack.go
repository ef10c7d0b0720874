package rdb

import (
	"encoding/binary"
	"strconv"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// A listpack is its size in 4 bytes, the number of elements in 2 (65535: unknown), the
// elements, and a byte 0xff. An element is an integer or a string with its length,
// followed by its own size in a form that is read backwards.
const (
	listpackHead = 6
	listpackEnd  = 0xff
	listpackMany = 1<<16 - 1
)

// listpack builds a listpack.
type listpack struct {
	b []byte
	n int
}

func newListpack(room int) *listpack {
	return &listpack{b: make([]byte, listpackHead, listpackHead+room+1)}
}

// reset empties the listpack and keeps its memory.
func (l *listpack) reset() {
	l.b, l.n = append(l.b[:0], make([]byte, listpackHead)...), 0
}

// add adds an element. The decimal form of an integer becomes an integer.
func (l *listpack) add(elem []byte) {
	start := len(l.b)
	if n, ok := resp.ParseInt(elem); ok {
		l.integer(n)
	} else {
		l.text(elem)
	}
	l.b = appendBackLength(l.b, len(l.b)-start)
	l.n++
}

// addText adds a name or a value of a stream's entry.
func (l *listpack) addText(text store.StreamText) {
	if n, ok := text.Integer(); ok {
		l.addInteger(n)
		return
	}
	start := len(l.b)
	l.text(text.Bytes())
	l.b = appendBackLength(l.b, len(l.b)-start)
	l.n++
}

// addInteger adds an integer.
func (l *listpack) addInteger(n int64) {
	l.n++
	if n >= 0 && n <= 127 { // nearly all in a stream
		l.b = append(l.b, byte(n), 1)
		return
	}
	start := len(l.b)
	l.integer(n)
	l.b = appendBackLength(l.b, len(l.b)-start)
}

func (l *listpack) integer(n int64) {
	switch {
	case n >= 0 && n <= 127:
		l.b = append(l.b, byte(n))
	case n >= -4096 && n <= 4095:
		l.b = append(l.b, 0xc0|byte(n>>8)&0x1f, byte(n))
	case n >= -1<<15 && n < 1<<15:
		l.b = binary.LittleEndian.AppendUint16(append(l.b, 0xf1), uint16(n))
	case n >= -1<<23 && n < 1<<23:
		l.b = append(l.b, 0xf2, byte(n), byte(n>>8), byte(n>>16))
	case n >= -1<<31 && n < 1<<31:
		l.b = binary.LittleEndian.AppendUint32(append(l.b, 0xf3), uint32(n))
	default:
		l.b = binary.LittleEndian.AppendUint64(append(l.b, 0xf4), uint64(n))
	}
}

func (l *listpack) text(elem []byte) {
	switch n := len(elem); {
	case n < 64:
		l.b = append(l.b, 0x80|byte(n))
	case n < 4096:
		l.b = append(l.b, 0xe0|byte(n>>8), byte(n))
	default:
		l.b = binary.LittleEndian.AppendUint32(append(l.b, 0xf0), uint32(n))
	}
	l.b = append(l.b, elem...)
}

// packNode returns a list's node as a listpack.
func packNode(node store.Packed) []byte {
	pack := newListpack(node.Size())
	for pos := node.First(); pos >= 0; {
		var elem []byte
		elem, pos = node.Elem(pos)
		pack.add(elem)
	}
	return pack.bytes()
}

// bytes ends the listpack and returns it.
func (l *listpack) bytes() []byte {
	l.b = append(l.b, listpackEnd)
	binary.LittleEndian.PutUint32(l.b, uint32(len(l.b)))
	binary.LittleEndian.PutUint16(l.b[4:], uint16(min(l.n, listpackMany)))
	return l.b
}

// backLengthSize returns how many bytes the size n of an element takes. The bounds are
// Redis's.
func backLengthSize(n int) int {
	switch {
	case n <= 127:
		return 1
	case n < 1<<14-1:
		return 2
	case n < 1<<21-1:
		return 3
	case n < 1<<28-1:
		return 4
	}
	return 5
}

// appendBackLength appends the size n of an element, seven bits in a byte, the highest
// ones first. All bytes but the first have the bit 0x80.
func appendBackLength(dst []byte, n int) []byte {
	if n <= 127 {
		return append(dst, byte(n))
	}
	for i := backLengthSize(n) - 1; i >= 0; i-- {
		c := byte(n>>(7*i)) & 0x7f
		if i < backLengthSize(n)-1 {
			c |= 0x80
		}
		dst = append(dst, c)
	}
	return dst
}

// readListpack returns the elements of a listpack. They alias b, except integers.
func readListpack(b []byte) (elems [][]byte, err error) {
	elems, err = readListpackElements(b)
	if err != nil {
		return nil, err
	}
	if count := int(binary.LittleEndian.Uint16(b[4:])); count != listpackMany && count != len(elems) {
		return nil, corrupt("listpack of %d elements instead of %d", len(elems), count)
	}
	return elems, nil
}

// readListpackElements is readListpack for a listpack whose head may have a wrong number of
// elements.
func readListpackElements(b []byte) (elems [][]byte, err error) {
	if len(b) < listpackHead+1 || uint64(binary.LittleEndian.Uint32(b)) != uint64(len(b)) ||
		b[len(b)-1] != listpackEnd {
		return nil, corrupt("listpack of %d bytes", len(b))
	}
	count := int(binary.LittleEndian.Uint16(b[4:]))
	elems = make([][]byte, 0, min(count, len(b)/2))
	for at, end := listpackHead, len(b)-1; at < end; {
		elem, size, ok := listpackElement(b[at:end])
		if !ok {
			return nil, corrupt("listpack element %d", len(elems))
		}
		at += size + backLengthSize(size)
		if at > end || backLength(b[:at]) != size {
			return nil, corrupt("size of listpack element %d", len(elems))
		}
		elems = append(elems, elem)
	}
	return elems, nil
}

// backLength reads the size of an element backwards from the end of b, as Redis does: a byte
// with the bit 0x80 has another one before it. It returns -1 for a size of six bytes.
func backLength(b []byte) (n int) {
	for shift := 0; shift <= 28; shift += 7 {
		c := b[len(b)-1-shift/7]
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
	return -1
}

// listpackElement returns the first element of b, and its size without the trailing
// size.
func listpackElement(b []byte) (elem []byte, size int, ok bool) {
	c := b[0]
	switch {
	case c < 0x80:
		return decimal(int64(c)), 1, true
	case c < 0xc0:
		return listpackText(b, 1, uint64(c&0x3f))
	case c < 0xe0:
		if len(b) < 2 {
			return nil, 0, false
		}
		n := int64(c&0x1f)<<8 | int64(b[1])
		return decimal(n << 51 >> 51), 2, true
	case c < 0xf0:
		if len(b) < 2 {
			return nil, 0, false
		}
		return listpackText(b, 2, uint64(c&0xf)<<8|uint64(b[1]))
	case c == 0xf0:
		if len(b) < 5 {
			return nil, 0, false
		}
		return listpackText(b, 5, uint64(binary.LittleEndian.Uint32(b[1:])))
	case c <= 0xf4:
		width := []int{2, 3, 4, 8}[c-0xf1]
		if len(b) < 1+width {
			return nil, 0, false
		}
		return decimal(integer(b[1 : 1+width])), 1 + width, true
	}
	return nil, 0, false
}

// listpackText returns the string of n bytes after a head of head bytes.
func listpackText(b []byte, head int, n uint64) (elem []byte, size int, ok bool) {
	if n > uint64(len(b)-head) {
		return nil, 0, false
	}
	size = head + int(n)
	return b[head:size:size], size, true
}

// integer returns the signed integer in b, the lowest byte first.
func integer(b []byte) int64 {
	var n uint64
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	unused := 64 - 8*len(b)
	return int64(n<<unused) >> unused
}

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
