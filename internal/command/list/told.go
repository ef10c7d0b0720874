package list

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	wordLmove     = []byte("LMOVE")
	wordRpoplpush = []byte("RPOPLPUSH")
)

// A blocking command is told as the command that does not wait. The reply has the key.

func toldBlpop(c *command.Ctx, _ resp.Args, reply resp.Reply) {
	command.TellPop(c, command.WordLpop, reply)
}

func toldBrpop(c *command.Ctx, _ resp.Args, reply resp.Reply) {
	command.TellPop(c, command.WordRpop, reply)
}

func toldBlmove(c *command.Ctx, args resp.Args, _ resp.Reply) {
	c.Tell(wordLmove, args[1], args[2], args[3], args[4])
}

func toldBrpoplpush(c *command.Ctx, args resp.Args, _ resp.Reply) {
	c.Tell(wordRpoplpush, args[1], args[2])
}
