package generic

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/partialsort"
)

// compare orders two items by their sort keys: negative, 0 or positive.
func (q *sortQuery) compare(a, b sortItem) int {
	order := 0
	switch {
	case !q.alpha && a.score != b.score:
		order = 1
		if a.score < b.score {
			order = -1
		}
	case !q.alpha:
		order = bytes.Compare(a.elem, b.elem)
	case a.by == nil || b.by == nil:
		order = boolCompare(a.by != nil, b.by != nil)
	case q.dst != nil:
		order = bytes.Compare(a.by, b.by)
	default:
		order = bytes.Compare(command.CText(a.by), command.CText(b.by))
	}
	if q.desc {
		return -order
	}
	return order
}

// sort orders items. Equal items keep their order.
func (q *sortQuery) sort(items []sortItem) {
	slices.SortFunc(items, func(a, b sortItem) int {
		return cmp.Or(q.compare(a, b), a.index-b.index)
	})
}

// sortRange orders items so far that [from, to) is as in the whole order.
func (q *sortQuery) sortRange(items []sortItem, from, to int) {
	partialsort.Sort(items, from, to, q.compare)
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
