package rdb

import "encoding/binary"

// A zipmap is the form of small hashes before Redis 2.6: the number of fields in a byte (254:
// unknown), the fields with their values, and a byte 0xff. A field is its size and its bytes.
// A value is its size, the number of unused bytes behind it in a byte, its bytes and the unused
// ones. A size is a byte, or 254 and 4 bytes.
const (
	zipmapMany = 254
	zipmapLong = 254
	zipmapEnd  = 0xff
)

// readZipmap returns field, value, field, value. They alias b.
func readZipmap(b []byte) (pairs [][]byte, err error) {
	if len(b) < 2 || b[len(b)-1] != zipmapEnd {
		return nil, corrupt("zipmap of %d bytes", len(b))
	}
	body := b[:len(b)-1]
	for at := 1; at < len(body); {
		for unused := range 2 { // the field has no such byte, the value has one
			elem, next, ok := zipmapElement(body, at, unused)
			if !ok {
				return nil, corrupt("zipmap element %d", len(pairs))
			}
			pairs, at = append(pairs, elem), next
		}
	}
	n := len(pairs) / 2
	if n == 0 || b[0] != zipmapMany && int(b[0]) != n {
		return nil, corrupt("zipmap of %d fields instead of %d", n, b[0])
	}
	return pairs, nil
}

// zipmapElement returns the element at at, and where the next one begins. Behind the size are
// unused bytes in front of the element: 0, or 1 with the number of elements behind it.
func zipmapElement(b []byte, at, unused int) (elem []byte, next int, ok bool) {
	if at >= len(b) {
		return nil, 0, false
	}
	size := uint64(b[at])
	at++
	if size == zipmapLong {
		if len(b)-at < 4 {
			return nil, 0, false
		}
		size = uint64(binary.LittleEndian.Uint32(b[at:]))
		at += 4
	} else if size == zipmapEnd {
		return nil, 0, false
	}
	free := 0
	if unused == 1 {
		if at >= len(b) {
			return nil, 0, false
		}
		free = int(b[at])
		at++
	}
	if size > uint64(len(b)-at) || int(size)+free > len(b)-at {
		return nil, 0, false
	}
	return b[at : at+int(size) : at+int(size)], at + int(size) + free, true
}
