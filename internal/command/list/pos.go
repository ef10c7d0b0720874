package list

import (
	"math"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

var (
	errRankZero = resp.Error("ERR RANK can't be zero: use 1 to start from the first match, " +
		"2 from the second ... or use negative to start from the end of the list")
	errCountNegative  = resp.Error("ERR COUNT can't be negative")
	errMaxlenNegative = resp.Error("ERR MAXLEN can't be negative")
)

// posOptions are the options of LPOS.
type posOptions struct {
	skip      int64 // matches to skip
	backwards bool  // search from the tail
	count     int64 // -1: one match, as an integer; 0: all matches
	maxlen    int64 // elements to compare; 0: all
}

func parsePosOptions(args resp.Args) (o posOptions, failure resp.Reply) {
	o.count = -1
	minRank := false // RANK is the smallest int64, which C cannot negate
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			return o, resp.ErrSyntax
		}
		n, ok := resp.ParseInt(args[i+1])
		switch {
		case command.IsWord(args[i], "rank"):
			switch {
			case !ok:
				return o, resp.ErrNotInt
			case n == 0:
				return o, errRankZero
			}
			o.backwards = n < 0
			if n == math.MinInt64 {
				minRank = true
				break
			}
			o.skip = max(n, -n) - 1
		case command.IsWord(args[i], "count"):
			if !ok || n < 0 {
				return o, errCountNegative
			}
			o.count = n
		case command.IsWord(args[i], "maxlen"):
			if !ok || n < 0 {
				return o, errMaxlenNegative
			}
			o.maxlen = n
		default:
			return o, resp.ErrSyntax
		}
	}
	if minRank && o.count > 0 {
		o.count = 0 // in Redis the number of matches overflows and never reaches COUNT
	}
	return o, resp.NoReply
}

func lpos(c *command.Ctx, args resp.Args) resp.Reply {
	o, failure := parsePosOptions(args[3:])
	if failure.IsError() {
		return failure
	}
	l, ok := command.As[*store.List](c.DB.Lookup(args[1]))
	if !ok {
		return resp.ErrWrongType
	}
	if l == nil {
		return posReply(o, nil)
	}
	left := int64(l.Len())
	if o.maxlen > 0 {
		left = min(left, o.maxlen)
	}
	at, step := 0, 1
	if o.backwards {
		at, step = l.Len()-1, -1
	}
	var found []resp.Reply
	it := l.Iter(at, o.backwards)
	for ; left > 0; left-- {
		if elem, _ := it.Next(); string(elem) == string(args[2]) {
			if o.skip--; o.skip < 0 {
				found = append(found, resp.Int(int64(at)))
				if o.count < 0 || int64(len(found)) == o.count {
					break
				}
			}
		}
		at += step
	}
	return posReply(o, found)
}

// posReply is an array with COUNT, else the single match or nil.
func posReply(o posOptions, found []resp.Reply) resp.Reply {
	switch {
	case o.count >= 0:
		return resp.Array(found...)
	case len(found) == 0:
		return resp.Nil
	}
	return found[0]
}
