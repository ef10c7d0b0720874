package store

import (
	"bytes"
	"math"
)

// ScoreRange is an interval of scores.
type ScoreRange struct {
	Min, Max                   float64
	MinExclusive, MaxExclusive bool
}

func (r *ScoreRange) aboveMin(score float64) bool {
	if r.MinExclusive {
		return score > r.Min
	}
	return score >= r.Min
}

func (r *ScoreRange) aboveMax(score float64) bool {
	if r.MaxExclusive {
		return score >= r.Max
	}
	return score > r.Max
}

// ByScore returns the ranks [from, to) of the members with a score in r. If there are
// none, from equals to.
func (z *ZSet) ByScore(r *ScoreRange) (from, to int) {
	if r.Min > r.Max || r.Min == r.Max && (r.MinExclusive || r.MaxExclusive) {
		return 0, 0
	}
	from = z.first(func(item ZItem) bool { return r.aboveMin(item.Score) })
	if r.Max == math.Inf(1) && !r.MaxExclusive {
		return from, z.Len()
	}
	return from, z.first(func(item ZItem) bool { return r.aboveMax(item.Score) })
}

// first returns the rank of the first item with in(item), Len if there is none. in
// must be false up to some item and true from that item on.
func (z *ZSet) first(in func(ZItem) bool) int {
	if z.table != nil {
		return z.table.order.first(in)
	}
	rank := 0
	for pos := z.packed.First(); pos >= 0; rank++ {
		item, next := z.packedItem(pos)
		if in(item) {
			break
		}
		pos = next
	}
	return rank
}

// LexBound is an end of a LexRange: a member, or a point before or after all members.
type LexBound struct {
	Member    []byte
	Infinite  int // -1: "-", +1: "+", 0: Member
	Exclusive bool
}

// LexRange is an interval of members, for sets of members with equal scores.
type LexRange struct{ Min, Max LexBound }

// Empty reports whether the range cannot contain a member.
func (r *LexRange) Empty() bool {
	if r.Min.Infinite != 0 || r.Max.Infinite != 0 {
		return r.Min.Infinite > 0 || r.Max.Infinite < 0
	}
	order := bytes.Compare(r.Min.Member, r.Max.Member)
	return order > 0 || order == 0 && (r.Min.Exclusive || r.Max.Exclusive)
}

func (r *LexRange) aboveMin(member string) bool {
	if r.Min.Infinite != 0 {
		return r.Min.Infinite < 0
	}
	order := bytes.Compare(bytesOf(member), r.Min.Member)
	return order > 0 || order == 0 && !r.Min.Exclusive
}

func (r *LexRange) belowMax(member string) bool {
	if r.Max.Infinite != 0 {
		return r.Max.Infinite > 0
	}
	order := bytes.Compare(bytesOf(member), r.Max.Member)
	return order < 0 || order == 0 && !r.Max.Exclusive
}

// ByLex returns the ranks [from, to) of the members in r. It leaves out the first
// skip of them, or the last skip if back is set. If the scores are not all equal,
// Redis's result depends on the way it walks a listpack: it skips members without
// comparing them with the other bound. A packed set does the same.
func (z *ZSet) ByLex(r *LexRange, back bool, skip int) (from, to int) {
	switch {
	case z.Len() == 0 || r.Empty() ||
		!r.belowMax(z.item(0).Member) || !r.aboveMin(z.item(z.Len()-1).Member):
		return 0, 0
	case z.table == nil && back:
		return z.packedLexBack(r, skip)
	case z.table == nil:
		return z.packedLex(r, skip)
	}
	from = z.first(func(item ZItem) bool { return r.aboveMin(item.Member) })
	to = z.first(func(item ZItem) bool { return !r.belowMax(item.Member) })
	switch {
	case to-from <= skip:
		return 0, 0
	case back:
		return from, to - skip
	}
	return from + skip, to
}

// packedLex is ByLex for a packed set, from the first member on.
func (z *ZSet) packedLex(r *LexRange, skip int) (from, to int) {
	from = z.first(func(item ZItem) bool { return r.aboveMin(item.Member) })
	if from == z.Len() || !r.belowMax(z.item(from).Member) {
		return 0, 0
	}
	from += min(skip, z.Len()-from)
	to = from
	z.Walk(from, z.Len(), false, func(item ZItem) bool {
		if !r.belowMax(item.Member) {
			return false
		}
		to++
		return true
	})
	return from, to
}

// item returns the item with a rank, which must exist.
func (z *ZSet) item(rank int) (found ZItem) {
	z.Walk(rank, rank+1, false, func(item ZItem) bool {
		found = item
		return false
	})
	return found
}

// packedLexBack is ByLex for a packed set, from the last member on.
func (z *ZSet) packedLexBack(r *LexRange, skip int) (from, to int) {
	to = z.Len()
	z.Walk(0, to, true, func(item ZItem) bool {
		if r.belowMax(item.Member) {
			return false
		}
		to--
		return true
	})
	if to == 0 || !r.aboveMin(z.item(to-1).Member) {
		return 0, 0
	}
	to -= min(skip, to)
	from = to
	z.Walk(0, to, true, func(item ZItem) bool {
		if !r.aboveMin(item.Member) {
			return false
		}
		from--
		return true
	})
	return from, to
}
