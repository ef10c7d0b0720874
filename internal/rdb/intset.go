package rdb

import (
	"encoding/binary"

	"github.com/lockredis/lockredis/store"
)

// An intset is the width of its integers and their number in 4 bytes each, then the
// integers in ascending order, the lowest byte first.
const intsetHead = 8

// appendIntset returns the intset of ints. The width is the smallest that fits.
func appendIntset(ints store.Intset) []byte {
	width := 2
	if first, last := ints[0], ints[len(ints)-1]; first < -1<<31 || last >= 1<<31 {
		width = 8
	} else if first < -1<<15 || last >= 1<<15 {
		width = 4
	}
	b := make([]byte, 0, intsetHead+width*len(ints))
	b = binary.LittleEndian.AppendUint32(b, uint32(width))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(ints)))
	for _, n := range ints {
		for i := range width {
			b = append(b, byte(n>>(8*i)))
		}
	}
	return b
}

// readIntset returns the integers of an intset.
func readIntset(b []byte) (store.Intset, error) {
	if len(b) < intsetHead {
		return nil, corrupt("intset of %d bytes", len(b))
	}
	width := int(binary.LittleEndian.Uint32(b))
	n := uint64(binary.LittleEndian.Uint32(b[4:]))
	body := b[intsetHead:]
	if width != 2 && width != 4 && width != 8 || n == 0 || n*uint64(width) != uint64(len(body)) {
		return nil, corrupt("intset of %d integers of %d bytes", n, width)
	}
	ints := make(store.Intset, n)
	for i := range ints {
		ints[i] = integer(body[i*width : (i+1)*width])
		if i > 0 && ints[i-1] >= ints[i] {
			return nil, corrupt("intset with %d after %d", ints[i], ints[i-1])
		}
	}
	return ints, nil
}
