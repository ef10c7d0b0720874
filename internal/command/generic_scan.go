package command

import (
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func scan(c *Ctx, args resp.Args) resp.Reply {
	cursor, ok := parseCursor(args[1])
	if !ok {
		return resp.ErrBadCursor
	}
	o, failure := parseScanOptions(args[2:], true)
	if failure.IsError() {
		return failure
	}
	var found []resp.Reply
	next := c.DB.Scan(cursor, min(o.count, c.DB.Len()), func(e *store.Entry) {
		if !o.wants(e.Key()) {
			return
		}
		if o.typed {
			c.Space.Stats.Hits++ // the type is a property that Redis looks up
		}
		if o.wantsType(e.Value()) {
			found = append(found, resp.BulkString(e.Key()))
		}
	})
	return scanReply(next, found)
}
