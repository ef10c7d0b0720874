package store

import (
	"slices"
	"sort"
)

// idTree maps stream ids to values, in the order of the ids: the chunks of a stream, and
// the pending entries of a group and of a consumer. It is a B+ tree. The zero idTree is
// empty and ready.
//
// Ids mostly arrive in order. A full node that gets a key at its end stays full, and the
// key begins a new node. So a tree of n keys takes little more than the keys and values.
type idTree[V any] struct {
	root *idNode[V] // nil: empty
	n    int
}

// idNode is a node. A leaf has vals, an inner node has kids. Leaves have at least one key.
type idNode[V any] struct {
	// ids are a leaf's keys. In an inner node, ids[i] is not above any key in kids[i],
	// and above every key in kids[i-1]. ids[0] has no meaning there.
	ids  []StreamID
	vals []V
	kids []*idNode[V]
}

const (
	idNodeMax = 64            // keys of a leaf, kids of an inner node
	idNodeFew = idNodeMax / 4 // a node with fewer is merged with a neighbour if both
	idNodeFit = 3 * idNodeFew // together have at most that many
)

// len returns the number of keys.
func (t *idTree[V]) len() int { return t.n }

// find returns the position of the first key of a leaf that is not below id.
func (n *idNode[V]) find(id StreamID) int {
	if last := len(n.ids) - 1; n.ids[last].Less(id) {
		return last + 1
	}
	return sort.Search(len(n.ids), func(i int) bool { return !n.ids[i].Less(id) })
}

// route returns the position of the kid of an inner node that has id, if the tree has it.
func (n *idNode[V]) route(id StreamID) int {
	if last := len(n.ids) - 1; !id.Less(n.ids[last]) {
		return last
	}
	above := sort.Search(len(n.ids), func(i int) bool { return id.Less(n.ids[i]) })
	return max(above-1, 0)
}

// get returns the value of id. ok is false if the tree does not have id.
func (t *idTree[V]) get(id StreamID) (v V, ok bool) {
	if leaf, i := t.seek(id); leaf != nil && leaf.ids[i] == id {
		return leaf.vals[i], true
	}
	return v, false
}

// seek returns the leaf and the position of the first key that is not below id. leaf is
// nil if there is none.
func (t *idTree[V]) seek(id StreamID) (leaf *idNode[V], i int) {
	if t.root == nil {
		return nil, 0
	}
	var after *idNode[V] // the node behind the way down
	n := t.root
	for n.kids != nil {
		i = n.route(id)
		if i+1 < len(n.kids) {
			after = n.kids[i+1]
		}
		n = n.kids[i]
	}
	if i = n.find(id); i < len(n.ids) {
		return n, i
	}
	if after == nil {
		return nil, 0
	}
	for after.kids != nil {
		after = after.kids[0]
	}
	return after, 0
}

// seekBack returns the leaf and the position of the last key that is not above id. leaf is
// nil if there is none.
func (t *idTree[V]) seekBack(id StreamID) (leaf *idNode[V], i int) {
	if t.root == nil {
		return nil, 0
	}
	var before *idNode[V] // the node in front of the way down
	n := t.root
	for n.kids != nil {
		i = n.route(id)
		if i > 0 {
			before = n.kids[i-1]
		}
		n = n.kids[i]
	}
	i = n.find(id)
	switch {
	case i < len(n.ids) && n.ids[i] == id:
		return n, i
	case i > 0:
		return n, i - 1
	case before == nil:
		return nil, 0
	}
	for before.kids != nil {
		before = before.kids[len(before.kids)-1]
	}
	return before, len(before.ids) - 1
}

// ascend calls do for the keys from id on, in order, until do returns false. do must not
// change the tree.
func (t *idTree[V]) ascend(from StreamID, do func(StreamID, V) bool) {
	for leaf, i := t.seek(from); leaf != nil; {
		for ; i < len(leaf.ids); i++ {
			if !do(leaf.ids[i], leaf.vals[i]) {
				return
			}
		}
		next, ok := leaf.ids[i-1].Next()
		if !ok {
			return
		}
		leaf, i = t.seek(next)
	}
}

// descend calls do for the keys from id down, in reverse order, until do returns false. do
// must not change the tree.
func (t *idTree[V]) descend(from StreamID, do func(StreamID, V) bool) {
	for leaf, i := t.seekBack(from); leaf != nil; {
		for ; i >= 0; i-- {
			if !do(leaf.ids[i], leaf.vals[i]) {
				return
			}
		}
		prev, ok := leaf.ids[0].Prev()
		if !ok {
			return
		}
		leaf, i = t.seekBack(prev)
	}
}

