package set

import (
	"math"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// lookupSets returns the sets under keys, nil for missing ones. ok is false
// when one of the keys holds another type.
func lookupSets(c *command.Ctx, keys [][]byte) (sets []*store.Set, ok bool) {
	sets = make([]*store.Set, len(keys))
	for i, key := range keys {
		if sets[i], ok = command.As[*store.Set](c.DB.Lookup(key)); !ok {
			return nil, false
		}
	}
	return sets, true
}

// setOperation combines sets into a new set, which is not in the store. nil is an empty
// set.
type setOperation func(sets []*store.Set, lim *store.Limits) *store.Set

func sinter(c *command.Ctx, args resp.Args) resp.Reply {
	return answerSet(c, args, intersection, false)
}

func sunion(c *command.Ctx, args resp.Args) resp.Reply { return answerSet(c, args, union, true) }

func sdiff(c *command.Ctx, args resp.Args) resp.Reply { return answerSet(c, args, difference, true) }

// answerSet replies with the members of the result. builds says that Redis builds the result as
// a set, too, and drops it.
func answerSet(c *command.Ctx, args resp.Args, operate setOperation, builds bool) resp.Reply {
	sets, ok := lookupSets(c, args[1:])
	if !ok {
		return resp.ErrWrongType
	}
	result := operate(sets, &c.Space.Limits)
	if builds {
		c.Space.CountDropped(result)
	}
	return resp.Set(setMembers(result)...)
}

func sinterstore(c *command.Ctx, args resp.Args) resp.Reply {
	return storeSet(c, args, "sinterstore", intersection)
}

func sunionstore(c *command.Ctx, args resp.Args) resp.Reply {
	return storeSet(c, args, "sunionstore", union)
}

func sdiffstore(c *command.Ctx, args resp.Args) resp.Reply {
	return storeSet(c, args, "sdiffstore", difference)
}

func storeSet(c *command.Ctx, args resp.Args, event string, operate setOperation) resp.Reply {
	sets, ok := lookupSets(c, args[2:])
	if !ok {
		return resp.ErrWrongType
	}
	result := operate(sets, &c.Space.Limits)
	return c.PutResult(args[1], result, result.Len(), command.SetClass, event, 1)
}

// intersection returns the members that all sets have.
func intersection(sets []*store.Set, lim *store.Limits) *store.Set {
	result := new(store.Set)
	eachCommon(sets, func(member []byte) bool {
		result.Add(member, lim)
		return true
	})
	return result
}

// eachCommon calls do for every member that all sets have, until do returns false. It
// iterates over the smallest set, and sorts sets by size to find it.
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

// union returns the members that any of the sets has.
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

// difference returns the members of the first set that no other set has. It either looks up
// each member of the first set in the others, or removes the members of the others from a
// copy of the first set. It estimates the cost of both and takes the cheaper one.
func difference(sets []*store.Set, lim *store.Limits) *store.Set {
	result := new(store.Set)
	first := sets[0]
	if first == nil || slices.Contains(sets[1:], first) {
		return result
	}
	lookups, removals := 0, 0
	for _, s := range sets {
		if s != nil {
			lookups += first.Len()
			removals += s.Len()
		}
	}
	if lookups/2 <= removals {
		subtractByLookups(result, sets, lim)
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

// subtractByLookups adds the members of sets[0] that no other set has to result. It looks in
// the largest set first, which most likely has the member.
func subtractByLookups(result *store.Set, sets []*store.Set, lim *store.Limits) {
	missing := func(s *store.Set) bool { return s == nil }
	others := slices.DeleteFunc(slices.Clone(sets[1:]), missing)
	slices.SortStableFunc(others, func(a, b *store.Set) int { return b.Len() - a.Len() })
	sets[0].Each(func(member []byte) bool {
		has := func(s *store.Set) bool { return s.Has(member) }
		if !slices.ContainsFunc(others, has) {
			result.Add(member, lim)
		}
		return true
	})
}

func sintercard(c *command.Ctx, args resp.Args) resp.Reply {
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

// parseCardLimit parses LIMIT n of SINTERCARD; 0 is no limit. The last LIMIT counts.
func parseCardLimit(args resp.Args) (limit int64, failure resp.Reply) {
	for i := 0; i < len(args); i += 2 {
		if !command.IsWord(args[i], "limit") || i+1 == len(args) {
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
