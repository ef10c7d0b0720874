package store

import (
	"hash/maphash"
	"math"
	"slices"
)

// hashIndex finds items by the hashes of their keys, and walks them in the
// order of the hashes.
//
// The index is in parts, each a small table of its own: open-addressed, with
// the hashes beside the items, so that probing and splitting touch no item but
// the one sought. A part that is three quarters full splits in two by the next
// leading bit of the hashes, and two that are nearly empty become one again, so
// that no single addition or removal has more than a few hundred slots to
// move. A removal closes its gap: no tombstones pile up under locks that come
// and go.
//
// Parts go by the leading bits so that a scan has an order that no growing and
// shrinking upsets: see scan.
type hashIndex[T comparable] struct {
	parts []*part[T] // by leading bits of the hash; often several to one part
	shift uint8      // 32 less the bits that parts goes by
}

// part holds the items that share the leading bits of their hash.
type part[T comparable] struct {
	hashes [partSlots]uint32 // 0: a free slot
	items  [partSlots]T
	used   uint32
	depth  uint8 // how many bits they share
}

const partSlots = 256

// seed keeps anybody from choosing keys that collide. It is one for the process
// and never changes, as Redis's: a scan goes on where it was when its key or
// database was built anew, renamed or swapped.
var seed = maphash.MakeSeed()

// keyHash returns the key's hash, which is not 0.
func keyHash(key []byte) uint32 { return max(1, uint32(maphash.Bytes(seed, key))) }

func newHashIndex[T comparable]() hashIndex[T] {
	return hashIndex[T]{parts: []*part[T]{{}}, shift: 32}
}

// part returns the part that has the items with this hash.
func (x *hashIndex[T]) part(hash uint32) *part[T] { return x.parts[hash>>x.shift] }

// add puts in an item that is not there yet.
func (x *hashIndex[T]) add(hash uint32, item T) {
	for x.part(hash).used >= partSlots/4*3 {
		x.split(hash)
	}
	x.part(hash).occupy(hash, item)
}

// remove takes out an item that is there.
func (x *hashIndex[T]) remove(hash uint32, item T) {
	p := x.part(hash)
	p.vacate(p.slotOf(hash, item))
	for x.merge(hash) {
	}
}

// replace puts an item in place of another of the same hash, which is there.
func (x *hashIndex[T]) replace(hash uint32, old, item T) {
	p := x.part(hash)
	p.items[p.slotOf(hash, old)] = item
}

// scan visits about count items in the order of their hashes from cursor on and
// returns the hash of the next item, which is the next cursor, or 0 when there
// is none. A cursor beyond all hashes begins a new scan.
//
// An item's place in this order depends on its key alone. So what is there at
// each call is visited by the one that passes its hash, though it be removed
// and added again in between (Redis's guarantee), and only once. Items of one
// hash are visited together.
func (x *hashIndex[T]) scan(cursor uint64, count int, do func(T)) (next uint64) {
	for from := cursorHash(cursor); ; {
		p := x.part(from)
		to := p.stretch(from)
		next, count = scanHashes(p.hashes[:], from, to, count, func(i int) { do(p.items[i]) })
		if next != 0 || to == math.MaxUint32 {
			return next
		}
		from = to + 1
	}
}

// cursorHash returns the hash that a scan goes on from.
func cursorHash(cursor uint64) uint32 {
	if cursor > math.MaxUint32 {
		return 0
	}
	return uint32(cursor)
}

// stretch returns the last hash of the eighth of a part that from is in: a scan
// of a few items need not sort more.
func (p *part[T]) stretch(from uint32) (to uint32) {
	return from | (1<<(29-min(p.depth, 29)) - 1)
}

// scanHashes visits the places of about count of the hashes from one to
// another, in their order. It returns the next of them, 0 when there is none,
// and how many are left to visit. Zeroes are free places.
func scanHashes(hashes []uint32, from, to uint32, count int, do func(i int)) (next uint64, left int) {
	var room [dictFew]uint64
	order := room[:0] // the hash, then the place
	for i, hash := range hashes {
		if hash-from <= to-from && hash != 0 {
			order = append(order, uint64(hash)<<32|uint64(i))
		}
	}
	slices.Sort(order)
	for i, o := range order {
		hash := uint32(o >> 32)
		if count <= 0 && (i == 0 || hash != uint32(order[i-1]>>32)) {
			return uint64(hash), 0
		}
		do(int(uint32(o)))
		count--
	}
	return 0, count
}

// split replaces the part of this hash by two.
func (x *hashIndex[T]) split(hash uint32) {
	p := x.part(hash)
	if p.depth == 32-x.shift {
		wider := make([]*part[T], 0, 2*len(x.parts))
		for _, p := range x.parts {
			wider = append(wider, p, p)
		}
		x.parts = wider
		x.shift--
	}
	halves := [2]*part[T]{{depth: p.depth + 1}, {depth: p.depth + 1}}
	for i, h := range p.hashes {
		if h != 0 {
			halves[h>>(31-p.depth)&1].occupy(h, p.items[i])
		}
	}
	places := x.placesOf(hash, p.depth)
	for i := range places {
		places[i] = halves[2*i/len(places)]
	}
}

// merge makes one part of that of this hash and its other half, if they fill a
// quarter of one at most, and reports whether it did.
func (x *hashIndex[T]) merge(hash uint32) bool {
	p := x.part(hash)
	if p.depth == 0 {
		return false
	}
	other := x.part(hash ^ 1<<(32-p.depth))
	if other.depth != p.depth || p.used+other.used > partSlots/4 {
		return false
	}
	for i, h := range other.hashes {
		if h != 0 {
			p.occupy(h, other.items[i])
		}
	}
	p.depth--
	places := x.placesOf(hash, p.depth)
	for i := range places {
		places[i] = p
	}
	return true
}

// placesOf returns the places in parts that go by the first depth bits of hash.
func (x *hashIndex[T]) placesOf(hash uint32, depth uint8) []*part[T] {
	n := uint32(1) << (32 - x.shift - depth)
	from := hash >> x.shift &^ (n - 1)
	return x.parts[from : from+n]
}

// slotOf returns the slot of an item that is there.
func (p *part[T]) slotOf(hash uint32, item T) uint32 {
	i := hash % partSlots
	for p.items[i] != item || p.hashes[i] != hash {
		if p.hashes[i] == 0 {
			panic("store: an entry was removed twice")
		}
		i = (i + 1) % partSlots
	}
	return i
}

// occupy puts item into the first free slot from its hash on.
func (p *part[T]) occupy(hash uint32, item T) {
	i := hash % partSlots
	for p.hashes[i] != 0 {
		i = (i + 1) % partSlots
	}
	p.hashes[i], p.items[i] = hash, item
	p.used++
}

// vacate frees slot i and moves back what probing would miss behind the gap.
func (p *part[T]) vacate(i uint32) {
	for j := (i + 1) % partSlots; p.hashes[j] != 0; j = (j + 1) % partSlots {
		if home := p.hashes[j]; (j-home)%partSlots >= (j-i)%partSlots {
			p.hashes[i], p.items[i] = p.hashes[j], p.items[j]
			i = j
		}
	}
	var none T
	p.hashes[i], p.items[i] = 0, none
	p.used--
}
