package store

import (
	"math"
	"slices"
)

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

// AppendNode adds elems after the last element, as one node of any size. It adds nothing
// if there are no elems.
func (l *List) AppendNode(elems [][]byte) {
	if len(elems) == 0 {
		return
	}
	node := listNode{n: int32(len(elems))}
	node.Append(elems...)
	node.size = uint32(min(int64(node.listpackSize()), math.MaxUint32))
	l.addNode(node)
	l.n += len(elems)
}

// AppendPlainNode adds elem after the last element, as a node that takes no others.
func (l *List) AppendPlainNode(elem []byte) {
	l.addNode(newPlainNode(elem))
	l.n++
}

// Nodes returns the number of nodes.
func (l *List) Nodes() int { return len(l.nodes()) }

// EachNode calls do for every node, from the first to the last. A plain node has one
// element. do must not change the list.
func (l *List) EachNode(do func(elems Packed, plain bool)) {
	for i := range l.nodes() {
		node := &l.nodes()[i]
		do(node.Packed, node.plain())
	}
}

// NodeBytes returns the size of all nodes in Redis, in bytes.
func (l *List) NodeBytes() (size int64) {
	for i := range l.nodes() {
		node := &l.nodes()[i]
		if node.plain() {
			size += int64(len(node.At(node.First())))
		}
		size += int64(node.size)
	}
	return size
}
