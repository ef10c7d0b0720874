package set

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var wordSrem = []byte("SREM")

// toldSpop names the members.
func toldSpop(c *command.Ctx, args resp.Args, reply resp.Reply) {
	if len(args) == 2 {
		c.Tell(wordSrem, args[1], []byte(reply.Text()))
		return
	}
	if v, _ := c.DB.Value(string(args[1])); v == nil {
		c.Tell(command.WordDel, args[1])
		return
	}
	for _, member := range reply.Elems() {
		c.Tell(wordSrem, args[1], []byte(member.Text()))
	}
}