// first returns the least key. ok is false if the tree is empty.
func (t *idTree[V]) first() (id StreamID, v V, ok bool) {
	leaf, i := t.seek(StreamID{})
	if leaf == nil {
		return id, v, false
	}
	return leaf.ids[i], leaf.vals[i], true
}

// last returns the greatest key. ok is false if the tree is empty.
func (t *idTree[V]) last() (id StreamID, v V, ok bool) {
	leaf, i := t.seekBack(MaxStreamID)
	if leaf == nil {
		return id, v, false
	}
	return leaf.ids[i], leaf.vals[i], true
}

// put sets the value of id.
func (t *idTree[V]) put(id StreamID, v V) {
	if t.root == nil {
		t.root = &idNode[V]{}
		t.root.ids, t.root.vals = append(t.root.ids, id), append(t.root.vals, v)
		t.n = 1
		return
	}
	split, added := t.root.put(id, v)
	if added {
		t.n++
	}
	if split != nil {
		t.root = &idNode[V]{
			ids: []StreamID{{}, split.ids[0]}, kids: []*idNode[V]{t.root, split},
		}
	}
}

// put sets the value of id below n. If n had no room, split is a new node for the place
// behind n; split.ids[0] is not above any of its keys.
func (n *idNode[V]) put(id StreamID, v V) (split *idNode[V], added bool) {
	if n.kids == nil {
		i := n.find(id)
		if i < len(n.ids) && n.ids[i] == id {
			n.vals[i] = v
			return nil, false
		}
		if i == idNodeMax {
			return &idNode[V]{ids: []StreamID{id}, vals: []V{v}}, true
		}
		if len(n.ids) < idNodeMax {
			n.ids, n.vals = slices.Insert(n.ids, i, id), slices.Insert(n.vals, i, v)
			return nil, true
		}
		split = n.half()
		if i <= len(n.ids) {
			n.put(id, v)
		} else {
			split.put(id, v)
		}
		return split, true
	}
	i := n.route(id)
	kid, added := n.kids[i].put(id, v)
	if kid == nil {
		return nil, added
	}
	i++
	if i == idNodeMax {
		return &idNode[V]{ids: []StreamID{kid.ids[0]}, kids: []*idNode[V]{kid}}, added
	}
	if len(n.ids) == idNodeMax {
		split = n.half()
		if i > len(n.ids) {
			i -= len(n.ids)
			n = split
		}
	}
	n.ids, n.kids = slices.Insert(n.ids, i, kid.ids[0]), slices.Insert(n.kids, i, kid)
	return split, added
}

// half moves the second half of n to a new node.
func (n *idNode[V]) half() *idNode[V] {
	const at = idNodeMax / 2
	right := &idNode[V]{ids: slices.Clone(n.ids[at:])}
	if n.kids == nil {
		right.vals = slices.Clone(n.vals[at:])
		n.vals = slices.Delete(n.vals, at, len(n.vals))
	} else {
		right.kids = slices.Clone(n.kids[at:])
		n.kids = slices.Delete(n.kids, at, len(n.kids))
	}
	n.ids = n.ids[:at]
	return right
}

// remove removes id and reports whether the tree had it.
func (t *idTree[V]) remove(id StreamID) bool {
	if t.root == nil || !t.root.remove(id) {
		return false
	}
	t.n--
	for len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
	}
	if len(t.root.ids) == 0 {
		t.root = nil
	}
	return true
}

// remove removes id below n and reports whether it was there. It may leave n empty.
func (n *idNode[V]) remove(id StreamID) bool {
	if n.kids == nil {
		i := n.find(id)
		if i == len(n.ids) || n.ids[i] != id {
			return false
		}
		n.ids, n.vals = slices.Delete(n.ids, i, i+1), slices.Delete(n.vals, i, i+1)
		return true
	}
	i := n.route(id)
	kid := n.kids[i]
	if !kid.remove(id) {
		return false
	}
	switch {
	case len(kid.ids) == 0:
		n.dropKid(i)
	case len(kid.ids) < idNodeFew && i > 0 && n.merge(i-1):
	case len(kid.ids) < idNodeFew && i+1 < len(n.kids):
		n.merge(i)
	}
	return true
}

// merge moves the content of kid i+1 to kid i, if both fit well in a node.
func (n *idNode[V]) merge(i int) bool {
	left, right := n.kids[i], n.kids[i+1]
	if len(left.ids)+len(right.ids) > idNodeFit {
		return false
	}
	if left.kids != nil {
		right.ids[0] = n.ids[i+1]
	}
	left.ids = append(left.ids, right.ids...)
	left.vals = append(left.vals, right.vals...)
	left.kids = append(left.kids, right.kids...)
	n.dropKid(i + 1)
	return true
}

func (n *idNode[V]) dropKid(i int) {
	n.ids, n.kids = slices.Delete(n.ids, i, i+1), slices.Delete(n.kids, i, i+1)
}
