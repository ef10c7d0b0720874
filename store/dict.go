package store

import "math"

// dict maps keys to values, for large hashes, sets and sorted sets. A dense slice
// of elements gives random picks. An index of positions in the slice gives look-ups
// and an order for scans. A dict of few elements has no index: find compares all
// hashes. The zero dict is empty and ready.
//
// A map[string]int32 beside the slice would have no order to scan in, and would
// take 12 to 32 bytes more per element.
type dict[V any] struct {
	elems  []elem[V]
	hashes []uint32           // of the keys of elems
	index  *hashIndex[uint32] // positions in elems; nil if there are few elements
}

type elem[V any] struct {
	value V // first: as the last field, a value of size 0 would take 8 bytes
	key   string
}

// dictFew is the largest number of elements without an index. The index is dropped
// again below half of it.
const dictFew = 64

// newDict returns an empty dict with room for size elements.
func newDict[V any](size int) dict[V] {
	return dict[V]{elems: make([]elem[V], 0, size), hashes: make([]uint32, 0, size)}
}

// find returns the position of the element with this key, -1 if there is none.
func (d *dict[V]) find(key []byte) int {
	hash := keyHash(key)
	if d.index == nil {
		for i, h := range d.hashes {
			if h == hash && d.elems[i].key == string(key) {
				return i
			}
		}
		return -1
	}
	p := d.index.part(hash)
	for i := hash % partSlots; ; i = (i + 1) % partSlots {
		switch p.hashes[i] {
		case hash:
			if at := int(p.items[i]); d.elems[at].key == string(key) {
				return at
			}
		case 0:
			return -1
		}
	}
}

// add appends an element. The key must be new; the dict keeps it.
func (d *dict[V]) add(key string, value V) {
	hash := keyHash(bytesOf(key))
	d.elems = append(d.elems, elem[V]{value, key})
	d.hashes = append(d.hashes, hash)
	switch n := len(d.elems); {
	case d.index != nil:
		d.index.add(hash, uint32(n-1))
	case n > dictFew:
		x := newHashIndex[uint32]()
		for i, h := range d.hashes {
			x.add(h, uint32(i))
		}
		d.index = &x
	}
}

// removeAt removes the element at position i. The last element moves there.
func (d *dict[V]) removeAt(i int) {
	last := len(d.elems) - 1
	if d.index != nil {
		d.index.remove(d.hashes[i], uint32(i))
		if i != last {
			d.index.replace(d.hashes[last], uint32(last), uint32(i))
		}
	}
	d.elems[i], d.hashes[i] = d.elems[last], d.hashes[last]
	d.elems[last] = elem[V]{}
	d.elems, d.hashes = shrink(d.elems[:last]), shrink(d.hashes[:last])
	if last < dictFew/2 {
		d.index = nil
	}
}

// scan calls do with the positions of about count elements from cursor on (0: a new
// scan). It returns the next cursor, 0 if the scan is complete (see
// hashIndex.scan).
func (d *dict[V]) scan(cursor uint64, count int, do func(i int)) (next uint64) {
	if d.index == nil {
		next, _ = scanHashes(d.hashes, cursorHash(cursor), math.MaxUint32, count, do)
		return next
	}
	return d.index.scan(cursor, count, func(i uint32) { do(int(i)) })
}
