package rdb

import (
	"encoding/binary"
)

// A ziplist is the form before Redis 7: its size and the offset of its last element in 4
// bytes each, the number of elements in 2 (65535: unknown), the elements, and a byte
// 0xff. An element is the size of the one before, and an integer or a string.
const (
	ziplistHead = 10
	ziplistEnd  = 0xff
	ziplistLong = 0xfe // the size of the element before takes 4 more bytes
	ziplistMany = 1<<16 - 1
)

// readZiplist returns the elements of a ziplist. They alias b, except integers.
func readZiplist(b []byte) (elems [][]byte, err error) {
	if len(b) < ziplistHead+1 || uint64(binary.LittleEndian.Uint32(b)) != uint64(len(b)) ||
		b[len(b)-1] != ziplistEnd {
		return nil, corrupt("ziplist of %d bytes", len(b))
	}
	count := int(binary.LittleEndian.Uint16(b[8:]))
	elems = make([][]byte, 0, min(count, len(b)/2))
	before, last, at := 0, ziplistHead, ziplistHead
	for at < len(b)-1 {
		body := b[at : len(b)-1]
		size, ok := ziplistBefore(body)
		if !ok || size != before {
			return nil, corrupt("size before ziplist element %d", len(elems))
		}
		head := 1
		if body[0] == ziplistLong {
			head = 5
		}
		elem, taken, ok := ziplistElement(body[head:])
		if !ok {
			return nil, corrupt("ziplist element %d", len(elems))
		}
		elems = append(elems, elem)
		last, before = at, head+taken
		at += before
	}
	tail := uint64(binary.LittleEndian.Uint32(b[4:]))
	if len(elems) > 0 && tail != uint64(last) || tail > uint64(len(b)-1) {
		return nil, corrupt("offset of the last ziplist element")
	}
	if count != ziplistMany && count != len(elems) {
		return nil, corrupt("ziplist of %d elements instead of %d", len(elems), count)
	}
	return elems, nil
}

// ziplistBefore returns the size of the element before, at the beginning of b.
func ziplistBefore(b []byte) (size int, ok bool) {
	if b[0] < ziplistLong {
		return int(b[0]), true
	}
	if b[0] != ziplistLong || len(b) < 5 {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(b[1:])), true
}

// ziplistElement returns the integer or string at the beginning of b, and its size.
func ziplistElement(b []byte) (elem []byte, size int, ok bool) {
	if len(b) == 0 {
		return nil, 0, false
	}
	c := b[0]
	switch {
	case c < 0x40:
		return listpackText(b, 1, uint64(c))
	case c < 0x80:
		if len(b) < 2 {
			return nil, 0, false
		}
		return listpackText(b, 2, uint64(c&0x3f)<<8|uint64(b[1]))
	case c < 0xc0: // Redis looks at two bits only
		if len(b) < 5 {
			return nil, 0, false
		}
		return listpackText(b, 5, uint64(binary.BigEndian.Uint32(b[1:])))
	case c >= 0xf1 && c <= 0xfd:
		return decimal(int64(c&0xf) - 1), 1, true
	}
	width := map[byte]int{0xc0: 2, 0xd0: 4, 0xe0: 8, 0xf0: 3, 0xfe: 1}[c]
	if width == 0 || len(b) < 1+width {
		return nil, 0, false
	}
	return decimal(integer(b[1 : 1+width])), 1 + width, true
}
