package store

import (
	"slices"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// List is a sequence of byte strings: a deque of packed nodes of a few kilobytes
// each, like Redis's quicklist. A push or pop changes the node at one end. To find
// an element in the middle, the list counts nodes from the nearer end. The zero List
// is empty and ready.
//
// The list copies the elements that it is given. Elements that it returns alias the
// list and are valid until it changes; popped elements stay valid.
type List struct {
	all  []listNode // the nodes are all[head:]
	head int        // all[:head] is free room for nodes at the front
	n    int        // elements
}

type listNode struct {
	Packed
	n int // elements
}

// Type returns TypeList.
func (l *List) Type() Type { return TypeList }

// Encoding returns "quicklist": Redis 7.0 has no other for lists.
func (l *List) Encoding() string { return "quicklist" }

// Len returns the number of elements.
func (l *List) Len() int { return l.n }

func (l *List) nodes() []listNode { return l.all[l.head:] }

// Clone returns an independent copy.
func (l *List) Clone() Value {
	c := &List{all: slices.Clone(l.nodes()), n: l.n}
	for i := range c.all {
		c.all[i].Packed = c.all[i].Packed.Clone()
	}
	return c
}

// MemoryUsage estimates the memory of the value in bytes (see Value). A sample is a node
// between the first and the last, which may be short.
func (l *List) MemoryUsage(samples int) int64 {
	nodes := l.nodes()
	bytes := func(i int) int { return heapsize.Text(cap(nodes[i].Packed)) }
	size := heapsize.Pointers[List](1) + heapsize.Pointers[listNode](cap(l.all))
	last := len(nodes) - 1
	if last < 2 {
		return int64(size) + sampled(len(nodes), 0, bytes)
	}
	between := sampled(last-1, samples, func(i int) int { return bytes(i + 1) })
	return int64(size+bytes(0)+bytes(last)) + between
}

// nodeTakes reports whether a node may take elem under list-max-listpack-size.
func nodeTakes(node *listNode, elem []byte, listSize int) bool {
	if listSize >= 0 {
		return node.n < max(listSize, 1) && node.Size()+packedSize(elem) <= 8<<10
	}
	return node.Size()+packedSize(elem) <= 4<<10<<(-max(listSize, -5)-1)
}

// newListNode returns a node with one element.
func newListNode(elem []byte) listNode {
	node := listNode{n: 1}
	node.Append(elem)
	return node
}

// PushBack adds elem after the last element. listSize is Limits.ListSize.
func (l *List) PushBack(elem []byte, listSize int) {
	l.n++
	if last := len(l.all) - 1; last >= l.head && nodeTakes(&l.all[last], elem, listSize) {
		l.all[last].Append(elem)
		l.all[last].n++
		return
	}
	if len(l.all) == cap(l.all) && l.head > len(l.all)/2 {
		kept := copy(l.all, l.nodes())
		clear(l.all[kept:])
		l.all, l.head = l.all[:kept], 0
	}
	l.all = append(l.all, newListNode(elem))
}

// PushFront adds elem before the first element. listSize is Limits.ListSize.
func (l *List) PushFront(elem []byte, listSize int) {
	l.n++
	if l.head < len(l.all) && nodeTakes(&l.all[l.head], elem, listSize) {
		l.all[l.head].Prepend(elem)
		l.all[l.head].n++
		return
	}
	if l.head == 0 {
		room := len(l.all)/2 + 1
		l.all = append(make([]listNode, room, room+len(l.all)), l.all...)
		l.head = room
	}
	l.head--
	l.all[l.head] = newListNode(elem)
}

// PopFront removes and returns the first element. The list must not be empty.
func (l *List) PopFront() []byte {
	node := &l.all[l.head]
	return l.pop(node, node.First(), func() { l.head++ })
}

// PopBack removes and returns the last element. The list must not be empty.
func (l *List) PopBack() []byte {
	node := &l.all[len(l.all)-1]
	return l.pop(node, node.Last(), func() { l.all = l.all[:len(l.all)-1] })
}

// pop removes and returns the element at pos of node. The only element of a node is
// not copied: pop calls drop to remove the whole node.
func (l *List) pop(node *listNode, pos int, drop func()) []byte {
	l.n--
	elem := node.At(pos)
	if node.n == 1 {
		*node = listNode{}
		drop()
		return elem
	}
	elem = append([]byte(nil), elem...)
	node.Delete(pos, 1)
	node.n--
	return elem
}

// locate returns the node of element i, which must exist, and the element's index in
// the node.
func (l *List) locate(i int) (node, at int) {
	nodes := l.nodes()
	if i < l.n/2 {
		for i >= nodes[node].n {
			i -= nodes[node].n
			node++
		}
		return node, i
	}
	node, i = len(nodes)-1, l.n-1-i
	for i >= nodes[node].n {
		i -= nodes[node].n
		node--
	}
	return node, nodes[node].n - 1 - i
}

// At returns element i, which must exist. Element 0 is the first.
func (l *List) At(i int) []byte {
	node, at := l.locate(i)
	p := l.nodes()[node].Packed
	return p.At(p.Seek(at))
}

// Set replaces element i, which must exist. listSize is Limits.ListSize.
func (l *List) Set(i int, elem []byte, listSize int) {
	node, at := l.locate(i)
	p := &l.nodes()[node]
	pos := p.Seek(at)
	if old := p.At(pos); p.n == 1 || len(elem) <= len(old) || nodeTakes(p, elem, listSize) {
		p.Replace(pos, elem)
		return
	}
	p.Delete(pos, 1)
	p.n--
	l.n--
	l.insert(node, at, elem, listSize)
}

// Insert adds elem before element i, or after the last element if i is Len. listSize
// is Limits.ListSize.
func (l *List) Insert(i int, elem []byte, listSize int) {
	switch i {
	case 0:
		l.PushFront(elem, listSize)
	case l.n:
		l.PushBack(elem, listSize)
	default:
		node, at := l.locate(i)
		l.insert(node, at, elem, listSize)
	}
}

// insert adds elem before index at of a node. It splits the node if elem does not
// fit.
func (l *List) insert(node, at int, elem []byte, listSize int) {
	l.n++
	p := &l.nodes()[node]
	if nodeTakes(p, elem, listSize) {
		p.Insert(p.Seek(at), elem)
		p.n++
		return
	}
	left, right := p.split(at)
	parts := []listNode{left, newListNode(elem), right}
	switch {
	case left.n > 0 && nodeTakes(&left, elem, listSize):
		left.Append(elem)
		left.n++
		parts = []listNode{left, right}
	case right.n > 0 && nodeTakes(&right, elem, listSize):
		right.Prepend(elem)
		right.n++
		parts = []listNode{left, right}
	}
	parts = slices.DeleteFunc(parts, func(p listNode) bool { return p.n == 0 })
	l.all = slices.Replace(l.all, l.head+node, l.head+node+1, parts...)
}

// split returns two new nodes: one with the first at elements, one with the others.
func (p *listNode) split(at int) (left, right listNode) {
	pos := p.Seek(at)
	if pos < 0 {
		return listNode{p.Clone(), p.n}, listNode{}
	}
	left, right = listNode{p.Clone(), at}, listNode{p.Clone(), p.n - at}
	left.Delete(pos, p.n-at)
	right.Delete(right.First(), at)
	return left, right
}

// Trim keeps the elements [from, to) and removes the others.
func (l *List) Trim(from, to int) {
	if from >= to {
		*l = List{}
		return
	}
	l.dropBack(l.n - to)
	l.dropFront(from)
	l.shrink()
}

// dropFront removes the first count elements.
func (l *List) dropFront(count int) {
	l.n -= count
	for count > 0 {
		node := &l.all[l.head]
		if count < node.n {
			node.Delete(node.First(), count)
			node.n -= count
			return
		}
		count -= node.n
		*node = listNode{}
		l.head++
	}
}

// dropBack removes the last count elements.
func (l *List) dropBack(count int) {
	l.n -= count
	for count > 0 {
		last := len(l.all) - 1
		node := &l.all[last]
		if count < node.n {
			node.Delete(node.Seek(node.n-count), count)
			node.n -= count
			return
		}
		count -= node.n
		*node = listNode{}
		l.all = l.all[:last]
	}
}

// shrink gives memory back after many nodes were removed.
func (l *List) shrink() {
	if live := len(l.nodes()); cap(l.all) > 64 && live < cap(l.all)/4 {
		l.all, l.head = slices.Clone(l.nodes()), 0
	}
}
