package command

import (
	"bytes"
	"math"
	"slices"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errSortScore = resp.Error("ERR One or more scores can't be converted into double")

// sortQuery is a SORT command.
type sortQuery struct {
	desc, alpha bool
	skip        bool   // BY a pattern without a star: keep the order
	by          []byte // nil: the element itself
	get         [][]byte
	dst         []byte // nil: answer with the result
	start       int64
	count       int64 // negative: all
	subnormal   bool  // see unpacked
}

// sortItem is an element with what it is compared by.
type sortItem struct {
	elem  []byte
	by    []byte  // nil: there is no such key
	score float64 // 0 with ALPHA
	place int     // before sorting
}

func sort(c *Ctx, args resp.Args) resp.Reply   { return sortKey(c, args, true) }
func sortRO(c *Ctx, args resp.Args) resp.Reply { return sortKey(c, args, false) }

func sortKey(c *Ctx, args resp.Args, mayStore bool) resp.Reply {
	q, failure := parseSort(args, mayStore)
	if failure.IsError() {
		return failure
	}
	e := c.DB.Lookup(args[1])
	items, ok := q.items(c, e)
	if !ok {
		return resp.ErrWrongType
	}
	if !q.skip {
		if !q.weigh(c, items) {
			return errSortScore
		}
	}
	from, to := 0, len(items)
	if !q.ranged(e) {
		from, to = q.window(len(items))
	}
	switch {
	case q.skip:
	case q.by != nil && to-from < len(items):
		p := partialSort{items: items, from: from, to: to - 1, compare: q.compare}
		p.sort(0, len(items))
	default:
		items = q.sorted(items)
	}
	items = items[from:to]
	return q.answer(c, items)
}

// smallestNormal is the smallest float64 with full precision, C's DBL_MIN.
const smallestNormal = 0x1p-1022

func parseSort(args resp.Args, mayStore bool) (q sortQuery, failure resp.Reply) {
	q.count = -1
	for i := 2; i < len(args); i++ {
		left := len(args) - i - 1
		switch o := args[i]; {
		case isWord(o, "asc"):
			q.desc = false
		case isWord(o, "desc"):
			q.desc = true
		case isWord(o, "alpha"):
			q.alpha = true
		case isWord(o, "limit") && left >= 2:
			var ok, ok2 bool
			q.start, ok = resp.ParseInt(args[i+1])
			q.count, ok2 = resp.ParseInt(args[i+2])
			if !ok || !ok2 {
				return q, resp.ErrNotInt
			}
			i += 2
		case isWord(o, "store") && left >= 1 && mayStore:
			i++
			q.dst = args[i]
		case isWord(o, "by") && left >= 1:
			i++
			q.by = args[i]
			q.skip = q.skip || !bytes.ContainsRune(q.by, '*')
		case isWord(o, "get") && left >= 1:
			i++
			q.get = append(q.get, args[i])
		default:
			return q, resp.ErrSyntax
		}
	}
	return q, resp.NoReply
}

// window is the part that LIMIT leaves of n elements.
func (q *sortQuery) window(n int) (from, to int) {
	start := min(max(q.start, 0), int64(n))
	count := int64(n) - start
	if q.count >= 0 {
		count = min(count, q.count)
	}
	return int(start), int(start + count)
}

// ranged reports whether items has applied LIMIT already: where the order is
// kept, only the part asked for is read.
func (q *sortQuery) ranged(e *store.Entry) bool {
	if e == nil || !q.skip {
		return false
	}
	t := e.Value().Type()
	return t == store.TypeList || t == store.TypeZSet
}

// items reads the elements; ok is false for a value that cannot be sorted.
func (q *sortQuery) items(c *Ctx, e *store.Entry) (items []sortItem, ok bool) {
	if e == nil {
		return nil, true
	}
	add := func(elem []byte) { items = append(items, sortItem{elem: elem, place: len(items)}) }
	switch v := e.Value().(type) {
	case *store.List:
		q.listItems(v, add)
	case *store.Set:
		// What is kept or goes on to replicas must not follow the table's order.
		if q.skip && (q.dst != nil || c.InScript) {
			q.skip, q.alpha, q.by = false, true, nil
		}
		for i := range v.Len() {
			add([]byte(v.MemberAt(i)))
		}
	case *store.ZSet:
		v = q.unpacked(c, e, v)
		from, to := 0, v.Len()
		if q.skip {
			from, to = q.window(v.Len())
			if q.desc {
				from, to = v.Len()-to, v.Len()-from
			}
		}
		v.Walk(from, to, q.skip && q.desc, func(item store.ZItem) bool {
			add([]byte(item.Member))
			return true
		})
	default:
		return nil, false
	}
	return items, true
}

// unpacked converts a packed sorted set for good, which SORT does in Redis too.
// There strtod reads the scores, and what it says of a subnormal one is taken
// for a complaint about the elements.
func (q *sortQuery) unpacked(c *Ctx, e *store.Entry, packed *store.ZSet) *store.ZSet {
	if !packed.Packed() {
		return packed
	}
	lim := &store.Limits{}
	z := store.NewZSet(0, lim)
	packed.Each(func(item store.ZItem) bool {
		q.subnormal = q.subnormal || item.Score != 0 && math.Abs(item.Score) < smallestNormal
		z.Add([]byte(item.Member), item.Score, lim)
		return true
	})
	c.DB.SetValue(e, z)
	return z
}

func (q *sortQuery) listItems(l *store.List, add func([]byte)) {
	from, to, back := 0, l.Len(), false
	if q.skip {
		from, to = q.window(l.Len())
		back = q.desc
	}
	first := from
	if back {
		first = l.Len() - 1 - from
	}
	it := l.Iter(first, back)
	for ; from < to; from++ {
		elem, ok := it.Next()
		if !ok {
			return
		}
		add(elem)
	}
}

// weigh finds what each element is compared by. It reports false when a number
// is none.
func (q *sortQuery) weigh(c *Ctx, items []sortItem) bool {
	numbers := true
	for i := range items {
		item := &items[i]
		item.by = item.elem
		if q.by != nil {
			item.by = followPattern(c, q.by, item.elem)
		}
		if !q.alpha && item.by != nil {
			var ok bool
			item.score, ok = sortScore(item.by)
			numbers = numbers && ok && !q.subnormal
		}
	}
	return numbers
}

// sortScore reads a number. Integers, the usual case, take a short cut; a float64
// holds them exactly up to 2^53.
func sortScore(b []byte) (score float64, ok bool) {
	if n, isInt := resp.ParseInt(b); isInt && -1<<53 <= n && n <= 1<<53 {
		return float64(n), true
	}
	score, inRange, ok := strtod(b)
	return score, ok && inRange
}

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

// sortRef is what is moved when items are sorted: an item is four times as
// large, and its score is at hand.
type sortRef struct {
	score float64
	item  *sortItem
}

// sorted returns items in order, equal ones as they were. (A sort that is stable
// by itself moves far more.)
func (q *sortQuery) sorted(items []sortItem) []sortItem {
	keys := make([]sortRef, len(items))
	for i := range items {
		keys[i] = sortRef{items[i].score, &items[i]}
	}
	slices.SortFunc(keys, func(a, b sortRef) int {
		switch {
		case a.score < b.score && !q.desc, a.score > b.score && q.desc:
			return -1
		case a.score != b.score:
			return 1
		}
		if order := q.compare(a.item, b.item); order != 0 {
			return order
		}
		return a.item.place - b.item.place
	})
	inOrder := make([]sortItem, len(items))
	for i, k := range keys {
		inOrder[i] = *k.item
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

// answer returns the elements, or what GET makes of each, or stores them.
func (q *sortQuery) answer(c *Ctx, items []sortItem) resp.Reply {
	var list store.List
	var reply []resp.Reply
	out := func(b []byte) {
		switch {
		case q.dst != nil:
			list.PushBack(b, c.Space.Limits.ListSize)
		case b == nil:
			reply = append(reply, resp.Nil)
		default:
			reply = append(reply, resp.Bulk(b))
		}
	}
	for _, item := range items {
		if len(q.get) == 0 {
			out(item.elem)
		}
		for _, pattern := range q.get {
			out(followPattern(c, pattern, item.elem))
		}
	}
	if q.dst == nil {
		return resp.Array(reply...)
	}
	return storeResult(c, q.dst, &list, list.Len(), ListClass, "sortstore")
}

// followPattern returns the string that a BY or GET pattern leads to for an
// element: of the key with the element for the star, or of that hash's field
// behind "->". It is nil when there is none, and the element itself for "#".
func followPattern(c *Ctx, pattern, elem []byte) []byte {
	if string(pattern) == "#" {
		return elem
	}
	before, after, ok := bytes.Cut(pattern, []byte("*"))
	if !ok {
		return nil
	}
	var field []byte
	if i := bytes.Index(after, []byte("->")); i >= 0 && i+2 < len(after) {
		after, field = after[:i], after[i+2:]
	}
	e := c.DB.Lookup(slices.Concat(before, elem, after))
	if e == nil {
		return nil
	}
	switch v := e.Value().(type) {
	case *store.Hash:
		if field != nil {
			if value, ok := v.Get(field); ok {
				return append([]byte{}, value...) // an empty one is not nil
			}
		}
	case *store.String:
		if field == nil {
			return v.Bytes(nil)
		}
	}
	return nil
}
