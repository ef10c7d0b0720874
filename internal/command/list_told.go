package command

import (
	"github.com/lockredis/lockredis/resp"
)

var (
	wordLmove     = []byte("LMOVE")
	wordRpoplpush = []byte("RPOPLPUSH")
)

// A blocking command is told as the command that does not wait. The reply has the key.

func toldBlpop(c *Ctx, _ resp.Args, reply resp.Reply) { tellPop(c, wordLpop, reply) }
func toldBrpop(c *Ctx, _ resp.Args, reply resp.Reply) { tellPop(c, wordRpop, reply) }

func toldBlmove(c *Ctx, args resp.Args, _ resp.Reply) {
	c.Tell(wordLmove, args[1], args[2], args[3], args[4])
}

func toldBrpoplpush(c *Ctx, args resp.Args, _ resp.Reply) { c.Tell(wordRpoplpush, args[1], args[2]) }
