package generic

import (
	"bytes"
	"math"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errSortScore = resp.Error("ERR One or more scores can't be converted into double")
	errSortBy    = resp.Error("ERR BY option of SORT denied due to insufficient ACL permissions.")
	errSortGet   = resp.Error("ERR GET option of SORT denied due to insufficient ACL permissions.")
)

// sortQuery is a parsed SORT command.
type sortQuery struct {
	desc, alpha bool
	keepOrder   bool   // BY has a pattern without *
	by          []byte // nil: the element itself
	get         [][]byte
	dst         []byte // nil: reply with the elements
	start       int64
	count       int64 // negative: all
	subnormal   bool  // see convertPacked
}

// sortItem is an element and its sort key.
type sortItem struct {
	elem  []byte
	by    []byte  // sort key; nil: the key that BY names has no such value
	score float64 // by as a number; 0 with ALPHA
	index int     // position before sorting
}

// sortStoreKey finds the destination of SORT's last STORE option in a command line. It is
// the Refine of a spec that finds no keys.
func sortStoreKey(line resp.Args, _ []command.KeyPos) []command.KeyPos {
	var found []command.KeyPos
	for i := 2; i < len(line); i++ {
		switch {
		case command.IsWord(line[i], "limit"):
			i += 2
		case command.IsWord(line[i], "get"), command.IsWord(line[i], "by"):
			i++
		case command.IsWord(line[i], "store") && i+1 < len(line): // as in Redis, the key may be the next "store"
			found = []command.KeyPos{{At: i + 1, Flags: command.OW | command.Update}}
		}
	}
	return found
}

func sortAndStore(c *command.Ctx, args resp.Args) resp.Reply { return sortElements(c, args, true) }
func sortRO(c *command.Ctx, args resp.Args) resp.Reply       { return sortElements(c, args, false) }

func sortElements(c *command.Ctx, args resp.Args, mayStore bool) resp.Reply {
	q, failure := parseSort(c, args, mayStore)
	if failure.IsError() {
		return failure
	}
	e := c.DB.Lookup(args[1])
	items, ok := q.items(c, e)
	if !ok {
		return resp.ErrWrongType
	}
	if !q.keepOrder && !q.readSortKeys(c, items) {
		return errSortScore
	}
	from, to := 0, len(items)
	if !q.limitApplied(e) {
		from, to = q.window(len(items))
	}
	switch {
	case q.keepOrder:
	case q.by != nil && to-from < len(items):
		q.sortRange(items, from, to)
	default:
		q.sort(items)
	}
	items = items[from:to]
	return q.answer(c, items)
}

func parseSort(c *command.Ctx, args resp.Args, mayStore bool) (q sortQuery, failure resp.Reply) {
	q.count = -1
	for i := 2; i < len(args); i++ {
		left := len(args) - i - 1
		switch o := args[i]; {
		case command.IsWord(o, "asc"):
			q.desc = false
		case command.IsWord(o, "desc"):
			q.desc = true
		case command.IsWord(o, "alpha"):
			q.alpha = true
		case command.IsWord(o, "limit") && left >= 2:
			var ok, ok2 bool
			q.start, ok = resp.ParseInt(args[i+1])
			q.count, ok2 = resp.ParseInt(args[i+2])
			if !ok || !ok2 {
				return q, resp.ErrNotInt
			}
			i += 2
		case command.IsWord(o, "store") && left >= 1 && mayStore:
			i++
			q.dst = args[i]
		case command.IsWord(o, "by") && left >= 1:
			i++
			q.by = args[i]
			plain := !bytes.ContainsRune(q.by, '*')
			if !plain && c.Cluster != nil {
				return q, errClusterBy
			}
			if !plain && !command.ReadsAnyKey(c, args) {
				return q, errSortBy
			}
			q.keepOrder = q.keepOrder || plain
		case command.IsWord(o, "get") && left >= 1:
			if c.Cluster != nil {
				return q, errClusterGet
			}
			if !command.ReadsAnyKey(c, args) {
				return q, errSortGet
			}
			i++
			q.get = append(q.get, args[i])
		default:
			return q, resp.ErrSyntax
		}
	}
	return q, resp.NoReply
}

// window applies LIMIT to n elements: it returns the range [from, to).
func (q *sortQuery) window(n int) (from, to int) {
	start := min(max(q.start, 0), int64(n))
	count := int64(n) - start
	if q.count >= 0 {
		count = min(count, q.count)
	}
	return int(start), int(start + count)
}

// limitApplied reports whether items has already applied LIMIT. It does so for lists and
// sorted sets whose order is kept, to read only the requested part.
func (q *sortQuery) limitApplied(e *store.Entry) bool {
	if e == nil || !q.keepOrder {
		return false
	}
	t := e.Value().Type()
	return t == store.TypeList || t == store.TypeZSet
}

