package command

import (
	"strconv"

	"github.com/lockredis/lockredis/internal/geo"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Told says how a command that changed something is told to others, such as replicas: it
// passes command lines to c.Tell. They have the same effect at a later time and on another server: a
// time to live is a deadline, a random member is named. A row without Told is told as it was sent.
//
// It is called after the command, with the line that was sent and the reply. redis-server 7.0.15
// sends the same lines to its replicas.
type Told func(c *Ctx, args resp.Args, reply resp.Reply)

// Tell passes a command line to the Teller, if there is one. The line is valid until Tell returns.
func (c *Ctx) Tell(line ...[]byte) {
	if c.Teller != nil {
		c.Teller.Tell(c.DB.ID(), line)
	}
}

// Teller gets the changes of the databases as command lines.
type Teller interface {
	// Tell gets a command line that changes database db. It must copy what it keeps.
	Tell(db int, line resp.Args)
}

// The names in lines that others are told.
var (
	wordSet       = []byte("SET")
	wordDel       = []byte("DEL")
	wordUnlink    = []byte("UNLINK")
	wordPxat      = []byte("PXAT")
	wordKeepttl   = []byte("KEEPTTL")
	wordPexpireat = []byte("PEXPIREAT")
	wordPersist   = []byte("PERSIST")
	wordHset      = []byte("HSET")
	wordSrem      = []byte("SREM")
	wordAbsttl    = []byte("ABSTTL")
	wordLpop      = []byte("LPOP")
	wordRpop      = []byte("RPOP")
	wordZpopmin   = []byte("ZPOPMIN")
	wordZpopmax   = []byte("ZPOPMAX")
	wordLmove     = []byte("LMOVE")
	wordRpoplpush = []byte("RPOPLPUSH")
	wordZadd      = []byte("ZADD")
)

// number returns n in digits.
func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// toldByParts is for a command that tells what it does while it runs: its commands, as EVAL and
// EXEC, or lines of its own.
func toldByParts(*Ctx, resp.Args, resp.Reply) {}

// Deletion returns the line that tells of a deleted key: DEL, or lazily UNLINK.
func Deletion(key []byte, lazily bool) resp.Args {
	if lazily {
		return resp.Args{wordUnlink, key}
	}
	return resp.Args{wordDel, key}
}

// tellDeletion tells that a key was deleted because its deadline is past.
func tellDeletion(c *Ctx, key []byte) { c.Tell(Deletion(key, c.Space.Lazyfree.Expire)...) }

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

func toldHincrbyfloat(c *Ctx, args resp.Args, reply resp.Reply) {
	c.Tell(wordHset, args[1], args[2], []byte(reply.Text()))
}

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

// toldSpop names the members.
func toldSpop(c *Ctx, args resp.Args, reply resp.Reply) {
	if len(args) == 2 {
		c.Tell(wordSrem, args[1], []byte(reply.Text()))
		return
	}
	if v, _ := c.DB.Holds(string(args[1])); v == nil {
		c.Tell(wordDel, args[1])
		return
	}
	for _, member := range reply.Elems() {
		c.Tell(wordSrem, args[1], []byte(member.Text()))
	}
}

// A blocking command is told as the command that does not wait. The reply has the key.

func toldBlpop(c *Ctx, _ resp.Args, reply resp.Reply)    { tellPop(c, wordLpop, reply) }
func toldBrpop(c *Ctx, _ resp.Args, reply resp.Reply)    { tellPop(c, wordRpop, reply) }
func toldBzpopmin(c *Ctx, _ resp.Args, reply resp.Reply) { tellPop(c, wordZpopmin, reply) }
func toldBzpopmax(c *Ctx, _ resp.Args, reply resp.Reply) { tellPop(c, wordZpopmax, reply) }

func tellPop(c *Ctx, name []byte, reply resp.Reply) {
	c.Tell(name, []byte(reply.Elems()[0].Text()))
}

func toldLmpop(c *Ctx, args resp.Args, reply resp.Reply)  { tellMpop(c, args, 1, reply) }
func toldBlmpop(c *Ctx, args resp.Args, reply resp.Reply) { tellMpop(c, args, 2, reply) }

// tellMpop tells LMPOP or ZMPOP, whose number of keys is args[at].
func tellMpop(c *Ctx, args resp.Args, at int, reply resp.Reply) {
	keys, _ := resp.ParseInt(args[at])
	name := wordLpop
	switch end := args[at+1+int(keys)]; {
	case isWord(end, "right"):
		name = wordRpop
	case isWord(end, "min"):
		name = wordZpopmin
	case isWord(end, "max"):
		name = wordZpopmax
	}
	elems := reply.Elems()
	n := len(elems[1].Elems())
	c.Tell(name, []byte(elems[0].Text()), number(int64(n)))
}

func toldBlmove(c *Ctx, args resp.Args, _ resp.Reply) {
	c.Tell(wordLmove, args[1], args[2], args[3], args[4])
}

func toldBrpoplpush(c *Ctx, args resp.Args, _ resp.Reply) { c.Tell(wordRpoplpush, args[1], args[2]) }

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

// toldGeoadd tells the scores of the places.
func toldGeoadd(c *Ctx, args resp.Args, _ resp.Reply) {
	line, i := resp.Args{wordZadd, args[1]}, 2
	for ; (len(args)-i)%3 != 0 || isGeoaddOption(args[i]); i++ {
		line = append(line, args[i])
	}
	for ; i < len(args); i += 3 {
		p, _ := parsePoint(args[i], args[i+1])
		line = append(line, number(int64(geo.Score(p))), args[i+2])
	}
	c.Tell(line...)
}

func isGeoaddOption(arg []byte) bool {
	return isWord(arg, "nx") || isWord(arg, "xx") || isWord(arg, "ch")
}

// toldXadd tells the id of the new entry, and what a trim has left.
func toldXadd(c *Ctx, args resp.Args, reply resp.Reply) {
	o, _ := parseXadd(c, args)
	line := exactTrim(c, args, o.next)
	if !o.idGiven || !o.seqGiven {
		line[o.next] = []byte(reply.Text())
	}
	c.Tell(line...)
}

func toldXtrim(c *Ctx, args resp.Args, _ resp.Reply) { c.Tell(exactTrim(c, args, len(args))...) }

// exactTrim returns a copy of a line of XADD or XTRIM. A trim that is about what is asked for, in
// an option before args[end], is what it has left.
func exactTrim(c *Ctx, args resp.Args, end int) resp.Args {
	line := append(resp.Args{}, args...)
	for i := 2; i+2 < end; i++ {
		if (isWord(args[i], "maxlen") || isWord(args[i], "minid")) && string(args[i+1]) == "~" {
			v, _ := c.DB.Holds(string(args[1]))
			s := v.(*store.Stream)
			line[i+1] = []byte("=")
			if line[i+2] = number(int64(s.Len())); isWord(args[i], "minid") {
				line[i+2] = s.FirstNode().Append(nil)
			}
			break
		}
	}
	return line
}

// tellClaim tells that an entry is pending for a consumer. as is the text of its id; nil: as usual.
func tellClaim(c *Ctx, key *store.Entry, g *store.StreamGroup, id store.StreamID, as []byte) {
	if c.Teller == nil {
		return
	}
	if as == nil {
		as = id.Append(nil)
	}
	p := g.Pending(id)
	c.Tell([]byte("XCLAIM"), []byte(key.Key()), []byte(g.Name), []byte(p.Consumer.Name), []byte("0"),
		as, []byte("TIME"), number(p.Delivered), []byte("RETRYCOUNT"), number(p.Count),
		[]byte("FORCE"), []byte("JUSTID"), []byte("LASTID"), g.Last.Append(nil))
}

// tellGroup tells which entry a group was given last.
func tellGroup(c *Ctx, key *store.Entry, g *store.StreamGroup) {
	if c.Teller == nil {
		return
	}
	c.Tell([]byte("XGROUP"), []byte("SETID"), []byte(key.Key()), []byte(g.Name), g.Last.Append(nil),
		[]byte("ENTRIESREAD"), number(g.Read))
}
