package command

import (
	"github.com/lockredis/lockredis/resp"
)

var wordAbsttl = []byte("ABSTTL")

func toldExpire(c *Ctx, args resp.Args, _ resp.Reply)    { tellExpire(c, args, c.Now(), 1000) }
func toldPexpire(c *Ctx, args resp.Args, _ resp.Reply)   { tellExpire(c, args, c.Now(), 1) }
func toldExpireat(c *Ctx, args resp.Args, _ resp.Reply)  { tellExpire(c, args, 0, 1000) }
func toldPexpireat(c *Ctx, args resp.Args, _ resp.Reply) { tellExpire(c, args, 0, 1) }

func tellExpire(c *Ctx, args resp.Args, base, unit int64) {
	n, _ := resp.ParseInt(args[2])
	at := n*unit + base
	if at <= c.Now() {
		tellDeletion(c, args[1])
		return
	}
	line := append(resp.Args{}, args...)
	line[0], line[2] = wordPexpireat, number(at)
	c.Tell(line...)
}

// toldRestore tells a time to live as a deadline.
func toldRestore(c *Ctx, args resp.Args, _ resp.Reply) {
	ttl, _ := resp.ParseInt(args[2])
	absolute := false
	for _, option := range args[4:] {
		absolute = absolute || isWord(option, "absttl")
	}
	if v, _ := c.DB.Holds(string(args[1])); v == nil {
		tellDeletion(c, args[1])
		return
	}
	if ttl == 0 || absolute {
		c.Tell(args...)
		return
	}
	line := append(append(resp.Args{}, args...), wordAbsttl)
	line[2] = number(ttl + c.Now())
	c.Tell(line...)
}
