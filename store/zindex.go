package store

import (
	"slices"
	"sort"
	"strings"
)

// ZItem is a member of a sorted set with its score. The member may alias the set:
// then it is valid until the set changes.
type ZItem struct {
	Member string
	Score  float64
}

// Bytes returns the member's bytes, which must not be changed.
func (a ZItem) Bytes() []byte { return bytesOf(a.Member) }

// before is the order of sorted sets: by score, then by the member's bytes.
func (a ZItem) before(b ZItem) bool {
	if a.Score != b.Score {
		return a.Score < b.Score
	}
	return strings.Compare(a.Member, b.Member) < 0
}

// zindex is the ordered index of a large sorted set. It is a B+ tree that counts the
// items below each child. So a rank, an item by rank and a range cost one descent, as
// in Redis's skip list with spans. (tidwall/btree has GetAt but no rank: a binary
// search with GetAt took five times as long at a million items.)
//
// An empty node is removed; nodes with few items are not merged. The tree is never
// deeper than its largest number of items required. compact rebuilds a tree with
// mostly empty leaves. The zero zindex is empty and ready.
type zindex struct {
	root   *znode
	n      int // items
	leaves int
}

// znode is a leaf or an inner node. A leaf has items and no kids. In an inner node,
// all items below kids[i] are before items[i+1], and no item below kids[i+1] is
// before items[i+1]. items[0] of an inner node is unused.
type znode struct {
	items []ZItem
	kids  []*znode
	sizes []int // items below each child
}

const zfanout = 64 // the most items of a leaf, and the most kids of an inner node

