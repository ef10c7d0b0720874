package store

import (
	"math"
	"slices"
)

// listNode is a node of a list. It is as large as a Packed and an int.
type listNode struct {
	Packed
	n    int32  // elements
	size uint32 // of the node in Redis: a listpack, in bytes; 0: a plain node
}

const (
	// plainBytes is the size of an element, in bytes, that gets a plain node: a node of
	// one element, which takes no others. RESTORE also adds plain nodes.
	plainBytes = 1 << 30
	// nodeSafeBytes limits a node if list-max-listpack-size limits only its elements.
	nodeSafeBytes = 8 << 10
	// elemOverhead is what Redis adds to an element's length, in bytes, before it
	// compares the size of the node with the limit.
	elemOverhead = 8
	// mergeSaving is what Redis subtracts from the sizes of two nodes, in bytes, before
	// it compares them with the limit. A merge saves only listpackEmpty.
	mergeSaving = 11
)

// newListNode returns a node with one element.
func newListNode(elem []byte) (node listNode) {
	if len(elem) >= plainBytes {
		return newPlainNode(elem)
	}
	node.size = listpackEmpty
	node.append(elem)
	return node
}

func newPlainNode(elem []byte) listNode {
	node := listNode{n: 1}
	node.Append(elem)
	return node
}

// plain reports whether the node is plain. The node is not empty.
func (p *listNode) plain() bool { return p.size == 0 }

func (p *listNode) append(elem []byte)  { p.insert(-1, elem) }
func (p *listNode) prepend(elem []byte) { p.insert(p.First(), elem) }

// insert adds elem before the element at pos, or after the last element if pos is -1.
func (p *listNode) insert(pos int, elem []byte) {
	p.Insert(pos, elem)
	p.n++
	p.size += uint32(listpackSize(elem))
}

// remove removes the element at pos, which equals elem. It returns the position of the
// next element, -1 if there is none.
func (p *listNode) remove(pos int, elem []byte) (next int) {
	p.n--
	if !p.plain() {
		p.size -= uint32(listpackSize(elem))
	}
	return p.Delete(pos, 1)
}

// removeRun removes count elements from pos on.
func (p *listNode) removeRun(pos, count int) {
	at := pos
	for range count {
		var elem []byte
		elem, at = p.Elem(at)
		p.size -= uint32(listpackSize(elem))
	}
	p.Delete(pos, count)
	p.n -= int32(count)
}

// clip frees the room for growth of a full node. By default, nodes of text fill 8 KB, a size
// of the allocator. Nodes of numbers are larger here than in Redis: up to an eighth is room.
func (p *listNode) clip() {
	if n := len(p.Packed); n > nodeSafeBytes && cap(p.Packed)-n > n/32 {
		p.Packed = p.Clone()
	}
}

// takes reports whether a node may take elem.
func (l *List) takes(node *listNode, elem []byte) bool {
	return !node.plain() && l.fits(int(node.size)+len(elem)+elemOverhead, int(node.n)+1)
}

// fits reports whether list-max-listpack-size allows a node of size bytes, as a listpack,
// with n elements.
func (l *List) fits(size, n int) bool {
	if l.limit >= 0 {
		return n <= int(l.limit) && size <= nodeSafeBytes
	}
	return size <= 4<<10<<(-l.limit-1)
}

// Set replaces element i, which must exist. A packed node keeps the element, whatever its
// size, as in Redis.
func (l *List) Set(i int, elem []byte) {
	node, at := l.locate(i)
	p := &l.nodes()[node]
	pos := p.Seek(at)
	plain := len(elem) >= plainBytes
	if old := p.At(pos); !p.plain() && !plain {
		size := int(p.size) - listpackSize(old) + listpackSize(elem)
		if int64(size) <= math.MaxUint32 {
			p.Replace(pos, elem)
			p.size = uint32(size)
			return
		}
	} else if p.plain() && plain {
		p.Replace(pos, elem)
		return
	}
	l.insert(node, at, elem, true)
	node, at = l.locate(i)
	p = &l.nodes()[node]
	pos = p.Seek(at)
	p.remove(pos, p.At(pos))
	l.n--
	if p.n == 0 {
		l.all = slices.Delete(l.all, l.head+node, l.head+node+1)
	}
}

// InsertBefore adds elem before element i, which must exist.
func (l *List) InsertBefore(i int, elem []byte) {
	node, at := l.locate(i)
	l.insert(node, at, elem, false)
}

// InsertAfter adds elem after element i, which must exist.
func (l *List) InsertAfter(i int, elem []byte) {
	node, at := l.locate(i)
	l.insert(node, at, elem, true)
}

// insert adds elem before or after index at of a node. If the node is full, it uses the
// neighbour next to the index, or a new node there. In the middle it splits the node.
func (l *List) insert(node, at int, elem []byte, after bool) {
	nodes := l.nodes()
	p := &nodes[node]
	edge, neighbour, next := at == 0, node-1, node
	if after {
		edge, neighbour, next = at == int(p.n)-1, node+1, node+1
		at++
	}
	beside := edge && 0 <= neighbour && neighbour < len(nodes)
	l.n++
	switch {
	case l.takes(p, elem):
		p.insert(p.Seek(at), elem)
	case beside && l.takes(&nodes[neighbour], elem):
		if after {
			nodes[neighbour].prepend(elem)
		} else {
			nodes[neighbour].append(elem)
		}
	case edge:
		l.all = slices.Insert(l.all, l.head+next, newListNode(elem))
	default:
		l.splitInsert(node, at, elem, after)
	}
}

// splitInsert splits a node before index at and adds elem there: to the second part if
// after is set, else to the first.
func (l *List) splitInsert(node, at int, elem []byte, after bool) {
	left, right := l.nodes()[node].split(at)
	node += l.head
	switch {
	case len(elem) >= plainBytes:
		l.all = slices.Replace(l.all, node, node+1, left, newListNode(elem), right)
		return
	case after:
		right.prepend(elem)
	default:
		left.append(elem)
	}
	l.all = slices.Replace(l.all, node, node+1, left, right)
	if !after {
		node++
	}
	l.mergeAround(node)
}

// split returns two new nodes: one with the first at elements, one with the others. Both
// have elements.
func (p *listNode) split(at int) (left, right listNode) {
	left.n, right.n = int32(at), p.n-int32(at)
	left.Packed, right.Packed = p.Packed.split(p.Seek(at), at, int(p.n)-at)
	left.size = uint32(left.listpackSize())
	right.size = p.size - left.size + listpackEmpty
	return left, right
}

// mergeAround merges nodes that fit into one: the two nodes before l.all[i], the two after
// it, and l.all[i] with the nodes beside it. Redis tries them in this order.
func (l *List) mergeAround(i int) {
	if l.merge(i - 2) {
		i--
	}
	l.merge(i + 1)
	if l.merge(i - 1) {
		i--
	}
	l.merge(i)
}

// merge makes l.all[i] and the next node one node. It returns false if one of them does not
// exist, or if they do not fit.
func (l *List) merge(i int) bool {
	if i < l.head || i+1 >= len(l.all) {
		return false
	}
	a, b := &l.all[i], &l.all[i+1]
	size, n := int(a.size)+int(b.size), int(a.n)+int(b.n)
	if a.plain() || b.plain() || !l.fits(size-mergeSaving, n) {
		return false
	}
	a.join(b.Packed, n)
	a.n, a.size = int32(n), uint32(size-listpackEmpty)
	l.all = slices.Delete(l.all, i+1, i+2)
	return true
}
