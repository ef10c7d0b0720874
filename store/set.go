package store

import (
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/heapsize"
	"github.com/lockredis/lockredis/resp"
)

// Set is the value of a set key. A small set of integers is an Intset. Too many
// members, or a member that is not an integer, make it a table; it stays one. The
// zero Set is empty and ready.
type Set struct {
	ints  Intset
	table *setTable // nil while the set is an Intset
}

// setTable has the members as its keys.
type setTable = dict[struct{}]

// Type returns TypeSet.
func (s *Set) Type() Type { return TypeSet }

// Encoding returns "intset" or "hashtable".
func (s *Set) Encoding() string {
	if s.table != nil {
		return "hashtable"
	}
	return "intset"
}

// Clone returns an independent copy of the same encoding.
func (s *Set) Clone() Value {
	if s.table == nil {
		return &Set{ints: slices.Clone(s.ints)}
	}
	t := newDict[struct{}](s.Len())
	for _, m := range s.table.elems {
		t.add(m.key, struct{}{})
	}
	return &Set{table: &t}
}

// MemoryUsage estimates the memory of the value in bytes (see Value).
func (s *Set) MemoryUsage(samples int) int64 {
	size := heapsize.Pointers[Set](1)
	if s.table == nil {
		return int64(size + heapsize.Slice[int64](cap(s.ints)))
	}
	size += heapsize.Pointers[setTable](1) + s.table.bytes() + s.table.outgrown()
	return int64(size) + sampled(s.Len(), samples, func(i int) int {
		return heapsize.Text(len(s.table.elems[i].key))
	})
}

// Len returns the number of members.
func (s *Set) Len() int {
	if s.table != nil {
		return len(s.table.elems)
	}
	return len(s.ints)
}

// Has reports whether member is in the set.
func (s *Set) Has(member []byte) bool {
	if s.table != nil {
		return s.table.find(member) >= 0
	}
	n, ok := resp.ParseInt(member)
	return ok && s.ints.Has(n)
}

// Add adds a member and reports whether it is new. The set becomes a table if the
// member is not an integer or the set exceeds lim.
func (s *Set) Add(member []byte, lim *Limits) (added bool) {
	if s.table == nil {
		if n, ok := resp.ParseInt(member); ok {
			added = s.ints.Add(n)
			if added && len(s.ints) > min(lim.SetIntEntries, 1<<30) {
				s.toTable()
			}
			return added
		}
		s.toTable()
	}
	if s.table.find(member) >= 0 {
		return false
	}
	s.table.add(string(member), struct{}{})
	return true
}

// Remove removes a member and reports whether the set had it.
func (s *Set) Remove(member []byte) bool {
	if s.table != nil {
		i := s.table.find(member)
		if i >= 0 {
			s.table.removeAt(i)
		}
		return i >= 0
	}
	n, ok := resp.ParseInt(member)
	return ok && s.ints.Remove(n)
}

// Each calls do for every member until do returns false. An Intset has ascending
// order. A member is valid during the call of do only. do must not change the set.
func (s *Set) Each(do func(member []byte) bool) {
	var scratch [20]byte
	for i := range s.Len() {
		if !do(s.At(i, scratch[:])) {
			return
		}
	}
}

// At returns member i of Len, for random picks. It writes the digits of an integer
// to scratch. An Intset has ascending order, a table any order.
func (s *Set) At(i int, scratch []byte) []byte {
	if s.table != nil {
		return bytesOf(s.table.elems[i].key)
	}
	return strconv.AppendInt(scratch[:0], s.ints[i], 10)
}

// MemberAt returns member i of Len as a string that stays valid when the set changes.
func (s *Set) MemberAt(i int) string {
	if s.table != nil {
		return s.table.elems[i].key
	}
	return strconv.FormatInt(s.ints[i], 10)
}

// RemoveAt removes member i of Len.
func (s *Set) RemoveAt(i int) {
	if s.table != nil {
		s.table.removeAt(i)
		return
	}
	s.ints = shrink(slices.Delete(s.ints, i, i+1))
}

// Scan visits about count members from cursor on (0: a new scan) and returns the
// next cursor, 0 if the scan is complete. One call visits all of an Intset. do must
// not change the set.
func (s *Set) Scan(cursor uint64, count int, do func(member string)) uint64 {
	if s.table == nil {
		for _, n := range s.ints {
			do(strconv.FormatInt(n, 10))
		}
		return 0
	}
	return s.table.scan(cursor, count, func(i int) { do(s.table.elems[i].key) })
}

func (s *Set) toTable() {
	t := newDict[struct{}](len(s.ints) + 1)
	for _, n := range s.ints {
		t.add(strconv.FormatInt(n, 10), struct{}{})
	}
	s.ints, s.table = nil, &t
}
