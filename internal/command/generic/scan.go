package generic

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

func scan(c *command.Ctx, args resp.Args) resp.Reply {
	cursor, ok := command.ParseCursor(args[1])
	if !ok {
		return resp.ErrBadCursor
	}
	o, failure := command.ParseScanOptions(args[2:], true)
	if failure.IsError() {
		return failure
	}
	var found []resp.Reply
	next := c.DB.Scan(cursor, min(o.Count, c.DB.Len()), func(e *store.Entry) {
		if !o.Wants(e.Key()) {
			return
		}
		if o.Typed {
			c.Space.Stats.Hits++ // the type is a property that Redis looks up
		}
		if o.WantsType(e.Value()) {
			found = append(found, resp.BulkString(e.Key()))
		}
	})
	return command.ScanReply(next, found)
}
