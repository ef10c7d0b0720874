package command

import (
	"bytes"
	"sort"
)

// compare orders two items by their sort keys: negative, 0 or positive.
func (q *sortQuery) compare(a, b *sortItem) int {
	cmp := 0
	switch {
	case !q.alpha && a.score != b.score:
		cmp = 1
		if a.score < b.score {
			cmp = -1
		}
	case !q.alpha:
		cmp = bytes.Compare(a.elem, b.elem)
	case a.by == nil || b.by == nil:
		cmp = boolCompare(a.by != nil, b.by != nil)
	case q.dst != nil:
		cmp = bytes.Compare(a.by, b.by)
	default:
		cmp = bytes.Compare(cText(a.by), cText(b.by))
	}
	if q.desc {
		return -cmp
	}
	return cmp
}

// sortRef stands for an item during sorting. It is a quarter of an item's size and holds the
// score.
type sortRef struct {
	score float64
	item  *sortItem
}

// sortRefs sorts references as a query says. Equal items keep their order. It is a
// sort.Interface, because slices.SortFunc would add 10 KB to the executable.
type sortRefs struct {
	q    *sortQuery
	keys []sortRef
}

func (s *sortRefs) Len() int      { return len(s.keys) }
func (s *sortRefs) Swap(i, j int) { s.keys[i], s.keys[j] = s.keys[j], s.keys[i] }

func (s *sortRefs) Less(i, j int) bool {
	a, b := &s.keys[i], &s.keys[j]
	if a.score != b.score { // no score is NaN
		return a.score < b.score != s.q.desc
	}
	if order := s.q.compare(a.item, b.item); order != 0 {
		return order < 0
	}
	return a.item.index < b.item.index
}

// sorted returns items in order.
func (q *sortQuery) sorted(items []sortItem) []sortItem {
	keys := make([]sortRef, len(items))
	for i := range items {
		keys[i] = sortRef{items[i].score, &items[i]}
	}
	sort.Sort(&sortRefs{q, keys})
	inOrder := make([]sortItem, len(items))
	for i, k := range keys {
		inOrder[i] = *k.item
	}
	return inOrder
}

// partlySorted returns items, of which [from, to) is in order.
func (q *sortQuery) partlySorted(items []sortItem, from, to int) []sortItem {
	refs := refsTo(items)
	p := partialSort[*sortItem]{items: refs, from: from, to: to - 1, compare: q.compare}
	p.sort(0, len(refs))
	inOrder := make([]sortItem, len(items))
	for i, ref := range refs {
		inOrder[i] = *ref
	}
	return inOrder
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
