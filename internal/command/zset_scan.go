package command

import (
	"math"
	"strconv"

	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func zscan(c *Ctx, args resp.Args) resp.Reply {
	cursor, ok := parseCursor(args[2])
	if !ok {
		return resp.ErrBadCursor
	}
	z, ok := readZSet(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case z == nil:
		return scanReply(0, nil)
	}
	o, failure := parseScanOptions(args[3:], false)
	if failure.IsError() {
		return failure
	}
	elems := make([]resp.Reply, 0, 2*min(o.count, z.Len()))
	packed := z.Packed()
	next := z.Scan(cursor, o.count, func(item store.ZItem) {
		if o.wants(item.Member) {
			elems = append(elems, resp.BulkString(item.Member), scanScore(item.Score, packed))
		}
	})
	return scanReply(next, elems)
}

// scanScore is a score as ZSCAN shows it, a string in RESP3 too. Redis shows
// what the listpack holds, where integers up to half of 64 bits are digits.
func scanScore(score float64, packed bool) resp.Reply {
	if packed && score == math.Trunc(score) && math.Abs(score) <= math.MaxInt64/2 {
		return resp.BulkString(strconv.FormatInt(int64(score), 10))
	}
	return resp.Bulk(resp.AppendFloat(nil, score, 17))
}
