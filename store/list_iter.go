package store

import (
	"bytes"
	"slices"
)

// ListIter visits the elements of a list. It is valid until the list changes.
type ListIter struct {
	nodes []listNode
	node  int
	pos   int // in the node; -1: continue with the next node
	back  bool
}

// Iter returns an iterator that starts at element from. It continues to the last
// element, or to the first if back is set. If from is out of range, there are no
// elements.
func (l *List) Iter(from int, back bool) ListIter {
	it := ListIter{nodes: l.nodes(), back: back}
	if from < 0 || from >= l.n {
		it.nodes, it.pos = nil, -1
		return it
	}
	node, at := l.locate(from)
	it.node, it.pos = node, it.nodes[node].Seek(at)
	return it
}

// Next returns the next element. ok is false at the end.
func (it *ListIter) Next() (elem []byte, ok bool) {
	if it.pos < 0 && !it.nextNode() {
		return nil, false
	}
	p := it.nodes[it.node].Packed
	if it.back {
		elem = p.At(it.pos)
		it.pos = p.Prev(it.pos)
	} else {
		elem, it.pos = p.Elem(it.pos)
	}
	return elem, true
}

// nextNode continues with the next node. It returns false if there is none.
func (it *ListIter) nextNode() bool {
	if it.back {
		it.node--
	} else {
		it.node++
	}
	if it.node < 0 || it.node >= len(it.nodes) {
		it.nodes = nil
		return false
	}
	it.pos = it.nodes[it.node].First()
	if it.back {
		it.pos = it.nodes[it.node].Last()
	}
	return true
}

// Each calls do for every element, from the first to the last, until do returns
// false. do must not change the list.
func (l *List) Each(do func(elem []byte) bool) {
	it := l.Iter(0, false)
	for elem, ok := it.Next(); ok && do(elem); {
		elem, ok = it.Next()
	}
}

// Remove removes elements equal to elem and returns how many. A positive count
// removes at most count elements from the first on, a negative one at most -count
// elements from the last on. Count 0 removes all of them.
func (l *List) Remove(elem []byte, count int) (removed int) {
	nodes, back := l.nodes(), count < 0
	switch {
	case count == 0:
		count = l.n
	case back:
		count = max(-count, 0)
	}
	emptied := false
	for i := 0; i < len(nodes) && removed < count; i++ {
		node := &nodes[i]
		if back {
			node = &nodes[len(nodes)-1-i]
			removed += node.removeLast(elem, count-removed)
		} else {
			removed += node.removeFirst(elem, count-removed)
		}
		emptied = emptied || node.n == 0
	}
	l.n -= removed
	if emptied {
		kept := slices.DeleteFunc(nodes, func(p listNode) bool { return p.n == 0 })
		l.all = l.all[:l.head+len(kept)]
		l.shrink()
	}
	return removed
}

// removeFirst removes at most most elements equal to elem, from the first on.
func (p *listNode) removeFirst(elem []byte, most int) (removed int) {
	for pos := p.Find(packedHeader, elem, 0); pos >= 0 && removed < most; pos = p.Find(pos, elem, 0) {
		pos = p.remove(pos, elem)
		removed++
		if pos < 0 {
			break
		}
	}
	return removed
}

// removeLast removes at most most elements equal to elem, from the last on.
func (p *listNode) removeLast(elem []byte, most int) (removed int) {
	for pos := p.Last(); pos >= 0 && removed < most; {
		before := p.Prev(pos)
		if bytes.Equal(p.At(pos), elem) {
			p.remove(pos, elem)
			removed++
		}
		pos = before
	}
	return removed
}
