package stream

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// toldXadd tells the id of the new entry, and what a trim has left.
func toldXadd(c *command.Ctx, args resp.Args, reply resp.Reply) {
	o, _ := parseXadd(c, args)
	line := exactTrim(c, args, o.next)
	if !o.idGiven || !o.seqGiven {
		line[o.next] = []byte(reply.Text())
	}
	c.Tell(line...)
}

func toldXtrim(c *command.Ctx, args resp.Args, _ resp.Reply) {
	c.Tell(exactTrim(c, args, len(args))...)
}

// exactTrim returns a copy of a line of XADD or XTRIM. A trim that is about what is asked for, in
// an option before args[end], is what it has left.
func exactTrim(c *command.Ctx, args resp.Args, end int) resp.Args {
	line := append(resp.Args{}, args...)
	for i := 2; i+2 < end; i++ {
		if (command.IsWord(args[i], "maxlen") || command.IsWord(args[i], "minid")) && string(args[i+1]) == "~" {
			v, _ := c.DB.Value(string(args[1]))
			s := v.(*store.Stream)
			line[i+1] = []byte("=")
			if line[i+2] = command.Digits(int64(s.Len())); command.IsWord(args[i], "minid") {
				line[i+2] = s.FirstNode().Append(nil)
			}
			break
		}
	}
	return line
}

// tellClaim tells that an entry is pending for a consumer. as is the text of its id; nil: as usual.
func tellClaim(c *command.Ctx, key *store.Entry, g *store.StreamGroup, id store.StreamID, as []byte) {
	if c.Teller == nil {
		return
	}
	if as == nil {
		as = id.Append(nil)
	}
	p := g.Pending(id)
	c.Tell([]byte("XCLAIM"), []byte(key.Key()), []byte(g.Name), []byte(p.Consumer.Name), []byte("0"),
		as, []byte("TIME"), command.Digits(p.Delivered), []byte("RETRYCOUNT"), command.Digits(p.Count),
		[]byte("FORCE"), []byte("JUSTID"), []byte("LASTID"), g.Last.Append(nil))
}

// tellGroup tells which entry a group was given last.
func tellGroup(c *command.Ctx, key *store.Entry, g *store.StreamGroup) {
	if c.Teller == nil {
		return
	}
	c.Tell([]byte("XGROUP"), []byte("SETID"), []byte(key.Key()), []byte(g.Name), g.Last.Append(nil),
		[]byte("ENTRIESREAD"), command.Digits(g.Read))
}
