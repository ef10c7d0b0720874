package command

import (
	"strconv"

	"github.com/lockredis/lockredis/resp"
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
	wordDel       = []byte("DEL")
	wordUnlink    = []byte("UNLINK")
	wordPexpireat = []byte("PEXPIREAT")
	wordLpop      = []byte("LPOP")
	wordRpop      = []byte("RPOP")
	wordZpopmin   = []byte("ZPOPMIN")
	wordZpopmax   = []byte("ZPOPMAX")
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

// tellPop tells the command name, with the key in the reply of a blocking command.
func tellPop(c *Ctx, name []byte, reply resp.Reply) {
	c.Tell(name, []byte(reply.Elems()[0].Text()))
}

// toldLmpop and toldBlmpop are for the commands that pop from one of several keys.
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
