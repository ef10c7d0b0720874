package generic

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var wordAbsttl = []byte("ABSTTL")

func toldExpire(c *command.Ctx, args resp.Args, _ resp.Reply)    { tellExpire(c, args, c.Now(), 1000) }
func toldPexpire(c *command.Ctx, args resp.Args, _ resp.Reply)   { tellExpire(c, args, c.Now(), 1) }
func toldExpireat(c *command.Ctx, args resp.Args, _ resp.Reply)  { tellExpire(c, args, 0, 1000) }
func toldPexpireat(c *command.Ctx, args resp.Args, _ resp.Reply) { tellExpire(c, args, 0, 1) }

func tellExpire(c *command.Ctx, args resp.Args, base, unit int64) {
	n, _ := resp.ParseInt(args[2])
	at := n*unit + base
	if at <= c.Space.Due {
		command.TellDeletion(c, args[1])
		return
	}
	line := append(resp.Args{}, args...)
	line[0], line[2] = command.WordPexpireat, command.Digits(at)
	c.Tell(line...)
}

// toldRestore tells a time to live as a deadline.
func toldRestore(c *command.Ctx, args resp.Args, _ resp.Reply) {
	ttl, _ := resp.ParseInt(args[2])
	absolute := false
	for _, option := range args[4:] {
		absolute = absolute || command.IsWord(option, "absttl")
	}
	if v, _ := c.DB.Value(string(args[1])); v == nil {
		command.TellDeletion(c, args[1])
		return
	}
	if ttl == 0 || absolute {
		c.Tell(args...)
		return
	}
	line := append(append(resp.Args{}, args...), wordAbsttl)
	line[2] = command.Digits(ttl + c.Now())
	c.Tell(line...)
}
