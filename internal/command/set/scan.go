package set

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func sscan(c *command.Ctx, args resp.Args) resp.Reply {
	cursor, ok := command.ParseCursor(args[2])
	if !ok {
		return resp.ErrBadCursor
	}
	s, ok := command.As[*store.Set](c.DB.Lookup(args[1]))
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return command.ScanReply(0, nil)
	}
	o, failure := command.ParseScanOptions(args[3:], false)
	if failure.IsError() {
		return failure
	}
	elems := make([]resp.Reply, 0, min(o.Count, s.Len()))
	next := s.Scan(cursor, o.Count, func(member string) {
		if o.Wants(member) {
			elems = append(elems, resp.BulkString(member))
		}
	})
	return command.ScanReply(next, elems)
}
