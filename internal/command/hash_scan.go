package command

import "github.com/lockredis/lockredis/resp"

func hscan(c *Ctx, args resp.Args) resp.Reply {
	cursor, ok := parseCursor(args[2])
	if !ok {
		return resp.ErrBadCursor
	}
	h, ok := readHash(c, args[1])
	switch {
	case !ok:
		return resp.ErrWrongType
	case h == nil:
		return scanReply(0, nil)
	}
	o, failure := parseScanOptions(args[3:], false)
	if failure.IsError() {
		return failure
	}
	elems := make([]resp.Reply, 0, 2*min(o.count, h.Len()))
	next := h.Scan(cursor, o.count, func(field, value []byte) {
		if f := resp.Bulk(field); o.wants(f.Text()) {
			elems = append(elems, f, resp.Bulk(value))
		}
	})
	return scanReply(next, elems)
}
