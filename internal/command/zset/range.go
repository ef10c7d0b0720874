package zset

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errLimitByRank = resp.Error("ERR syntax error, " +
		"LIMIT is only supported in combination with either BYSCORE or BYLEX")
	errScoresByLex = resp.Error("ERR syntax error, " +
		"WITHSCORES not supported in combination with BYLEX")
	errMinMaxNotFloat = resp.Error("ERR min or max is not a float")
	errMinMaxNotLex   = resp.Error("ERR min or max not valid string range item")
)

// rangeKind is the kind of a range's bounds.
type rangeKind uint8

const (
	byDefault rangeKind = iota // byRank unless there is a BYSCORE or BYLEX
	byRank
	byScore
	byLex
)

// zrangeQuery is a parsed command of the ZRANGE family.
type zrangeQuery struct {
	kind          rangeKind
	reverse       bool
	withScores    bool
	offset, limit int64 // limit -1: all

	start, end int64 // byRank
	scores     store.ScoreRange
	lex        store.LexRange
}

func zrange(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeReply(c, args, zrangeQuery{}, true)
}

func zrevrange(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeReply(c, args, zrangeQuery{kind: byRank, reverse: true}, false)
}

func zrangebyscore(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeReply(c, args, zrangeQuery{kind: byScore}, false)
}

func zrevrangebyscore(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeReply(c, args, zrangeQuery{kind: byScore, reverse: true}, false)
}

func zrangebylex(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeReply(c, args, zrangeQuery{kind: byLex}, false)
}

func zrevrangebylex(c *command.Ctx, args resp.Args) resp.Reply {
	return rangeReply(c, args, zrangeQuery{kind: byLex, reverse: true}, false)
}

func rangeReply(c *command.Ctx, args resp.Args, q zrangeQuery, unified bool) resp.Reply {
	if failure := q.parse(args[2:], unified, false); failure.IsError() {
		return failure
	}
	z, reply := command.Reading[*store.ZSet](c, args[1], resp.EmptyArray)
	if z == nil {
		return reply
	}
	from, to := q.ranks(z)
	if q.withScores {
		flat := make([]resp.Reply, 0, 2*(to-from))
		z.Walk(from, to, q.reverse, func(item store.ZItem) bool {
			flat = append(flat, resp.BulkString(item.Member), resp.Double(item.Score))
			return true
		})
		return command.PairedReply(c, flat)
	}
	members := make([]resp.Reply, 0, to-from)
	z.Walk(from, to, q.reverse, func(item store.ZItem) bool {
		members = append(members, resp.BulkString(item.Member))
		return true
	})
	return resp.Array(members...)
}

func zrangestore(c *command.Ctx, args resp.Args) resp.Reply {
	var q zrangeQuery
	if failure := q.parse(args[3:], true, true); failure.IsError() {
		return failure
	}
	z, ok := Read(c, args[2])
	if !ok {
		return resp.ErrWrongType
	}
	result := &store.ZSet{}
	if z != nil {
		from, to := q.ranks(z)
		lim := &c.Space.Limits
		// By score or lex Redis does not know the size of the result at this point.
		if q.kind == byRank && to-from > lim.ZSetEntries {
			result = store.NewZSet(math.MaxInt, lim)
		}
		z.Walk(from, to, q.reverse, func(item store.ZItem) bool {
			result.Add(item.Bytes(), item.Score, lim)
			return true
		})
	}
	return c.PutResult(args[1], result, result.Len(), command.ZSetClass, "zrangestore", 1)
}

// parse parses the bounds of the range and the options behind them. unified allows REV,
// BYSCORE and BYLEX: the syntax of ZRANGE and ZRANGESTORE.
func (q *zrangeQuery) parse(args resp.Args, unified, storing bool) (failure resp.Reply) {
	q.limit = -1
	for i := 2; i < len(args); i++ {
		switch {
		case !storing && command.IsWord(args[i], "withscores"):
			q.withScores = true
		case command.IsWord(args[i], "limit") && i+2 < len(args):
			offset, ok1 := resp.ParseInt(args[i+1])
			limit, ok2 := resp.ParseInt(args[i+2])
			if !ok1 || !ok2 {
				return resp.ErrNotInt
			}
			q.offset, q.limit = offset, limit
			i += 2
		case unified && !q.reverse && command.IsWord(args[i], "rev"):
			q.reverse = true
		case q.kind == byDefault && command.IsWord(args[i], "bylex"):
			q.kind = byLex
		case q.kind == byDefault && command.IsWord(args[i], "byscore"):
			q.kind = byScore
		default:
			return resp.ErrSyntax
		}
	}
	if q.kind == byDefault {
		q.kind = byRank
	}
	switch {
	case q.limit != -1 && q.kind == byRank:
		return errLimitByRank
	case q.withScores && q.kind == byLex:
		return errScoresByLex
	}
	return q.parseBounds(args[0], args[1])
}

