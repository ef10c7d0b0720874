package hash

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var wordHset = []byte("HSET")

func toldHincrbyfloat(c *command.Ctx, args resp.Args, reply resp.Reply) {
	c.Tell(wordHset, args[1], args[2], []byte(reply.Text()))
}
