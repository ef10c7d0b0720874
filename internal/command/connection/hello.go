package connection

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// HelloAs returns HELLO for a node whose mode is not "standalone". Such a node has no role.
func HelloAs(mode string) command.Func {
	return func(c *command.Ctx, args resp.Args) resp.Reply {
		reply := hello(c, args)
		if reply.IsError() {
			return reply
		}
		fields := reply.Elems()
		var kept []resp.Reply
		for i := 0; i < len(fields); i += 2 {
			switch name, value := fields[i], fields[i+1]; name.Text() {
			case "role":
			case "mode":
				kept = append(kept, name, resp.BulkString(mode))
			default:
				kept = append(kept, name, value)
			}
		}
		return resp.Map(kept...)
	}
}
