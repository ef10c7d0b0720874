package store

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unsafe"
)

// ZSet is the value of a sorted set. Small, it is packed: member, score,
// member, score, in order. Beyond the limits, or with a long member, it becomes
// an index with a table beside it ("skiplist") and stays one. The zero ZSet is
// packed, empty and ready.
//
// A packed set keeps scores as Redis's listpack does: minus zero becomes zero.
// Items that are handed out alias the set and are valid until it changes.
type ZSet struct {
	packed Packed
	table  *zsetTable // nil while packed
}

// zsetTable is a large sorted set: the order, and a map to the place of each
// member in a dense slice, which gives ZRANDMEMBER its pick and ZSCAN a cursor
// that survives changes (see DB.Scan).
type zsetTable struct {
	order zindex
	index map[string]int32 // place in items
	items []ZItem
}

// NewZSet returns an empty set that is packed unless a member of the given
// length, or one member at all, exceeds the limits.
func NewZSet(member int, lim *Limits) *ZSet {
	z := &ZSet{}
	if lim.ZSetEntries == 0 || member > lim.ZSetValue {
		z.table = &zsetTable{index: map[string]int32{}}
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

// Packed reports whether the set is packed, and so small.
func (z *ZSet) Packed() bool { return z.table == nil }

// Clone returns an independent copy of the same encoding.
func (z *ZSet) Clone() Value {
	if z.table == nil {
		return &ZSet{packed: z.packed.Clone()}
	}
	t := &zsetTable{index: make(map[string]int32, z.Len()), items: make([]ZItem, 0, z.Len())}
	z.table.order.walk(0, z.Len(), func(item ZItem) bool {
		t.add(item)
		return true
	})
	return &ZSet{table: t}
}

// MemoryUsage estimates the bytes held.
func (z *ZSet) MemoryUsage(samples int) int64 {
	const structSize, perMember = 32, 136
	if z.table == nil {
		return structSize + int64(cap(z.packed))
	}
	n := len(z.table.items)
	return structSize + int64(n)*perMember + sampled(n, samples, func(i int) int {
		return len(z.table.items[i].Member)
	})
}

// Len returns the number of members.
func (z *ZSet) Len() int {
	if z.table != nil {
		return len(z.table.items)
	}
	return z.packed.Len() / 2
}

// Score returns the member's score; ok is false when it is not there.
func (z *ZSet) Score(member []byte) (score float64, ok bool) {
	if z.table != nil {
		i, ok := z.table.index[string(member)]
		if !ok {
			return 0, false
		}
		return z.table.items[i].Score, true
	}
	pos := z.packed.Find(z.packed.First(), member, 1)
	if pos < 0 {
		return 0, false
	}
	return z.packedScore(z.packed.Next(pos)), true
}

// packedScore reads the score at pos.
func (z *ZSet) packedScore(pos int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(z.packed.At(pos)))
}

// Add gives a member that is not there its score, which is not NaN.
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

// Update gives a member that is there another score, which is not NaN.
func (z *ZSet) Update(member []byte, score float64) {
	if z.table != nil {
		z.table.update(z.table.index[string(member)], score)
		return
	}
	pos := z.packed.Find(z.packed.First(), member, 1)
	z.packed.Delete(pos, 2)
	z.packedInsert(member, score)
}

func (z *ZSet) packedInsert(member []byte, score float64) {
	item := ZItem{textOf(member), score}
	pos := z.packed.First()
	for pos >= 0 {
		met, next := z.packedItem(pos)
		if item.before(met) {
			break
		}
		pos = next
	}
	var bits [8]byte
	if score == 0 {
		score = 0 // not minus zero
	}
	binary.LittleEndian.PutUint64(bits[:], math.Float64bits(score))
	z.packed.Insert(pos, member, bits[:])
}

// packedItem returns the item whose member is at pos and the position of the
// next one's.
func (z *ZSet) packedItem(pos int) (item ZItem, next int) {
	member, pos := z.packed.Elem(pos)
	bits, next := z.packed.Elem(pos)
	return ZItem{textOf(member), math.Float64frombits(binary.LittleEndian.Uint64(bits))}, next
}

// Remove takes the member out and reports whether it was there.
func (z *ZSet) Remove(member []byte) bool {
	if z.table != nil {
		i, ok := z.table.index[string(member)]
		if ok {
			z.table.order.remove(z.table.items[i])
			z.table.forget(i)
		}
		return ok
	}
	pos := z.packed.Find(z.packed.First(), member, 1)
	if pos < 0 {
		return false
	}
	z.packed.Delete(pos, 2)
	return true
}

// RemoveRange takes out the members of rank [from, to).
func (z *ZSet) RemoveRange(from, to int) {
	if from >= to {
		return
	}
	if z.table == nil {
		z.packed.Delete(z.packed.Seek(2*from), 2*(to-from))
		return
	}
	z.table.order.walk(from, to, func(item ZItem) bool {
		z.table.forget(z.table.index[item.Member])
		return true
	})
	z.table.order.removeRange(from, to)
}

// Rank returns the member's place in order, 0 being the first; ok is false
// when it is not there.
func (z *ZSet) Rank(member []byte) (rank int, ok bool) {
	if z.table != nil {
		i, ok := z.table.index[string(member)]
		if !ok {
			return 0, false
		}
		return z.table.order.rank(z.table.items[i]), true
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

// Walk calls do for the members of rank [from, to) in order, or the last one
// first when back is set, until it returns false. do must not change the set.
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

// Each calls do for every member in order until it returns false. do must not
// change the set.
func (z *ZSet) Each(do func(ZItem) bool) { z.Walk(0, z.Len(), false, do) }

// At returns member i of Len, for random picks: a packed set's i-th in order,
// any in a table.
func (z *ZSet) At(i int) ZItem {
	if z.table != nil {
		return z.table.items[i]
	}
	item, _ := z.packedItem(z.packed.Seek(2 * i))
	return item
}

// Scan visits about count members from cursor on (0: a new scan) and returns
// the next cursor, 0 when the scan is complete. A packed set is visited whole,
// in order. do must not change the set.
func (z *ZSet) Scan(cursor uint64, count int, do func(ZItem)) uint64 {
	if z.table == nil {
		z.Each(func(item ZItem) bool {
			do(item)
			return true
		})
		return 0
	}
	return scanDown(len(z.table.items), cursor, count, func(i int) { do(z.table.items[i]) })
}

// Fit packs a set that was built as a table if it is within the limits, as
// Redis does with the result of ZUNIONSTORE.
func (z *ZSet) Fit(lim *Limits) {
	if z.table == nil || z.Len() > lim.ZSetEntries {
		return
	}
	fits := !slices.ContainsFunc(z.table.items, func(item ZItem) bool { return len(item.Member) > lim.ZSetValue })
	if !fits {
		return
	}
	small := &ZSet{}
	z.Each(func(item ZItem) bool {
		small.packedInsert(bytesOf(item.Member), item.Score)
		return true
	})
	*z = *small
}

func (z *ZSet) toTable() {
	n := z.Len()
	t := &zsetTable{index: make(map[string]int32, n+1), items: make([]ZItem, 0, n+1)}
	z.Each(func(item ZItem) bool {
		item.Member = strings.Clone(item.Member)
		t.add(item)
		return true
	})
	z.packed, z.table = nil, t
}

// add takes in an item whose member is not there.
func (t *zsetTable) add(item ZItem) {
	t.index[item.Member] = int32(len(t.items))
	t.items = append(t.items, item)
	t.order.insert(item)
}

func (t *zsetTable) update(i int32, score float64) {
	t.order.remove(t.items[i])
	t.items[i].Score = score
	t.order.insert(t.items[i])
}

// forget takes place i out of the map and the dense slice.
func (t *zsetTable) forget(i int32) {
	delete(t.index, t.items[i].Member)
	last := int32(len(t.items) - 1)
	if i != last {
		t.items[i] = t.items[last]
		t.index[t.items[i].Member] = i
	}
	t.items[last] = ZItem{}
	t.items = shrink(t.items[:last])
}

// textOf returns the bytes as a string that aliases them.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// BuildZSet returns a table of items, whose members differ and which it keeps.
func BuildZSet(items []ZItem) *ZSet {
	t := &zsetTable{index: make(map[string]int32, len(items)), items: items}
	slices.SortFunc(items, func(a, b ZItem) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for i, item := range items {
		t.index[item.Member] = int32(i)
		t.order.insert(item)
	}
	return &ZSet{table: t}
}
