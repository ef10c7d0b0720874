package command

import (
	"github.com/lockredis/lockredis/resp"
)

var (
	wordSet     = []byte("SET")
	wordPxat    = []byte("PXAT")
	wordKeepttl = []byte("KEEPTTL")
	wordPersist = []byte("PERSIST")
)

func toldSet(c *Ctx, args resp.Args, _ resp.Reply) {
	form := forSet
	if c.Config.Valkey() {
		form = forValkeySet
	}
	o, _ := parseSetOptions(args[3:], form)
	if o.ttl != nil {
		at, _ := deadlineOf(c, o.ttl, o.unit)
		if form == forValkeySet && at <= c.Now() {
			tellDeletion(c, args[1])
			return
		}
		c.Tell(wordSet, args[1], args[2], wordPxat, number(at))
		return
	}
	line := make(resp.Args, 0, len(args))
	for i, arg := range args {
		if i < 3 || !isWord(arg, "get") {
			line = append(line, arg)
		}
	}
	c.Tell(line...)
}

func toldSetex(c *Ctx, args resp.Args, _ resp.Reply)  { tellSetex(c, args, unitEX) }
func toldPsetex(c *Ctx, args resp.Args, _ resp.Reply) { tellSetex(c, args, unitPX) }

func tellSetex(c *Ctx, args resp.Args, unit ttlUnit) {
	at, _ := deadlineOf(c, args[2], unit)
	c.Tell(wordSet, args[1], args[3], wordPxat, number(at))
}

func toldGetset(c *Ctx, args resp.Args, _ resp.Reply) { c.Tell(wordSet, args[1], args[2]) }
func toldGetdel(c *Ctx, args resp.Args, _ resp.Reply) { c.Tell(wordDel, args[1]) }

func toldGetex(c *Ctx, args resp.Args, _ resp.Reply) {
	o, _ := parseSetOptions(args[2:], forGetex)
	if o.persist {
		c.Tell(wordPersist, args[1])
		return
	}
	at, _ := deadlineOf(c, o.ttl, o.unit)
	if at <= c.Now() {
		tellDeletion(c, args[1])
		return
	}
	c.Tell(wordPexpireat, args[1], number(at))
}

func toldIncrbyfloat(c *Ctx, args resp.Args, reply resp.Reply) {
	c.Tell(wordSet, args[1], []byte(reply.Text()), wordKeepttl)
}
