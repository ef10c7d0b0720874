package store

import (
	"math"
	"slices"

	"github.com/lockredis/lockredis/internal/heapsize"
)

// List is a sequence of byte strings: a deque of packed nodes of a few kilobytes
// each, like Redis's quicklist. A push or pop changes the node at one end. To find
// an element in the middle, the list counts nodes from the nearer end.
//
// DUMP shows the nodes, so they hold the same elements as Redis's nodes. A node counts the
// bytes that its listpack would have in Redis, and ends where that would end.
//
// The list copies the elements that it is given. Elements that it returns alias the
// list and are valid until it changes; popped elements stay valid.
type List struct {
	all  []listNode // the nodes are all[head:]
	head int        // all[:head] is free room for nodes at the front
	n    int        // elements

	// Redis fixes both directives when it creates a list. A later CONFIG SET changes
	// only new lists.
	limit    int16 // list-max-listpack-size
	compress bool  // list-compress-depth is not 0
}

// NewList returns an empty list with the current limits.
func NewList(lim *Limits) *List {
	return &List{
		limit:    int16(max(-5, min(lim.ListSize, math.MaxInt16))),
		compress: lim.ListDepth > 0,
	}
}

// Limit returns the list's list-max-listpack-size, from -5 to 32767.
func (l *List) Limit() int { return int(l.limit) }

// Compressed reports whether Redis would compress nodes of the list.
func (l *List) Compressed() bool { return l.compress }

// Type returns TypeList.
func (l *List) Type() Type { return TypeList }

// Encoding returns "quicklist": Redis 7.0 has no other for lists.
func (l *List) Encoding() string { return "quicklist" }

// Len returns the number of elements.
func (l *List) Len() int { return l.n }

func (l *List) nodes() []listNode { return l.all[l.head:] }

// Clone returns an independent copy.
func (l *List) Clone() Value {
	c := *l
	c.all, c.head = slices.Clone(l.nodes()), 0
	for i := range c.all {
		c.all[i].Packed = c.all[i].Packed.Clone()
	}
	return &c
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

// PushBack adds elem after the last element.
func (l *List) PushBack(elem []byte) {
	l.n++
	if last := len(l.all) - 1; last >= l.head {
		node := &l.all[last]
		if l.takes(node, elem) {
			node.append(elem)
			return
		}
		node.clip()
	}
	l.addNode(newListNode(elem))
}

// addNode adds a node after the last one.
func (l *List) addNode(node listNode) {
	if len(l.all) == cap(l.all) && l.head > len(l.all)/2 {
		kept := copy(l.all, l.nodes())
		clear(l.all[kept:])
		l.all, l.head = l.all[:kept], 0
	}
	l.all = append(l.all, node)
}

// PushFront adds elem before the first element.
func (l *List) PushFront(elem []byte) {
	l.n++
	if l.head < len(l.all) {
		node := &l.all[l.head]
		if l.takes(node, elem) {
			node.prepend(elem)
			return
		}
		node.clip()
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
	node.remove(pos, elem)
	return elem
}

// locate returns the node of element i, which must exist, and the element's index in
// the node.
func (l *List) locate(i int) (node, at int) {
	nodes := l.nodes()
	if i < l.n/2 {
		for node := range nodes {
			n := int(nodes[node].n)
			if i < n {
				return node, i
			}
			i -= n
		}
	}
	i = l.n - 1 - i
	for node = len(nodes) - 1; ; node-- {
		n := int(nodes[node].n)
		if i < n {
			return node, n - 1 - i
		}
		i -= n
	}
}

// At returns element i, which must exist. Element 0 is the first.
func (l *List) At(i int) []byte {
	node, at := l.locate(i)
	p := l.nodes()[node].Packed
	return p.At(p.Seek(at))
}

// Trim keeps the elements [from, to) and removes the others.
func (l *List) Trim(from, to int) {
	if from >= to {
		l.all, l.head, l.n = nil, 0, 0
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
		if count < int(node.n) {
			node.removeRun(node.First(), count)
			return
		}
		count -= int(node.n)
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
		if count < int(node.n) {
			node.removeRun(node.Seek(int(node.n)-count), count)
			return
		}
		count -= int(node.n)
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
