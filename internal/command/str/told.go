package str

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

var (
	wordSet     = []byte("SET")
	wordPersist = []byte("PERSIST")
)

func toldSet(c *command.Ctx, args resp.Args, _ resp.Reply) {
	form := forSet
	if c.Config.Valkey() {
		form = forValkeySet
	}
	o, _ := parseSetOptions(args[3:], form)
	if o.ttl != nil {
		at, _ := command.DeadlineOf(c, o.ttl, o.unit)
		if form == forValkeySet && at <= c.Space.Due {
			command.TellDeletion(c, args[1])
			return
		}
		c.Tell(wordSet, args[1], args[2], command.WordPxat, command.Digits(at))
		return
	}
	line := make(resp.Args, 0, len(args))
	for i, arg := range args {
		if i < 3 || !command.IsWord(arg, "get") {
			line = append(line, arg)
		}
	}
	c.Tell(line...)
}

func toldSetex(c *command.Ctx, args resp.Args, _ resp.Reply)  { tellSetex(c, args, command.UnitEX) }
func toldPsetex(c *command.Ctx, args resp.Args, _ resp.Reply) { tellSetex(c, args, command.UnitPX) }

func tellSetex(c *command.Ctx, args resp.Args, unit command.TTLUnit) {
	at, _ := command.DeadlineOf(c, args[2], unit)
	c.Tell(wordSet, args[1], args[3], command.WordPxat, command.Digits(at))
}

func toldGetset(c *command.Ctx, args resp.Args, _ resp.Reply) { c.Tell(wordSet, args[1], args[2]) }
func toldGetdel(c *command.Ctx, args resp.Args, _ resp.Reply) { c.Tell(command.WordDel, args[1]) }

func toldGetex(c *command.Ctx, args resp.Args, _ resp.Reply) {
	o, _ := parseSetOptions(args[2:], forGetex)
	if o.persist {
		c.Tell(wordPersist, args[1])
		return
	}
	at, _ := command.DeadlineOf(c, o.ttl, o.unit)
	if at <= c.Space.Due {
		command.TellDeletion(c, args[1])
		return
	}
	c.Tell(command.WordPexpireat, args[1], command.Digits(at))
}

func toldDelifeq(c *command.Ctx, args resp.Args, _ resp.Reply) {
	c.Tell(command.Deletion(args[1], c.Space.Lazyfree.ServerDel)...)
}

func toldMsetex(c *command.Ctx, args resp.Args, _ resp.Reply) {
	line := append(resp.Args{}, args...)
	n, _ := resp.ParseInt(args[1])
	for i := 2 + 2*int(n); i < len(line); i++ {
		if unit := command.TTLUnitOf(line[i]); unit != 0 {
			at, _ := command.DeadlineOf(c, line[i+1], unit)
			line[i], line[i+1] = command.WordPxat, command.Digits(at)
			i++
		}
	}
	c.Tell(line...)
}

func toldIncrbyfloat(c *command.Ctx, args resp.Args, reply resp.Reply) {
	c.Tell(wordSet, args[1], []byte(reply.Text()), command.WordKeepttl)
}
