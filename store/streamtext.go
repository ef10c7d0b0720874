package store

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/lockredis/lockredis/resp"
)

// StreamText is a name or a value of a stream's entry. It aliases the stream and is valid until
// the stream changes.
type StreamText struct {
	bytes []byte // nil: the text is the digits of n
	n     int64
}

// Integer returns the number whose decimal digits the text is. ok is false if the text is no
// integer. "-0", "+1" and "007" are no integers, because the number has other digits.
func (t StreamText) Integer() (n int64, ok bool) { return t.n, t.bytes == nil }

// Bytes returns the bytes of a text that is no integer, nil for an integer.
func (t StreamText) Bytes() []byte { return t.bytes }

// Append appends the text to b.
func (t StreamText) Append(b []byte) []byte {
	if t.bytes == nil {
		return strconv.AppendInt(b, t.n, 10)
	}
	return append(b, t.bytes...)
}

// In a chunk, an integer is its size less one, and 1 to 8 bytes in two's complement, the lowest
// first. Another text is its length plus integerSizes, and its bytes. Both sizes are varints.
// Redis packs integers, too: entries of numbers would take more memory than there if their
// digits were kept.
const integerSizes = 8

// appendText appends a name or a value. It also returns the size that it has in a listpack.
func appendText(to, b []byte) (data []byte, packed int64) {
	n, ok := resp.ParseInt(b)
	if !ok {
		to = binary.AppendUvarint(to, uint64(len(b)+integerSizes))
		return append(to, b...), listpackString(len(b))
	}
	size := bits.Len64(uint64(n^n>>63))/8 + 1 // one bit is the sign
	to = append(to, byte(size-1))
	for v := n; size > 0; size-- {
		to = append(to, byte(v))
		v >>= 8
	}
	return to, listpackInt(n)
}

// textAt returns the name or value at pos.
func (c *streamChunk) textAt(pos int) (t StreamText, next int) {
	head, pos := c.uvarintAt(pos)
	if head >= integerSizes {
		next = pos + int(head-integerSizes)
		return StreamText{bytes: c.data[pos:next:next]}, next
	}
	next = pos + int(head) + 1
	n := int64(int8(c.data[next-1]))
	for i := next - 2; i >= pos; i-- {
		n = n<<8 | int64(c.data[i])
	}
	return StreamText{n: n}, next
}

// isText reports whether the name or value at pos is b.
func (c *streamChunk) isText(pos int, b []byte) (next int, ok bool) {
	head, from := c.uvarintAt(pos)
	if head >= integerSizes {
		next = from + int(head-integerSizes)
		return next, string(c.data[from:next]) == string(b)
	}
	t, next := c.textAt(pos)
	n, ok := resp.ParseInt(b)
	return next, ok && n == t.n
}
