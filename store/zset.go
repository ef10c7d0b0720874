package store

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// ZSet is the value of a sorted set. A small set is packed: member, score, member,
// score, in order. Beyond the limits, or with a long member, it becomes a table
// (Redis's "skiplist") and stays one. The zero ZSet is packed, empty and ready.
//
// A packed set keeps scores as Redis's listpack does: minus zero becomes zero, unless it comes
// from a payload. Items that a ZSet returns alias the set and are valid until it changes.
type ZSet struct {
	packed Packed
	table  *zsetTable // nil while packed
}

// zsetTable is a large sorted set: its order, and its scores by member.
type zsetTable struct {
	order  zindex
	scores dict[float64]
}

// item returns the member at position i of scores.
func (t *zsetTable) item(i int) ZItem {
	e := &t.scores.elems[i]
	return ZItem{e.key, e.value}
}

// NewZSet returns an empty set. It is packed, unless one member of the given length,
// in bytes, would exceed the limits.
func NewZSet(member int, lim *Limits) *ZSet {
	z := &ZSet{}
	if lim.ZSetEntries == 0 || member > lim.ZSetValue {
		z.table = &zsetTable{}
	}
	return z
}

// Type returns TypeZSet.
func (z *ZSet) Type() Type { return TypeZSet }

// Encoding returns "listpack" or "skiplist".
func (z *ZSet) Encoding() string {
	if z.table != nil {
		return "skiplist"
	}
	return "listpack"
}

// Packed reports whether the set is packed, which means that it is small.
func (z *ZSet) Packed() bool { return z.table == nil }

// Clone returns an independent copy of the same encoding.
func (z *ZSet) Clone() Value {
	if z.table == nil {
		return &ZSet{packed: z.packed.Clone()}
	}
	t := &zsetTable{scores: newDict[float64](z.Len())}
	z.table.order.walk(0, z.Len(), func(item ZItem) bool {
		t.add(item)
		return true
	})
	return &ZSet{table: t}
}

// MemoryUsage estimates the memory of the value in bytes (see Value).
func (z *ZSet) MemoryUsage(samples int) int64 {
	size := heapsize.Pointers[ZSet](1)
	if z.table == nil {
		return int64(size + heapsize.Text(cap(z.packed)))
	}
	scores := &z.table.scores
	size += heapsize.Pointers[zsetTable](1) + scores.bytes() + z.table.order.bytes()
	return int64(size) + sampled(z.Len(), samples, func(i int) int {
		return heapsize.Text(len(scores.elems[i].key))
	})
}

// Len returns the number of members.
func (z *ZSet) Len() int {
	if z.table != nil {
		return len(z.table.scores.elems)
	}
	return z.packed.Len() / 2
}

// Score returns the member's score. ok is false if there is no such member.
func (z *ZSet) Score(member []byte) (score float64, ok bool) {
	if z.table != nil {
		i := z.table.scores.find(member)
		if i < 0 {
			return 0, false
		}
		return z.table.scores.elems[i].value, true
	}
	pos := z.packed.Find(packedHeader, member, 1)
	if pos < 0 {
		return 0, false
	}
	return z.packedScore(z.packed.Next(pos)), true
}

// packedScore reads the score at pos.
func (z *ZSet) packedScore(pos int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(z.packed.At(pos)))
}

// Add adds a new member with a score, which is not NaN.
func (z *ZSet) Add(member []byte, score float64, lim *Limits) {
	if z.table == nil && (len(member) > lim.ZSetValue || z.Len() >= lim.ZSetEntries) {
		z.toTable()
	}
	if z.table != nil {
		z.table.add(ZItem{string(member), score})
		return
	}
	z.packedInsert(member, score)
}

// Update changes the score of a member of the set. The score is not NaN.
func (z *ZSet) Update(member []byte, score float64) {
	if z.table != nil {
		z.table.update(z.table.scores.find(member), score)
		return
	}
	pos := z.packed.Find(packedHeader, member, 1)
	z.packed.Delete(pos, 2)
	z.packedInsert(member, score)
}

// packedInsert adds a new member to a packed set.
func (z *ZSet) packedInsert(member []byte, score float64) {
	item := ZItem{textOf(member), score}
	pos := z.packed.First()
	for pos >= 0 {
		other, next := z.packedItem(pos)
		if item.before(other) {
			break
		}
		pos = next
	}
	var bits [8]byte
	if score == 0 {
		score = 0 // minus zero becomes zero
	}
	binary.LittleEndian.PutUint64(bits[:], math.Float64bits(score))
	z.packed.Insert(pos, member, bits[:])
}

// packedItem returns the item with its member at pos, and the position of the next
// member.
func (z *ZSet) packedItem(pos int) (item ZItem, next int) {
	member, pos := z.packed.Elem(pos)
	bits, next := z.packed.Elem(pos)
	return ZItem{textOf(member), math.Float64frombits(binary.LittleEndian.Uint64(bits))}, next
}

// Remove removes the member and reports whether the set had it.
func (z *ZSet) Remove(member []byte) bool {
	if z.table != nil {
		i := z.table.scores.find(member)
		if i >= 0 {
			z.table.order.remove(z.table.item(i))
			z.table.scores.removeAt(i)
		}
		return i >= 0
	}
	pos := z.packed.Find(packedHeader, member, 1)
	if pos < 0 {
		return false
	}
	z.packed.Delete(pos, 2)
	return true
}

