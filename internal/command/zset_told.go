package command

import (
	"github.com/lockredis/lockredis/resp"
)

// A blocking command is told as the command that does not wait. The reply has the key.

func toldBzpopmin(c *Ctx, _ resp.Args, reply resp.Reply) { tellPop(c, wordZpopmin, reply) }
func toldBzpopmax(c *Ctx, _ resp.Args, reply resp.Reply) { tellPop(c, wordZpopmax, reply) }
