package store

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Packed is a sequence of byte strings in one allocation. Small hashes and sorted
// sets, and the nodes of lists, are Packed. The nil Packed is empty and ready.
//
// The layout is Redis's listpack without the integer encodings, so that an
// element can be returned without a copy. A header of two bytes counts the elements
// (65535: too many for the header). An element is its length, its bytes, and the size of
// these two in a form that is read backwards. Lengths take seven bits per byte: one
// byte up to 127.
//
// The position of an element is its byte offset. It is -1 after the last element
// and before the first. Positions, and the slices that At and Elem return, are valid
// until the Packed changes. Elements that are passed in are copied; they must not
// alias the Packed.
type Packed []byte

const (
	packedHeader = 2         // bytes before the first element
	packedMany   = 1<<16 - 1 // the count of 65535 elements or more
)

// Len returns the number of elements. The time is constant below 65535 elements and
// linear from there on.
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

// Size returns the number of bytes in use.
func (p Packed) Size() int { return len(p) }

// First returns the position of the first element, -1 if there is none.
func (p Packed) First() int { return p.orEnd(packedHeader) }

// Last returns the position of the last element, -1 if there is none.
func (p Packed) Last() int { return p.before(len(p)) }

// Next returns the position of the element after pos, -1 if pos is the last.
func (p Packed) Next(pos int) int {
	return p.orEnd(p.end(pos))
}

// Prev returns the position of the element before pos, -1 if pos is the first.
func (p Packed) Prev(pos int) int { return p.before(pos) }

// At returns the element at pos.
func (p Packed) At(pos int) []byte {
	elem, _ := p.Elem(pos)
	return elem
}

// Elem returns the element at pos, and the position of the next element, -1 if there
// is none.
func (p Packed) Elem(pos int) (elem []byte, next int) {
	n, head := p.length(pos)
	from := pos + head
	return p[from : from+n : from+n], p.orEnd(from + n + backSize(head+n))
}

// Seek returns the position of element i; -1 is the last element, -2 the one before.
// It returns -1 if i is out of range. The time is linear in the distance from the
// nearer end.
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

// Find returns the position of the first element equal to elem, -1 if there is none.
// It compares the element at pos, skips the next skip elements, compares again, and
// so on. pos may be -1, or packedHeader for the first element, even if there is none.
func (p Packed) Find(pos int, elem []byte, skip int) int {
	if pos < 0 {
		return -1
	}
	for left := 0; pos < len(p); left-- {
		n, from := int(p[pos]), pos+1
		next := from + n + 1
		if n >= 127 { // the length or the trailing size takes more than a byte
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

// Append adds elems after the last element.
func (p *Packed) Append(elems ...[]byte) { p.Insert(-1, elems...) }

// Prepend adds elem before the first element.
func (p *Packed) Prepend(elem []byte) { p.Insert(p.First(), elem) }

// Insert adds elems, in their order, before the element at pos. A pos of -1 adds them
// after the last element. It returns the position of the first new element.
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

// Replace replaces the element at pos by elem, which gets the same position.
func (p *Packed) Replace(pos int, elem []byte) {
	n, head := p.length(pos)
	if n == len(elem) {
		copy((*p)[pos+head:], elem)
		return
	}
	p.open(pos, p.end(pos), packedSize(elem))
	p.put(pos, elem)
}

// Delete removes n elements from pos on, or all of them if there are fewer. It
// returns the position of the next element, -1 if there is none.
func (p *Packed) Delete(pos, n int) int {
	end, deleted := pos, 0
	for ; deleted < n && end < len(*p); deleted++ {
		end = p.end(end)
	}
	*p = slices.Delete(*p, pos, end)
	p.count(-deleted)
	if cap(*p) > 64 && len(*p) < cap(*p)/2 {
		*p = bytes.Clone(*p)
	}
	return p.orEnd(pos)
}

// split returns two new Packeds: one with the first elements, up to pos, and one with the
// others. first and rest are how many each has.
func (p Packed) split(pos, first, rest int) (a, b Packed) {
	a = bytes.Clone(p[:pos])
	b = append(make(Packed, packedHeader, packedHeader+len(p)-pos), p[pos:]...)
	a.setCount(first)
	b.setCount(rest)
	return a, b
}

// join adds the elements of q after the last element. n is how many p has then.
func (p *Packed) join(q Packed, n int) {
	end := len(*p)
	p.open(end, end, len(q)-packedHeader)
	copy((*p)[end:], q[packedHeader:])
	p.setCount(n)
}

// Clone returns an independent copy.
func (p Packed) Clone() Packed { return bytes.Clone(p) }

// orEnd returns offset as a position: -1 if it is the end of the Packed.
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

// length reads the length of the element at pos. n is the length, head the number of
// bytes in front of the element's own bytes, both in bytes.
func (p Packed) length(pos int) (n, head int) {
	if c := p[pos]; c < 0x80 {
		return int(c), 1
	}
	v, head := binary.Uvarint(p[pos:])
	return int(v), head
}

// end returns the offset after the element at pos.
func (p Packed) end(pos int) int {
	n, head := p.length(pos)
	return pos + head + n + backSize(head+n)
}

// open replaces the bytes [from, to) by size bytes of room. A Packed that must grow
// gets an eighth more capacity than it needs. A new Packed gets none (see Insert),
// because most values never grow again.
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

// put writes elem at offset at, in the room that open made. It returns the offset
// after elem.
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

// count adds n to the number of elements in the header. A number too large for the
// header stays packedMany until Len counts the elements.
func (p Packed) count(n int) {
	if had := int(binary.LittleEndian.Uint16(p)); had < packedMany {
		p.setCount(had + n)
	}
}

func (p Packed) setCount(n int) { binary.LittleEndian.PutUint16(p, uint16(min(n, packedMany))) }

// backSize returns how many bytes the length n takes.
func backSize(n int) int {
	size := 1
	for n >>= 7; n > 0; n >>= 7 {
		size++
	}
	return size
}

// packedSize returns how many bytes elem takes in a Packed.
func packedSize(elem []byte) int {
	n := backSize(len(elem)) + len(elem)
	return n + backSize(n)
}
