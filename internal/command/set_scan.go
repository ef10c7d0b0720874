package command

import "github.com/lockredis/lockredis/resp"

func sscan(c *Ctx, args resp.Args) resp.Reply {
	cursor, ok := parseCursor(args[2])
	if !ok {
		return resp.ErrBadCursor
	}
	s, ok := asSet(c.DB.Lookup(args[1]))
	switch {
	case !ok:
		return resp.ErrWrongType
	case s == nil:
		return scanReply(0, nil)
	}
	o, failure := parseScanOptions(args[3:], false)
	if failure.IsError() {
		return failure
	}
	elems := make([]resp.Reply, 0, min(o.count, s.Len()))
	next := s.Scan(cursor, o.count, func(member string) {
		if o.wants(member) {
			elems = append(elems, resp.BulkString(member))
		}
	})
	return scanReply(next, elems)
}
