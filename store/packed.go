package store

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Packed is a sequence of byte strings in one allocation: small hashes and
// sorted sets, and the nodes of lists. The nil Packed is empty and ready.
//
// The layout follows Redis's listpack without its integer forms, so that an
// element can be handed out as it lies there: two bytes count the elements
// (65535: too many to say), then each element is its length, its bytes, and
// the size of these two, written so that it is read backwards. Lengths take
// seven bits a byte: one byte up to 127.
//
// An element is addressed by its position, a byte offset that is -1 behind the
// last element and before the first. Positions and the slices that At and Elem
// return are valid until the next change. What is passed in is copied; it must
// not alias the Packed itself.
type Packed []byte

const (
	packedHeader = 2
	packedMany   = 1<<16 - 1
)

// Len returns the number of elements. It is immediate below 65535 elements and
// counts them beyond.
func (p Packed) Len() int {
	if len(p) == 0 {
		return 0
	}
	n := int(binary.LittleEndian.Uint16(p))
	if n < packedMany {
		return n
	}
	n = 0
	for pos := packedHeader; pos < len(p); n++ {
		pos = p.end(pos)
	}
	p.setCount(n)
	return n
}

// Size returns the bytes in use.
func (p Packed) Size() int { return len(p) }

// First returns the position of the first element, -1 when there is none.
func (p Packed) First() int { return p.orEnd(packedHeader) }

// Last returns the position of the last element, -1 when there is none.
func (p Packed) Last() int { return p.before(len(p)) }

// Next returns the position behind pos, -1 when pos is the last.
func (p Packed) Next(pos int) int {
	return p.orEnd(p.end(pos))
}

// Prev returns the position before pos, -1 when pos is the first.
func (p Packed) Prev(pos int) int { return p.before(pos) }

// At returns the element at pos.
func (p Packed) At(pos int) []byte {
	elem, _ := p.Elem(pos)
	return elem
}

// Elem returns the element at pos and the position behind it, -1 at the end.
func (p Packed) Elem(pos int) (elem []byte, next int) {
	n, head := p.length(pos)
	from := pos + head
	return p[from : from+n : from+n], p.orEnd(from + n + backSize(head+n))
}

// Seek returns the position of element i, from the nearer end; a negative i
// counts from the last (-1). It is -1 out of range.
func (p Packed) Seek(i int) int {
	n := p.Len()
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return -1
	}
	if i <= n/2 {
		pos := p.First()
		for ; i > 0; i-- {
			pos = p.Next(pos)
		}
		return pos
	}
	pos := p.Last()
	for ; i < n-1; i++ {
		pos = p.Prev(pos)
	}
	return pos
}

// Find returns the position of elem, looking at the element at pos and then
// always past skip more; -1 when it is not met. pos may be -1.
func (p Packed) Find(pos int, elem []byte, skip int) int {
	if pos < 0 {
		return -1
	}
	for left := 0; pos < len(p); left-- {
		n, from := int(p[pos]), pos+1
		next := from + n + 1
		if n >= 127 { // a long head, or a long way back
			n, from = p.length(pos)
			from += pos
			next = p.end(pos)
		}
		if left == 0 {
			if n == len(elem) && bytes.Equal(p[from:from+n], elem) {
				return pos
			}
			left = skip + 1
		}
		pos = next
	}
	return -1
}

// Append adds elems behind the last element.
func (p *Packed) Append(elems ...[]byte) { p.Insert(-1, elems...) }

// Prepend adds elem before the first element.
func (p *Packed) Prepend(elem []byte) { p.Insert(p.First(), elem) }

// Insert adds elems, in their order, before the element at pos (-1: behind the
// last) and returns the position of the first of them.
func (p *Packed) Insert(pos int, elems ...[]byte) int {
	size := 0
	for _, elem := range elems {
		size += packedSize(elem)
	}
	if len(*p) == 0 {
		*p = make(Packed, packedHeader, packedHeader+size)
	}
	if pos < 0 {
		pos = len(*p)
	}
	p.open(pos, pos, size)
	at := pos
	for _, elem := range elems {
		at = p.put(at, elem)
	}
	p.count(len(elems))
	return pos
}