// items reads the elements of e, none if e is nil. ok is false for a type that SORT refuses.
func (q *sortQuery) items(c *command.Ctx, e *store.Entry) (items []sortItem, ok bool) {
	if e == nil {
		return nil, true
	}
	add := func(elem []byte) { items = append(items, sortItem{elem: elem, index: len(items)}) }
	switch v := e.Value().(type) {
	case *store.List:
		q.listItems(v, add)
	case *store.Set:
		// As in Redis, a result that is stored or that a script sees is sorted: it must not
		// depend on the order of a hash table.
		if q.keepOrder && (q.dst != nil || c.InScript()) {
			q.keepOrder, q.alpha, q.by = false, true, nil
		}
		for i := range v.Len() {
			add([]byte(v.MemberAt(i)))
		}
	case *store.ZSet:
		v = q.convertPacked(c, e, v)
		from, to := 0, v.Len()
		if q.keepOrder {
			from, to = q.window(v.Len())
			if q.desc {
				from, to = v.Len()-to, v.Len()-from
			}
		}
		v.Walk(from, to, q.keepOrder && q.desc, func(item store.ZItem) bool {
			add([]byte(item.Member))
			return true
		})
	default:
		return nil, false
	}
	return items, true
}

// convertPacked converts a packed sorted set permanently, as SORT does in Redis. There it
// parses the scores with strtod, which reports ERANGE for a subnormal score, and SORT then
// refuses the sort keys that it parses because of that error. q.subnormal remembers it.
func (q *sortQuery) convertPacked(c *command.Ctx, e *store.Entry, packed *store.ZSet) *store.ZSet {
	if !packed.Packed() {
		return packed
	}
	lim := &store.Limits{}
	z := store.NewZSet(0, lim)
	packed.Each(func(item store.ZItem) bool {
		q.subnormal = q.subnormal || item.Score != 0 && math.Abs(item.Score) < command.SmallestNormal
		z.Add([]byte(item.Member), item.Score, lim)
		return true
	})
	c.DB.SetValue(e, z)
	return z
}

// listItems calls add for the elements of l. When the order is kept, it applies LIMIT.
func (q *sortQuery) listItems(l *store.List, add func([]byte)) {
	from, to, backwards := 0, l.Len(), false
	if q.keepOrder {
		from, to = q.window(l.Len())
		backwards = q.desc
	}
	first := from
	if backwards {
		first = l.Len() - 1 - from
	}
	it := l.Iter(first, backwards)
	for ; from < to; from++ {
		elem, ok := it.Next()
		if !ok {
			return
		}
		add(elem)
	}
}

// readSortKeys sets by and score of each item. It returns false when a sort key should be a
// number and is not.
func (q *sortQuery) readSortKeys(c *command.Ctx, items []sortItem) bool {
	numbers := true
	for i := range items {
		item := &items[i]
		item.by = item.elem
		isInt := false
		if q.by != nil {
			item.by, isInt = patternValue(c, q.by, item.elem)
		}
		if !q.alpha && item.by != nil {
			var ok bool
			item.score, ok = sortScore(item.by)
			numbers = numbers && ok && (isInt || !q.subnormal)
		}
	}
	return numbers
}

// sortScore parses a sort key as a number. Integers are the usual case and need no strtod: a
// float64 holds them exactly up to 2^53.
func sortScore(b []byte) (score float64, ok bool) {
	if n, isInt := resp.ParseInt(b); isInt && -1<<53 <= n && n <= 1<<53 {
		return float64(n), true
	}
	score, inRange, ok := command.Strtod(b)
	return score, ok && inRange
}

// answer replies with the elements, or with the values that the GET patterns name. With
// STORE it stores them as a list and replies with its length. Redis gives that list the
// default limits, whatever the directives are.
func (q *sortQuery) answer(c *command.Ctx, items []sortItem) resp.Reply {
	lim := store.DefaultLimits()
	list := store.NewList(&lim)
	var reply []resp.Reply
	out := func(b []byte) {
		switch {
		case q.dst != nil:
			list.PushBack(b)
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
			value, _ := patternValue(c, pattern, item.elem)
			out(value)
		}
	}
	if q.dst == nil {
		return resp.Array(reply...)
	}
	return c.PutResult(q.dst, list, list.Len(), command.ListClass, "sortstore", int64(list.Len()))
}

// patternValue returns the string that a BY or GET pattern names for elem. The pattern is a
// key in which elem replaces the first *; "->" and a field behind it name a value in a hash.
// The result is nil if there is no such string, and elem itself for the pattern "#". isInt
// reports whether Redis keeps the string as an integer, so that SORT need not parse it.
func patternValue(c *command.Ctx, pattern, elem []byte) (value []byte, isInt bool) {
	if string(pattern) == "#" {
		return elem, false
	}
	before, after, ok := bytes.Cut(pattern, []byte("*"))
	if !ok {
		return nil, false
	}
	var field []byte
	if i := bytes.Index(after, []byte("->")); i >= 0 && i+2 < len(after) {
		after, field = after[:i], after[i+2:]
	}
	e := c.DB.Lookup(slices.Concat(before, elem, after))
	if e == nil {
		return nil, false
	}
	switch v := e.Value().(type) {
	case *store.Hash:
		if field != nil {
			if value, ok := v.Get(field); ok {
				_, isInt = resp.ParseInt(value)
				return append([]byte{}, value...), isInt && v.Packed() // an empty value is not nil
			}
		}
	case *store.String:
		if field == nil {
			return v.Bytes(nil), v.IsInt()
		}
	}
	return nil, false
}

var (
	errClusterBy  = resp.Error("ERR BY option of SORT denied in Cluster mode.")
	errClusterGet = resp.Error("ERR GET option of SORT denied in Cluster mode.")
)
