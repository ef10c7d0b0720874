package store

import (
	"hash/maphash"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// hashIndex finds items by the hashes of their keys, and visits them in the order
// of the hashes.
//
// The index consists of parts. Each part is a small open-addressed table with the
// hashes beside the items, so that probing and splitting read no item except
// the one searched for. A part that is seven eighths full is split in two by the
// next leading bit of the hashes. Two parts that are nearly empty are merged. So
// an addition or a removal moves a few hundred slots at most. A removal closes its
// gap: locks that are acquired and released leave no tombstones.
//
// The leading bits of the hash select the part. So growing and shrinking do not
// change the order of a scan: see scan. A cursor is the next item's hash. So an element that
// exists at each call of a scan is returned, even if a script, RENAME or MULTI replaced it
// or its whole collection in between.
type hashIndex[T comparable] struct {
	parts []*part[T] // by leading bits of the hash; a part may fill several elements
	dense []*part[T] // each part once, in any order, for random picks and walks
	shift uint8      // 32 - the number of bits that select an element of parts
}

// part holds the items that share the leading bits of their hash.
type part[T comparable] struct {
	hashes [partSlots]uint32 // 0: the slot is free
	items  [partSlots]T
	pos    uint32 // position in hashIndex.dense
	used   uint16 // slots in use
	depth  uint8  // the number of leading bits that all hashes share
}

const (
	partSlots = 256
	partMost  = partSlots / 8 * 7 // slots in use of a part: more are split
)

// seed is random, so that a client cannot choose keys that collide. It is drawn
// once for the process and never changes, as in Redis: a scan continues correctly
// after its key or database was rebuilt, renamed or swapped.
var seed = maphash.MakeSeed()

// keyHash returns the hash of key. It is never 0.
func keyHash(key []byte) uint32 { return max(1, uint32(maphash.Bytes(seed, key))) }

func newHashIndex[T comparable]() hashIndex[T] {
	first := []*part[T]{{}}
	return hashIndex[T]{parts: first, dense: slices.Clone(first), shift: 32}
}

// part returns the part for items with this hash.
func (x *hashIndex[T]) part(hash uint32) *part[T] { return x.parts[hash>>x.shift] }

// add adds an item that the index does not have yet.
func (x *hashIndex[T]) add(hash uint32, item T) {
	for x.part(hash).used >= partMost {
		x.split(hash)
	}
	x.part(hash).occupy(hash, item)
}

// remove removes an item of the index.
func (x *hashIndex[T]) remove(hash uint32, item T) {
	p := x.part(hash)
	p.vacate(p.slotOf(hash, item))
	for x.merge(hash) {
	}
}

// replace replaces the item old of the index by item. Both have this hash.
func (x *hashIndex[T]) replace(hash uint32, old, item T) {
	p := x.part(hash)
	p.items[p.slotOf(hash, old)] = item
}

// scan visits about count items in the order of their hashes, from the hash cursor
// on. It returns the hash of the next item, which is the next cursor, or 0 if there
// is none. A cursor larger than any hash begins a new scan.
//
// The position of an item in this order depends on its key alone. So an item that
// the index has at each call is visited exactly once, by the call that passes its
// hash, even if it is removed and added again between calls (Redis's guarantee).
// Items with the same hash are visited by the same call.
func (x *hashIndex[T]) scan(cursor uint64, count int, do func(T)) (next uint64) {
	for from := cursorHash(cursor); ; {
		p := x.part(from)
		to := p.eighthEnd(from)
		next, count = scanHashes(p.hashes[:], from, to, count, func(i int) { do(p.items[i]) })
		if next != 0 || to == math.MaxUint32 {
			return next
		}
		from = to + 1
	}
}

// all returns all items, in any order. The index must not change meanwhile.
func (x *hashIndex[T]) all() iter.Seq[T] { return x.from(0) }

// from returns all items, in any order, beginning with dense[i]. The index must not
// change meanwhile.
func (x *hashIndex[T]) from(i int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for n := range x.dense {
			p := x.dense[(i+n)%len(x.dense)]
			for slot, hash := range p.hashes[:] {
				if hash != 0 && !yield(p.items[slot]) {
					return
				}
			}
		}
	}
}

