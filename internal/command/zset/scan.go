package zset

import (
	"math"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func zscan(c *command.Ctx, args resp.Args) resp.Reply {
	cursor, ok := command.ParseCursor(args[2])
	if !ok {
		return resp.ErrBadCursor
	}
	z, ok := Read(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case z == nil:
		return command.ScanReply(0, nil)
	}
	o, failure := command.ParseScanOptions(args[3:], false)
	if failure.IsError() {
		return failure
	}
	elems := make([]resp.Reply, 0, 2*min(o.Count, z.Len()))
	packed := z.Packed()
	next := z.Scan(cursor, o.Count, func(item store.ZItem) {
		if o.Wants(item.Member) {
			elems = append(elems, resp.BulkString(item.Member), scanScore(item.Score, packed))
		}
	})
	return command.ScanReply(next, elems)
}

// scanScore is a score in a ZSCAN reply: a string, also in RESP3. As in Redis, a packed sorted
// set shows integers up to half of the largest int64 without an exponent.
func scanScore(score float64, packed bool) resp.Reply {
	if packed && score == math.Trunc(score) && math.Abs(score) <= math.MaxInt64/2 {
		return resp.BulkString(strconv.FormatInt(int64(score), 10))
	}
	return resp.Bulk(resp.AppendFloat(nil, score, 17))
}