// RemoveRange removes the members of rank [from, to).
func (z *ZSet) RemoveRange(from, to int) {
	if from >= to {
		return
	}
	if z.table == nil {
		z.packed.Delete(z.packed.Seek(2*from), 2*(to-from))
		return
	}
	z.table.order.walk(from, to, func(item ZItem) bool {
		z.table.scores.removeAt(z.table.scores.find(item.Bytes()))
		return true
	})
	z.table.order.removeRange(from, to)
}

// Rank returns the member's rank; the first member has rank 0. ok is false if there
// is no such member.
func (z *ZSet) Rank(member []byte) (rank int, ok bool) {
	if z.table != nil {
		i := z.table.scores.find(member)
		if i < 0 {
			return 0, false
		}
		return z.table.order.rank(z.table.item(i)), true
	}
	for pos := z.packed.First(); pos >= 0; rank++ {
		elem, next := z.packed.Elem(pos)
		if string(elem) == string(member) {
			return rank, true
		}
		pos = z.packed.Next(next)
	}
	return 0, false
}

// Walk calls do for the members of rank [from, to) until do returns false. The first
// member comes first, or the last if back is set. do must not change the set.
func (z *ZSet) Walk(from, to int, back bool, do func(ZItem) bool) {
	from, to = max(from, 0), min(to, z.Len())
	switch {
	case from >= to:
	case z.table != nil && back:
		z.table.order.walkBack(from, to, do)
	case z.table != nil:
		z.table.order.walk(from, to, do)
	case back:
		for pos, left := z.packed.Seek(2*to-2), to-from; left > 0; left-- {
			item, _ := z.packedItem(pos)
			if !do(item) {
				return
			}
			if pos = z.packed.Prev(pos); pos >= 0 {
				pos = z.packed.Prev(pos)
			}
		}
	default:
		for pos, left := z.packed.Seek(2*from), to-from; left > 0; left-- {
			item, next := z.packedItem(pos)
			if !do(item) {
				return
			}
			pos = next
		}
	}
}

// Each calls do for every member in order until do returns false. do must not change
// the set.
func (z *ZSet) Each(do func(ZItem) bool) { z.Walk(0, z.Len(), false, do) }

// At returns member i of Len, for random picks. A packed set has its own order, a
// table any order.
func (z *ZSet) At(i int) ZItem {
	if z.table != nil {
		return z.table.item(i)
	}
	item, _ := z.packedItem(z.packed.Seek(2 * i))
	return item
}

// Scan visits about count members from cursor on (0: a new scan) and returns the
// next cursor, 0 if the scan is complete. One call visits all of a packed set, in
// order. do must not change the set.
func (z *ZSet) Scan(cursor uint64, count int, do func(ZItem)) uint64 {
	if z.table == nil {
		z.Each(func(item ZItem) bool {
			do(item)
			return true
		})
		return 0
	}
	return z.table.scores.scan(cursor, count, func(i int) { do(z.table.item(i)) })
}

// Fit packs a table that is within the limits, as Redis does with the result of
// ZUNIONSTORE.
func (z *ZSet) Fit(lim *Limits) {
	if z.table == nil || z.Len() > lim.ZSetEntries {
		return
	}
	tooLong := func(e elem[float64]) bool { return len(e.key) > lim.ZSetValue }
	if slices.ContainsFunc(z.table.scores.elems, tooLong) {
		return
	}
	small := &ZSet{}
	z.Each(func(item ZItem) bool {
		small.packedInsert(bytesOf(item.Member), item.Score)
		return true
	})
	*z = *small
}

// BuildFittingZSet returns the set of items, packed if it is within lim. All members must be
// different. It keeps the members and sorts items.
func BuildFittingZSet(items []ZItem, lim *Limits) *ZSet {
	z := BuildZSet(items)
	z.Fit(lim)
	return z
}

// BuildPackedZSet is BuildFittingZSet for items that were packed: there a score can be minus
// zero, which stays.
func BuildPackedZSet(items []ZItem, lim *Limits) *ZSet {
	z := BuildFittingZSet(items, lim)
	if z.table != nil {
		return z
	}
	var p Packed
	for _, item := range items {
		var bits [8]byte
		binary.LittleEndian.PutUint64(bits[:], math.Float64bits(item.Score))
		p.Append(bytesOf(item.Member), bits[:])
	}
	return &ZSet{packed: p}
}

func (z *ZSet) toTable() {
	n := z.Len()
	t := &zsetTable{scores: newDict[float64](n + 1)}
	z.Each(func(item ZItem) bool {
		item.Member = strings.Clone(item.Member)
		t.add(item)
		return true
	})
	z.packed, z.table = nil, t
}

// add adds an item with a new member.
func (t *zsetTable) add(item ZItem) {
	t.scores.add(item.Member, item.Score)
	t.order.insert(item)
}

// update changes the score of the member at position i of scores.
func (t *zsetTable) update(i int, score float64) {
	t.order.remove(t.item(i))
	t.scores.elems[i].value = score
	t.order.insert(t.item(i))
}

// textOf returns the bytes as a string that aliases them.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// BuildZSet returns a table of items. All members must be different. It keeps the
// members and sorts items.
func BuildZSet(items []ZItem) *ZSet {
	t := &zsetTable{scores: newDict[float64](len(items))}
	slices.SortFunc(items, func(a, b ZItem) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for _, item := range items {
		t.add(item)
	}
	return &ZSet{table: t}
}