// search returns the index of the first item in a leaf that is not before item.
func (nd *znode) search(item ZItem) int {
	low, high := 0, len(nd.items)
	for low < high {
		if mid := (low + high) / 2; nd.items[mid].before(item) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// child returns the index of the child that item belongs to.
func (nd *znode) child(item ZItem) int {
	low, high := 1, len(nd.items)
	for low < high {
		if mid := (low + high) / 2; item.before(nd.items[mid]) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low - 1
}

// size returns the number of items in or below the node.
func (nd *znode) size() (n int) {
	if nd.kids == nil {
		return len(nd.items)
	}
	for _, size := range nd.sizes {
		n += size
	}
	return n
}

// insert adds a new item.
func (x *zindex) insert(item ZItem) {
	if x.root == nil {
		x.root = &znode{items: make([]ZItem, 0, zfanout)}
		x.leaves = 1
	}
	x.n++
	right := x.insertBelow(x.root, item)
	if right == nil {
		return
	}
	x.root = &znode{
		items: []ZItem{{}, right.items[0]},
		kids:  []*znode{x.root, right},
		sizes: []int{x.root.size(), right.size()},
	}
}

// insertBelow adds an item to nd or below it. If nd was split, it returns the new
// right half; right.items[0] is not after any item of that half.
func (x *zindex) insertBelow(nd *znode, item ZItem) (right *znode) {
	if nd.kids == nil {
		at := nd.search(item)
		if len(nd.items) < zfanout {
			nd.items = slices.Insert(nd.items, at, item)
			return nil
		}
		right = x.splitLeaf(nd, at)
		if at > len(nd.items) {
			right.items = slices.Insert(right.items, at-len(nd.items), item)
		} else if len(right.items) == 0 {
			right.items = append(right.items, item)
		} else {
			nd.items = slices.Insert(nd.items, at, item)
		}
		return right
	}
	at := nd.child(item)
	half := x.insertBelow(nd.kids[at], item)
	if half == nil {
		nd.sizes[at]++
		return nil
	}
	nd.sizes[at] = nd.kids[at].size()
	nd.items = slices.Insert(nd.items, at+1, half.items[0])
	nd.kids = slices.Insert(nd.kids, at+1, half)
	nd.sizes = slices.Insert(nd.sizes, at+1, half.size())
	if len(nd.kids) <= zfanout {
		return nil
	}
	return nd.splitInner()
}

// splitLeaf moves the upper half of a full leaf to a new leaf. at is the index for
// the item that will be added. If it is the end of the leaf, nothing is moved: a set
// that grows at its end (time stamps) gets full leaves.
func (x *zindex) splitLeaf(nd *znode, at int) *znode {
	x.leaves++
	from := len(nd.items) / 2
	if at == len(nd.items) {
		from = at
	}
	right := &znode{items: append(make([]ZItem, 0, zfanout), nd.items[from:]...)}
	clear(nd.items[from:])
	nd.items = nd.items[:from]
	return right
}

// splitInner moves the upper half of an inner node to a new one.
func (nd *znode) splitInner() *znode {
	from := len(nd.kids) / 2
	right := &znode{
		items: slices.Clone(nd.items[from:]),
		kids:  slices.Clone(nd.kids[from:]),
		sizes: slices.Clone(nd.sizes[from:]),
	}
	clear(nd.items[from:])
	clear(nd.kids[from:])
	nd.items, nd.kids, nd.sizes = nd.items[:from], nd.kids[:from], nd.sizes[:from]
	return right
}

// remove removes an item of the index.
func (x *zindex) remove(item ZItem) {
	x.removeBelow(x.root, item)
	x.n--
	x.settle()
}

func (x *zindex) removeBelow(nd *znode, item ZItem) {
	if nd.kids == nil {
		at := nd.search(item)
		nd.items = slices.Delete(nd.items, at, at+1)
		return
	}
	at := nd.child(item)
	x.removeBelow(nd.kids[at], item)
	if nd.sizes[at]--; nd.sizes[at] == 0 {
		x.drop(nd, at, at+1)
	}
}

// drop removes the children [from, to) of an inner node.
func (x *zindex) drop(nd *znode, from, to int) {
	for _, kid := range nd.kids[from:to] {
		x.leaves -= kid.leafCount()
	}
	nd.items = slices.Delete(nd.items, from, to)
	nd.kids = slices.Delete(nd.kids, from, to)
	nd.sizes = slices.Delete(nd.sizes, from, to)
}

// leafCount returns the number of leaves in or below the node.
func (nd *znode) leafCount() (n int) {
	if nd.kids == nil {
		return 1
	}
	for _, kid := range nd.kids {
		n += kid.leafCount()
	}
	return n
}

// removeRange removes the items of rank [from, to).
func (x *zindex) removeRange(from, to int) {
	if from >= to {
		return
	}
	x.removeRangeBelow(x.root, from, to)
	x.n -= to - from
	x.settle()
}

func (x *zindex) removeRangeBelow(nd *znode, from, to int) {
	if nd.kids == nil {
		nd.items = slices.Delete(nd.items, from, to)
		return
	}
	for at, start := 0, 0; at < len(nd.kids) && start < to; at++ {
		size := nd.sizes[at]
		low, high := max(from-start, 0), min(to-start, size)
		start += size
		if low >= high {
			continue
		}
		if high-low < size {
			x.removeRangeBelow(nd.kids[at], low, high)
		}
		nd.sizes[at] -= high - low
	}
	for at := 0; at < len(nd.kids); at++ {
		end := at
		for end < len(nd.kids) && nd.sizes[end] == 0 {
			end++
		}
		if end > at {
			x.drop(nd, at, end)
		}
	}
}

// settle makes the tree less deep or compacts it, if needed, after a removal.
func (x *zindex) settle() {
	if x.n == 0 {
		*x = zindex{}
		return
	}
	for len(x.root.kids) == 1 {
		x.root = x.root.kids[0]
	}
	if x.leaves > 16 && x.n < x.leaves*zfanout/8 {
		x.compact()
	}
}

// compact rebuilds the tree with full leaves.
func (x *zindex) compact() {
	fresh := zindex{}
	x.walk(0, x.n, func(item ZItem) bool {
		fresh.insert(item)
		return true
	})
	*x = fresh
}

// rank returns the number of items before item.
func (x *zindex) rank(item ZItem) (rank int) {
	nd := x.root
	for nd.kids != nil {
		at := nd.child(item)
		for _, size := range nd.sizes[:at] {
			rank += size
		}
		nd = nd.kids[at]
	}
	return rank + nd.search(item)
}

// first returns the rank of the first item with in(item), n if there is none. in must
// be false up to some item and true from that item on.
func (x *zindex) first(in func(ZItem) bool) (rank int) {
	if x.n == 0 {
		return 0
	}
	nd := x.root
	for nd.kids != nil {
		at := sort.Search(len(nd.items)-1, func(i int) bool { return in(nd.items[i+1]) })
		for _, size := range nd.sizes[:at] {
			rank += size
		}
		nd = nd.kids[at]
	}
	return rank + sort.Search(len(nd.items), func(i int) bool { return in(nd.items[i]) })
}

// walk calls do for the items of rank [from, to) until do returns false.
func (x *zindex) walk(from, to int, do func(ZItem) bool) {
	if from < to {
		x.root.walk(from, to, do)
	}
}

func (nd *znode) walk(from, to int, do func(ZItem) bool) bool {
	if nd.kids == nil {
		for _, item := range nd.items[from:to] {
			if !do(item) {
				return false
			}
		}
		return true
	}
	start := 0
	for i, kid := range nd.kids {
		low, high := max(from-start, 0), min(to-start, nd.sizes[i])
		if low < high && !kid.walk(low, high, do) {
			return false
		}
		if start += nd.sizes[i]; start >= to {
			break
		}
	}
	return true
}

// walkBack calls do for the items of rank [from, to), the last item first, until do
// returns false.
func (x *zindex) walkBack(from, to int, do func(ZItem) bool) {
	if from < to {
		x.root.walkBack(from, to, do)
	}
}

func (nd *znode) walkBack(from, to int, do func(ZItem) bool) bool {
	if nd.kids == nil {
		for i := to - 1; i >= from; i-- {
			if !do(nd.items[i]) {
				return false
			}
		}
		return true
	}
	end := nd.size()
	for i := len(nd.kids) - 1; i >= 0 && end > from; i-- {
		start := end - nd.sizes[i]
		low, high := max(from-start, 0), min(to-start, nd.sizes[i])
		if low < high && !nd.kids[i].walkBack(low, high, do) {
			return false
		}
		end = start
	}
	return true
}