// random returns an item that each item has the same chance to be. The index must not
// be empty. It tries a random slot of a random part until the slot is in use: two tries are
// usual. The time is constant on average: if there are several parts, they use an
// eighth of their slots at least, on average (see merge).
func (x *hashIndex[T]) random(rnd *rand.Rand) T {
	if len(x.dense) == 1 {
		return x.dense[0].nth(rnd.IntN(int(x.dense[0].used)))
	}
	for {
		p := x.dense[rnd.IntN(len(x.dense))]
		if slot := rnd.IntN(partSlots); p.hashes[slot] != 0 {
			return p.items[slot]
		}
	}
}

// cursorHash returns the hash at which a scan with this cursor continues.
func cursorHash(cursor uint64) uint32 {
	if cursor > math.MaxUint32 {
		return 0
	}
	return uint32(cursor)
}

// eighthEnd returns the last hash in the same eighth of the part as from. A scan of
// few items need not sort more hashes than an eighth has.
func (p *part[T]) eighthEnd(from uint32) (to uint32) {
	return from | (1<<(29-min(p.depth, 29)) - 1)
}

// scanHashes calls do with the positions of about count hashes between from and to,
// in the order of the hashes. It skips zeros: their slots are free. It returns the
// next hash in the range, 0 if there is none, and how many of count are left.
func scanHashes(
	hashes []uint32, from, to uint32, count int, do func(i int),
) (next uint64, left int) {
	var room [dictFew]uint64
	order := room[:0] // hash<<32 | position
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

// split replaces the part for this hash by two.
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
	same := x.partsOf(hash, p.depth)
	for i := range same {
		same[i] = halves[2*i/len(same)]
	}
	halves[0].pos, halves[1].pos = p.pos, uint32(len(x.dense))
	x.dense[p.pos] = halves[0]
	x.dense = append(x.dense, halves[1])
}

// merge merges the part for this hash with its sibling, the other half of a split,
// if both together fill a quarter of a part at most. It reports whether it did.
func (x *hashIndex[T]) merge(hash uint32) bool {
	p := x.part(hash)
	if p.depth == 0 {
		return false
	}
	sibling := x.part(hash ^ 1<<(32-p.depth))
	if sibling.depth != p.depth || p.used+sibling.used > partSlots/4 {
		return false
	}
	for i, h := range sibling.hashes {
		if h != 0 {
			p.occupy(h, sibling.items[i])
		}
	}
	p.depth--
	same := x.partsOf(hash, p.depth)
	for i := range same {
		same[i] = p
	}
	last := len(x.dense) - 1
	moved := x.dense[last]
	x.dense[sibling.pos], moved.pos = moved, sibling.pos
	x.dense[last] = nil
	x.dense = shrink(x.dense[:last])
	return true
}

// partsOf returns the elements of parts for hashes with the same first depth bits
// as hash.
func (x *hashIndex[T]) partsOf(hash uint32, depth uint8) []*part[T] {
	n := uint32(1) << (32 - x.shift - depth)
	from := hash >> x.shift &^ (n - 1)
	return x.parts[from : from+n]
}

// nth returns item n of used, in the order of the slots.
func (p *part[T]) nth(n int) T {
	for slot, hash := range p.hashes[:] {
		if hash == 0 {
			continue
		}
		if n == 0 {
			return p.items[slot]
		}
		n--
	}
	panic("store: a part has fewer items than it counts")
}

// slotOf returns the slot of an item of the part. It panics if the part does not
// have the item.
func (p *part[T]) slotOf(hash uint32, item T) uint32 {
	i := hash % partSlots
	for p.items[i] != item || p.hashes[i] != hash {
		if p.hashes[i] == 0 {
			panic("store: an item to remove or replace is not in the index")
		}
		i = (i + 1) % partSlots
	}
	return i
}

// occupy stores item in the first free slot from the home slot of its hash on.
func (p *part[T]) occupy(hash uint32, item T) {
	i := hash % partSlots
	for p.hashes[i] != 0 {
		i = (i + 1) % partSlots
	}
	p.hashes[i], p.items[i] = hash, item
	p.used++
}

// vacate frees slot i. It moves a later item into the gap if probing from the home
// slot of that item would end at the gap.
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
