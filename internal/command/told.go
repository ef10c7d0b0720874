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
// sends the same lines to its replicas, and Valkey 9.1.2 for its own commands.
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

// The words that several packages have in lines that others are told.
var (
	WordDel       = []byte("DEL")
	wordUnlink    = []byte("UNLINK")
	WordPexpireat = []byte("PEXPIREAT")
	WordLpop      = []byte("LPOP")
	WordRpop      = []byte("RPOP")
	WordZpopmin   = []byte("ZPOPMIN")
	WordZpopmax   = []byte("ZPOPMAX")
	WordHdel      = []byte("HDEL")
	WordPxat      = []byte("PXAT")
	WordKeepttl   = []byte("KEEPTTL")
)

// The lines around a transaction.
var (
	LineMulti = resp.Args{[]byte("MULTI")}
	LineExec  = resp.Args{[]byte("EXEC")}
)

// Digits returns n in digits.
func Digits(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// ToldByParts is for a command that tells what it does while it runs: its commands, as EVAL and
// EXEC, or lines of its own.
func ToldByParts(*Ctx, resp.Args, resp.Reply) {}

// Deletion returns the line that tells of a deleted key: DEL, or lazily UNLINK.
func Deletion(key []byte, lazily bool) resp.Args {
	if lazily {
		return resp.Args{wordUnlink, key}
	}
	return resp.Args{WordDel, key}
}

// TellDeletion tells that a key was deleted because its deadline is past.
func TellDeletion(c *Ctx, key []byte) { c.Tell(Deletion(key, c.Space.Lazyfree.Expire)...) }

// TellPop tells the command name, with the key in the reply of a blocking command.
func TellPop(c *Ctx, name []byte, reply resp.Reply) {
	c.Tell(name, []byte(reply.Elems()[0].Text()))
}

// ToldLmpop and ToldBlmpop are for the commands that pop from one of several keys.
func ToldLmpop(c *Ctx, args resp.Args, reply resp.Reply)  { tellMpop(c, args, 1, reply) }
func ToldBlmpop(c *Ctx, args resp.Args, reply resp.Reply) { tellMpop(c, args, 2, reply) }

// tellMpop tells LMPOP or ZMPOP, whose number of keys is args[at].
func tellMpop(c *Ctx, args resp.Args, at int, reply resp.Reply) {
	keys, _ := resp.ParseInt(args[at])
	name := WordLpop
	switch end := args[at+1+int(keys)]; {
	case IsWord(end, "right"):
		name = WordRpop
	case IsWord(end, "min"):
		name = WordZpopmin
	case IsWord(end, "max"):
		name = WordZpopmax
	}
	elems := reply.Elems()
	n := len(elems[1].Elems())
	c.Tell(name, []byte(elems[0].Text()), Digits(int64(n)))
}
