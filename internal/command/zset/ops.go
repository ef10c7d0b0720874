package zset

import (
	"cmp"
	"math"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var errWeightNotFloat = resp.Error("ERR weight value is not a float")

// zsetSource is an input of ZUNION, ZINTER and ZDIFF: a sorted set, or a set whose members
// count with the score 1. Both are nil for a missing key.
type zsetSource struct {
	zset   *store.ZSet
	set    *store.Set
	weight float64
}

func (s *zsetSource) size() int {
	switch {
	case s.zset != nil:
		return s.zset.Len()
	case s.set != nil:
		return s.set.Len()
	}
	return 0
}

func (s *zsetSource) score(member []byte) (score float64, ok bool) {
	switch {
	case s.zset != nil:
		return s.zset.Score(member)
	case s.set != nil:
		return 1, s.set.Has(member)
	}
	return 0, false
}

func (s *zsetSource) each(do func(member []byte, score float64) bool) {
	switch {
	case s.zset != nil:
		s.zset.Each(func(item store.ZItem) bool { return do(item.Bytes(), item.Score) })
	case s.set != nil:
		s.set.Each(func(member []byte) bool { return do(member, 1) })
	}
}

// weighted returns score times the weight, 0 if that is NaN.
func (s *zsetSource) weighted(score float64) float64 {
	score *= s.weight
	if math.IsNaN(score) {
		return 0
	}
	return score
}

// zsetOperation is a parsed ZUNION, ZINTER, ZDIFF, their STORE forms, or
// ZINTERCARD.
type zsetOperation struct {
	sources    []zsetSource
	aggregate  func(a, b float64) float64
	withScores bool
	limit      int64 // ZINTERCARD: 0 for none
}

// opOptions says which options a command has: WEIGHTS and AGGREGATE (combine), WITHSCORES
// (scores), LIMIT.
type opOptions struct{ combine, scores, limit bool }

// parseZSetOperation parses numkeys at position at, looks up the keys, and parses the
// options, in Redis's order.
func parseZSetOperation(
	c *command.Ctx, args resp.Args, at int, allow opOptions,
) (op zsetOperation, failure resp.Reply) {
	n, ok := resp.ParseInt(args[at])
	switch {
	case !ok:
		return op, resp.ErrNotInt
	case n < 1:
		return op, resp.Errorf("ERR at least 1 input key is needed for '%s' command",
			c.Cmd.Name)
	case n > int64(len(args)-at-1):
		return op, resp.ErrSyntax
	}
	op.aggregate = addScores
	op.sources = make([]zsetSource, n)
	for i := range op.sources {
		op.sources[i].weight = 1
		e := c.DB.Lookup(args[at+1+i])
		if e == nil {
			continue
		}
		switch v := e.Value().(type) {
		case *store.ZSet:
			op.sources[i].zset = v
		case *store.Set:
			op.sources[i].set = v
		default:
			return op, resp.ErrWrongType
		}
	}
	return op, op.parseOptions(args[at+1+int(n):], allow)
}

func (op *zsetOperation) parseOptions(args resp.Args, allow opOptions) (failure resp.Reply) {
	for len(args) > 0 {
		switch {
		case allow.combine && len(args) > len(op.sources) && command.IsWord(args[0], "weights"):
			for i := range op.sources {
				weight, ok := ParseScore(args[1+i])
				if !ok {
					return errWeightNotFloat
				}
				op.sources[i].weight = weight
			}
			args = args[1+len(op.sources):]
		case allow.combine && len(args) >= 2 && command.IsWord(args[0], "aggregate"):
			if op.aggregate = parseAggregate(args[1]); op.aggregate == nil {
				return resp.ErrSyntax
			}
			args = args[2:]
		case allow.scores && command.IsWord(args[0], "withscores"):
			op.withScores = true
			args = args[1:]
		case allow.limit && len(args) >= 2 && command.IsWord(args[0], "limit"):
			n, ok := resp.ParseInt(args[1])
			if !ok || n < 0 {
				return resp.ErrLimitNegative
			}
			op.limit = n
			args = args[2:]
		default:
			return resp.ErrSyntax
		}
	}
	return resp.NoReply
}

// parseAggregate parses SUM, MIN or MAX. It returns nil for any other word.
func parseAggregate(arg []byte) func(a, b float64) float64 {
	switch {
	case command.IsWord(arg, "sum"):
		return addScores
	case command.IsWord(arg, "min"):
		return func(a, b float64) float64 {
			if b < a {
				return b
			}
			return a
		}
	case command.IsWord(arg, "max"):
		return func(a, b float64) float64 {
			if b > a {
				return b
			}
			return a
		}
	}
	return nil
}

// addScores returns a + b; the sum of inf and -inf is 0.
func addScores(a, b float64) float64 {
	if sum := a + b; !math.IsNaN(sum) {
		return sum
	}
	return 0
}

// sortBySize puts the smallest source first. Redis adds the scores in this order, and with
// floating point numbers the order changes the sum.
func (op *zsetOperation) sortBySize() {
	slices.SortStableFunc(op.sources, func(a, b zsetSource) int { return cmp.Compare(a.size(), b.size()) })
}

// scoreMap collects members with their scores in the order of their insertion.
type scoreMap struct {
	index map[string]int
	items []store.ZItem
}

func (m *scoreMap) result() *store.ZSet { return store.BuildZSet(m.items) }

func unionOf(op *zsetOperation) *store.ZSet {
	op.sortBySize()
	largest := op.sources[len(op.sources)-1].size()
	m := scoreMap{index: make(map[string]int, largest), items: make([]store.ZItem, 0, largest)}
	for i := range op.sources {
		s := &op.sources[i]
		s.each(func(member []byte, score float64) bool {
			score = s.weighted(score)
			if at, has := m.index[string(member)]; has {
				m.items[at].Score = op.aggregate(m.items[at].Score, score)
				return true
			}
			name := string(member)
			m.index[name] = len(m.items)
			m.items = append(m.items, store.ZItem{Member: name, Score: score})
			return true
		})
	}
	return m.result()
}

func interOf(op *zsetOperation) *store.ZSet {
	op.sortBySize()
	var m scoreMap
	first, others := &op.sources[0], op.sources[1:]
	first.each(func(member []byte, score float64) bool {
		score = first.weighted(score)
		for i := range others {
			other, has := others[i].score(member)
			if !has {
				return true
			}
			score = op.aggregate(score, other*others[i].weight)
		}
		m.items = append(m.items, store.ZItem{Member: string(member), Score: score})
		return true
	})
	return m.result()
}

func diffOf(op *zsetOperation) *store.ZSet {
	var m scoreMap
	op.sources[0].each(func(member []byte, score float64) bool {
		for i := range op.sources[1:] {
			if _, has := op.sources[1+i].score(member); has {
				return true
			}
		}
		m.items = append(m.items, store.ZItem{Member: string(member), Score: score})
		return true
	})
	return m.result()
}

func zunion(c *command.Ctx, args resp.Args) resp.Reply { return zsetOpReply(c, args, true, unionOf) }
func zinter(c *command.Ctx, args resp.Args) resp.Reply { return zsetOpReply(c, args, true, interOf) }
func zdiff(c *command.Ctx, args resp.Args) resp.Reply  { return zsetOpReply(c, args, false, diffOf) }

func zsetOpReply(
	c *command.Ctx, args resp.Args, combine bool, run func(*zsetOperation) *store.ZSet,
) resp.Reply {
	op, failure := parseZSetOperation(c, args, 1, opOptions{combine: combine, scores: true})
	if failure.IsError() {
		return failure
	}
	z := run(&op)
	replies := make([]resp.Reply, 0, 2*z.Len())
	z.Each(func(item store.ZItem) bool {
		replies = append(replies, resp.BulkString(item.Member))
		if op.withScores {
			replies = append(replies, resp.Double(item.Score))
		}
		return true
	})
	if op.withScores {
		return command.PairedReply(c, replies)
	}
	return resp.Array(replies...)
}

func zunionstore(c *command.Ctx, args resp.Args) resp.Reply {
	return zsetOpStore(c, args, true, unionOf)
}

func zinterstore(c *command.Ctx, args resp.Args) resp.Reply {
	return zsetOpStore(c, args, true, interOf)
}

func zdiffstore(c *command.Ctx, args resp.Args) resp.Reply {
	return zsetOpStore(c, args, false, diffOf)
}

func zsetOpStore(
	c *command.Ctx, args resp.Args, combine bool, run func(*zsetOperation) *store.ZSet,
) resp.Reply {
	op, failure := parseZSetOperation(c, args, 2, opOptions{combine: combine})
	if failure.IsError() {
		return failure
	}
	z := run(&op)
	z.Fit(&c.Space.Limits)
	return c.PutResult(args[1], z, z.Len(), command.ZSetClass, c.Cmd.Name, 1)
}

func zintercard(c *command.Ctx, args resp.Args) resp.Reply {
	op, failure := parseZSetOperation(c, args, 1, opOptions{limit: true})
	if failure.IsError() {
		return failure
	}
	op.sortBySize()
	n := int64(0)
	others := op.sources[1:]
	op.sources[0].each(func(member []byte, _ float64) bool {
		for i := range others {
			if _, has := others[i].score(member); !has {
				return true
			}
		}
		n++
		return op.limit == 0 || n < op.limit
	})
	return resp.Int(n)
}
