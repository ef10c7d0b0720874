package store

import "slices"

// This file builds values from all their elements at once: from a payload of RESTORE or
// a file. The values copy the elements.

// BuildHash returns the hash of field, value, field, value. It is packed if it is within
// lim. ok is false if a field has no value or comes twice.
func BuildHash(pairs [][]byte, lim *Limits) (h *Hash, ok bool) {
	n := len(pairs) / 2
	if len(pairs)%2 != 0 {
		return nil, false
	}
	tooLong := func(elem []byte) bool { return len(elem) > lim.HashValue }
	if n > lim.HashEntries || slices.ContainsFunc(pairs, tooLong) {
		t := newHashTable(n)
		for i := 0; i < len(pairs); i += 2 {
			if !setField(t, pairs[i], pairs[i+1]) {
				return nil, false
			}
		}
		h = &Hash{}
		h.setTable(t)
		return h, true
	}
	fields := make(map[string]struct{}, n)
	for i := 0; i < len(pairs); i += 2 {
		fields[string(pairs[i])] = struct{}{}
	}
	if len(fields) != n {
		return nil, false
	}
	var p Packed
	p.Append(pairs...)
	h = &Hash{}
	h.setPacked(p)
	return h, true
}

// NewIntSet returns the set of ints, which are in ascending order. It keeps ints.
func NewIntSet(ints Intset, lim *Limits) *Set {
	s := &Set{ints: ints}
	if len(ints) > lim.SetIntEntries {
		s.toTable()
	}
	return s
}

// Ints returns the members of a small set of integers, in ascending order. ok is false
// if the set is a table. The caller must not change the slice.
func (s *Set) Ints() (ints Intset, ok bool) { return s.ints, s.table == nil }

// listNodeMax is the largest size of a node that AppendNode adds as it is, in bytes: the
// largest size that list-max-listpack-size allows.
const listNodeMax = 64 << 10

// AppendNode adds elems after the last element: as one node, unless it would be larger
// than any node. listSize is Limits.ListSize.
func (l *List) AppendNode(elems [][]byte, listSize int) {
	size := 0
	for _, elem := range elems {
		size += packedSize(elem)
	}
	if size > listNodeMax || len(elems) == 0 {
		for _, elem := range elems {
			l.PushBack(elem, listSize)
		}
		return
	}
	node := listNode{n: len(elems)}
	node.Append(elems...)
	l.all = append(l.all, node)
	l.n += len(elems)
}

// Nodes returns the number of nodes.
func (l *List) Nodes() int { return len(l.nodes()) }

// EachNode calls do for every node, from the first to the last. do must not change the
// list.
func (l *List) EachNode(do func(Packed)) {
	for _, node := range l.nodes() {
		do(node.Packed)
	}
}
