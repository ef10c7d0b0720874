package acl

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// shownRefusals is how many entries ACL LOG shows without a number.
const shownRefusals = 10

func aclLog(c *command.Ctx, args resp.Args) resp.Reply {
	n := int64(shownRefusals)
	switch {
	case len(args) > 3:
		return resp.ErrSubcommandSyntax(args.String(1), args.String(0))
	case len(args) == 3 && command.IsWord(args[2], "reset"):
		c.ACLLog.Reset()
		return resp.OK
	case len(args) == 3:
		var ok bool
		if n, ok = resp.ParseInt(args[2]); !ok {
			return resp.ErrNotInt
		}
	}
	var entries []resp.Reply
	for _, e := range c.ACLLog.Entries(n) {
		entries = append(entries, resp.Map(
			resp.BulkString("count"), resp.Int(int64(e.Count)),
			resp.BulkString("reason"), resp.BulkString(e.Reason.String()),
			resp.BulkString("context"), resp.BulkString(string(e.Context)),
			resp.BulkString("object"), resp.BulkString(e.Object),
			resp.BulkString("username"), resp.BulkString(e.User),
			resp.BulkString("age-seconds"), resp.Double(float64(c.Now()-e.At)/1000),
			resp.BulkString("client-info"), resp.BulkString(e.Client)))
	}
	return resp.Array(entries...)
}
