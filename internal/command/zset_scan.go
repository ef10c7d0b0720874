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

// scanScore is a score in a ZSCAN reply: a string, also in RESP3. As in Redis, a packed sorted
// set shows integers up to half of the largest int64 without an exponent.
func scanScore(score float64, packed bool) resp.Reply {
	if packed && score == math.Trunc(score) && math.Abs(score) <= math.MaxInt64/2 {
		return resp.BulkString(strconv.FormatInt(int64(score), 10))
	}
	return resp.Bulk(resp.AppendFloat(nil, score, 17))
}