// parseBounds parses the bounds. A reverse range by score or lex has its upper bound first.
func (q *zrangeQuery) parseBounds(first, second []byte) (failure resp.Reply) {
	low, high := first, second
	if q.reverse {
		low, high = second, first
	}
	var ok bool
	switch q.kind {
	case byScore:
		if q.scores, ok = parseScoreRange(low, high); !ok {
			return errMinMaxNotFloat
		}
	case byLex:
		if q.lex, ok = parseLexRange(low, high); !ok {
			return errMinMaxNotLex
		}
	default:
		if q.start, q.end, ok = command.ParseRange(first, second); !ok {
			return resp.ErrNotInt
		}
	}
	return resp.NoReply
}

// ranks returns the range of ranks [from, to) that the query selects.
func (q *zrangeQuery) ranks(z *store.ZSet) (from, to int) {
	switch q.kind {
	case byScore:
		from, to = z.ByScore(&q.scores)
	case byLex:
		if q.offset < 0 {
			return 0, 0
		}
		skip := int(min(q.offset, int64(z.Len())))
		if from, to = z.ByLex(&q.lex, q.reverse, skip); from == to {
			return 0, 0
		}
		return q.applyLimit(from, to, 0)
	default:
		from, to = command.ClampRange(q.start, q.end, z.Len())
		if q.reverse {
			from, to = z.Len()-to, z.Len()-from
		}
		return from, to
	}
	if from >= to || q.offset < 0 || q.offset >= int64(to-from) {
		return from, from
	}
	return q.applyLimit(from, to, int(q.offset))
}

// applyLimit applies LIMIT to the ranks [from, to).
func (q *zrangeQuery) applyLimit(from, to, offset int) (int, int) {
	length := to - from - offset
	if q.limit >= 0 {
		length = int(min(int64(length), q.limit))
	}
	if q.reverse {
		to -= offset
		return to - length, to
	}
	from += offset
	return from, from + length
}

func parseScoreRange(low, high []byte) (r store.ScoreRange, ok bool) {
	if r.Min, r.MinExclusive, ok = parseScoreBound(low); !ok {
		return r, false
	}
	r.Max, r.MaxExclusive, ok = parseScoreBound(high)
	return r, ok
}

// parseScoreBound parses a bound of a score range as C's strtod does. It accepts more than
// ParseScore: leading white space, numbers that are too large, and empty input, which is 0.
func parseScoreBound(b []byte) (score float64, exclusive, ok bool) {
	if len(b) > 0 && b[0] == '(' {
		b, exclusive = b[1:], true
	}
	if score, ok = ParseScore(b); ok {
		return score, exclusive, true
	}
	score, _, ok = command.Strtod(b)
	return score, exclusive, ok
}

func parseLexRange(low, high []byte) (r store.LexRange, ok bool) {
	if r.Min, ok = parseLexBound(low); !ok {
		return r, false
	}
	r.Max, ok = parseLexBound(high)
	return r, ok
}

func parseLexBound(b []byte) (bound store.LexBound, ok bool) {
	switch {
	case len(b) == 0:
		return bound, false
	case b[0] == '(' || b[0] == '[':
		return store.LexBound{Member: b[1:], Exclusive: b[0] == '('}, true
	case string(b) == "-":
		return store.LexBound{Infinite: -1}, true
	}
	return store.LexBound{Infinite: 1}, string(b) == "+"
}

func zcount(c *command.Ctx, args resp.Args) resp.Reply {
	return countRange(c, args, zrangeQuery{kind: byScore, limit: -1})
}

func zlexcount(c *command.Ctx, args resp.Args) resp.Reply {
	return countRange(c, args, zrangeQuery{kind: byLex, limit: -1})
}

func countRange(c *command.Ctx, args resp.Args, q zrangeQuery) resp.Reply {
	if failure := q.parseBounds(args[2], args[3]); failure.IsError() {
		return failure
	}
	z, reply := command.Reading[*store.ZSet](c, args[1], resp.Int(0))
	if z == nil {
		return reply
	}
	from, to := q.ranks(z)
	return resp.Int(int64(to - from))
}

func zremrangebyscore(c *command.Ctx, args resp.Args) resp.Reply {
	return removeRange(c, args, zrangeQuery{kind: byScore, limit: -1}, "zremrangebyscore")
}

func zremrangebyrank(c *command.Ctx, args resp.Args) resp.Reply {
	return removeRange(c, args, zrangeQuery{kind: byRank, limit: -1}, "zremrangebyrank")
}

func zremrangebylex(c *command.Ctx, args resp.Args) resp.Reply {
	return removeRange(c, args, zrangeQuery{kind: byLex, limit: -1}, "zremrangebylex")
}

func removeRange(c *command.Ctx, args resp.Args, q zrangeQuery, event string) resp.Reply {
	if failure := q.parseBounds(args[2], args[3]); failure.IsError() {
		return failure
	}
	e, z, reply := command.Writing[*store.ZSet](c, args[1], resp.Int(0))
	if z == nil {
		return reply
	}
	from, to := q.ranks(z)
	if from < to {
		z.RemoveRange(from, to)
		c.Change(e, command.ZSetClass, event, int64(to-from))
	}
	return resp.Int(int64(to - from))
}
