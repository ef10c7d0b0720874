package zset

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// A blocking command is told as the command that does not wait. The reply has the key.

func toldBzpopmin(c *command.Ctx, _ resp.Args, reply resp.Reply) {
	command.TellPop(c, command.WordZpopmin, reply)
}

func toldBzpopmax(c *command.Ctx, _ resp.Args, reply resp.Reply) {
	command.TellPop(c, command.WordZpopmax, reply)
}