// Replace puts elem in place of the element at pos, which stays its position.
func (p *Packed) Replace(pos int, elem []byte) {
	n, head := p.length(pos)
	if n == len(elem) {
		copy((*p)[pos+head:], elem)
		return
	}
	p.open(pos, p.end(pos), packedSize(elem))
	p.put(pos, elem)
}

// Delete takes out the element at pos and those behind it, n in all or as many
// as there are, and returns the position of what then follows, -1 at the end.
func (p *Packed) Delete(pos, n int) int {
	end, gone := pos, 0
	for ; gone < n && end < len(*p); gone++ {
		end = p.end(end)
	}
	*p = slices.Delete(*p, pos, end)
	p.count(-gone)
	if cap(*p) > 64 && len(*p) < cap(*p)/2 {
		*p = bytes.Clone(*p)
	}
	return p.orEnd(pos)
}

// Clone returns an independent copy.
func (p Packed) Clone() Packed { return bytes.Clone(p) }

// orEnd turns the offset behind the last element into -1.
func (p Packed) orEnd(offset int) int {
	if offset >= len(p) {
		return -1
	}
	return offset
}

// before returns the position of the element that ends at offset end.
func (p Packed) before(end int) int {
	if end <= packedHeader {
		return -1
	}
	back, i := 0, end-1
	for shift := 0; ; shift += 7 {
		c := p[i]
		back |= int(c&0x7f) << shift
		if c < 0x80 {
			return i - back
		}
		i--
	}
}

// length reads the head of the element at pos: the element's bytes, the
// head's.
func (p Packed) length(pos int) (n, head int) {
	if c := p[pos]; c < 0x80 {
		return int(c), 1
	}
	v, head := binary.Uvarint(p[pos:])
	return int(v), head
}

// end returns where the element at pos ends.
func (p Packed) end(pos int) int {
	n, head := p.length(pos)
	return pos + head + n + backSize(head+n)
}

// open makes the bytes [from, to) size bytes wide. It grows by an eighth over
// the need, and not beyond it at first: most values never grow again.
func (p *Packed) open(from, to, size int) {
	old := *p
	need := len(old) + size - (to - from)
	if need <= cap(old) {
		*p = old[:need]
		copy((*p)[from+size:], old[to:])
		return
	}
	grown := slices.Grow(Packed(nil), need+need/8)[:need]
	copy(grown, old[:from])
	copy(grown[from+size:], old[to:])
	*p = grown
}

// put writes elem at offset at, where there is room, and returns its end.
func (p Packed) put(at int, elem []byte) int {
	start := at
	at += binary.PutUvarint(p[at:], uint64(len(elem)))
	at += copy(p[at:], elem)
	back := at - start
	size := backSize(back)
	for i := at + size - 1; i >= at; i-- {
		p[i] = byte(back) | 0x80
		back >>= 7
	}
	p[at] &= 0x7f
	return at + size
}

// count adds n to the number of elements in the header. A number too large to
// say stays so until Len counts again.
func (p Packed) count(n int) {
	if had := int(binary.LittleEndian.Uint16(p)); had < packedMany {
		p.setCount(had + n)
	}
}

func (p Packed) setCount(n int) { binary.LittleEndian.PutUint16(p, uint16(min(n, packedMany))) }

// backSize returns how many bytes the backward length n takes.
func backSize(n int) int {
	size := 1
	for n >>= 7; n > 0; n >>= 7 {
		size++
	}
	return size
}

// packedSize returns how many bytes elem takes.
func packedSize(elem []byte) int {
	n := backSize(len(elem)) + len(elem)
	return n + backSize(n)
}
