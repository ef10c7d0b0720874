package hash

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

func hscan(c *command.Ctx, args resp.Args) resp.Reply {
	cursor, ok := command.ParseCursor(args[2])
	if !ok {
		return resp.ErrBadCursor
	}
	h, ok := readHash(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case h == nil:
		return command.ScanReply(0, nil)
	}
	o, failure := command.ParseScanOptions(args[3:], false)
	if failure.IsError() {
		return failure
	}
	elems := make([]resp.Reply, 0, 2*min(o.Count, h.Len()))
	next := h.Scan(cursor, o.Count, func(field, value []byte) {
		if f := resp.Bulk(field); o.Wants(f.Text()) {
			elems = append(elems, f, resp.Bulk(value))
		}
	})
	return command.ScanReply(next, elems)
}
