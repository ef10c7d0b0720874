package command

import (
	"math"
	"slices"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// lookupSets returns the sets under keys, nil for missing ones. ok is false
// when one of the keys holds another type.
func lookupSets(c *Ctx, keys [][]byte) (sets []*store.Set, ok bool) {
	sets = make([]*store.Set, len(keys))
	for i, key := range keys {
		if sets[i], ok = asSet(c.DB.Lookup(key)); !ok {
			return nil, false
		}
	}
	return sets, true
}

// setOperation makes one set of several. The result is not in the store.
type setOperation func(sets []*store.Set, lim *store.Limits) *store.Set

func sinter(c *Ctx, args resp.Args) resp.Reply { return answerSet(c, args, intersection) }

func sunion(c *Ctx, args resp.Args) resp.Reply { return answerSet(c, args, union) }

func sdiff(c *Ctx, args resp.Args) resp.Reply { return answerSet(c, args, difference) }

func answerSet(c *Ctx, args resp.Args, operate setOperation) resp.Reply {
	sets, ok := lookupSets(c, args[1:])
	if !ok {
		return resp.ErrWrongType
	}
	return resp.Set(setMembers(operate(sets, &c.Space.Limits))...)
}

func sinterstore(c *Ctx, args resp.Args) resp.Reply {
	return storeSet(c, args, "sinterstore", intersection)
}

func sunionstore(c *Ctx, args resp.Args) resp.Reply {
	return storeSet(c, args, "sunionstore", union)
}

func sdiffstore(c *Ctx, args resp.Args) resp.Reply {
	return storeSet(c, args, "sdiffstore", difference)
}

func storeSet(c *Ctx, args resp.Args, event string, operate setOperation) resp.Reply {
	sets, ok := lookupSets(c, args[2:])
	if !ok {
		return resp.ErrWrongType
	}
	result := operate(sets, &c.Space.Limits)
	return storeResult(c, args[1], result, result.Len(), SetClass, event)
}

// intersection goes through the smallest set.
func intersection(sets []*store.Set, lim *store.Limits) *store.Set {
	result := new(store.Set)
	eachCommon(sets, func(member []byte) bool {
		result.Add(member, lim)
		return true
	})
	return result
}

// eachCommon calls do for every member that all sets have until it returns
// false. It reorders sets.
func eachCommon(sets []*store.Set, do func(member []byte) bool) {
	if slices.Contains(sets, nil) {
		return
	}
	slices.SortStableFunc(sets, func(a, b *store.Set) int { return a.Len() - b.Len() })
	sets[0].Each(func(member []byte) bool {
		for _, other := range sets[1:] {
			if other != sets[0] && !other.Has(member) {
				return true
			}
		}
		return do(member)
	})
}

func union(sets []*store.Set, lim *store.Limits) *store.Set {
	result := new(store.Set)
	addAll(result, sets, lim)
	return result
}

func addAll(result *store.Set, sets []*store.Set, lim *store.Limits) {
	for _, s := range sets {
		if s != nil {
			s.Each(func(member []byte) bool { result.Add(member, lim); return true })
		}
	}
}

// difference either asks the other sets for each member of the first, or
// removes all their members from a copy of it, whichever promises less work.
func difference(sets []*store.Set, lim *store.Limits) *store.Set {
	result := new(store.Set)
	first := sets[0]
	if first == nil || slices.Contains(sets[1:], first) {
		return result
	}
	asking, removing := 0, 0
	for _, s := range sets {
		if s != nil {
			asking += first.Len()
			removing += s.Len()
		}
	}
	if asking/2 <= removing {
		subtractByAsking(result, sets, lim)
		return result
	}
	addAll(result, sets[:1], lim)
	for _, s := range sets[1:] {
		if s != nil && result.Len() > 0 {
			s.Each(func(member []byte) bool { result.Remove(member); return true })
		}
	}
	return result
}

// subtractByAsking asks the largest set first: it most likely ends the search.
func subtractByAsking(result *store.Set, sets []*store.Set, lim *store.Limits) {
	others := slices.DeleteFunc(slices.Clone(sets[1:]), func(s *store.Set) bool { return s == nil })
	slices.SortStableFunc(others, func(a, b *store.Set) int { return b.Len() - a.Len() })
	sets[0].Each(func(member []byte) bool {
		if !slices.ContainsFunc(others, func(s *store.Set) bool { return s.Has(member) }) {
			result.Add(member, lim)
		}
		return true
	})
}

func sintercard(c *Ctx, args resp.Args) resp.Reply {
	count, ok := resp.ParseInt(args[1])
	switch {
	case !ok || count <= 0:
		return resp.ErrNumkeysZero
	case count > int64(len(args)-2):
		return resp.ErrTooManyKeys
	}
	limit, failure := parseCardLimit(args[2+count:])
	if failure.IsError() {
		return failure
	}
	sets, ok := lookupSets(c, args[2:2+count])
	if !ok {
		return resp.ErrWrongType
	}
	n := int64(0)
	eachCommon(sets, func([]byte) bool {
		n++
		return n < limit
	})
	return resp.Int(n)
}

// parseCardLimit reads LIMIT n; zero is no limit. The last one counts.
func parseCardLimit(args resp.Args) (limit int64, failure resp.Reply) {
	for i := 0; i < len(args); i += 2 {
		if !isWord(args[i], "limit") || i+1 == len(args) {
			return 0, resp.ErrSyntax
		}
		n, ok := resp.ParseInt(args[i+1])
		if !ok || n < 0 {
			return 0, resp.ErrLimitNegative
		}
		limit = n
	}
	if limit == 0 {
		limit = math.MaxInt64
	}
	return limit, resp.NoReply
}
