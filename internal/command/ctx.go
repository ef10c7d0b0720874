package command

import (
	"github.com/lockredis/lockredis/internal/keyevent"
	"github.com/lockredis/lockredis/store"
)

// Ctx is one running command.
type Ctx struct {
	*Env
	Session *Session
	DB      *store.DB
	Cmd     *Command
	Proto   int // RESP version the reply is for; a script chooses its own
	From    Origin
	Untold  bool // the script does not want replicas to be told, see redis.set_repl
	Argv    int  // bytes of the arguments, for CLIENT LIST
}

// Origin is where a command comes from. It decides which checks apply.
type Origin uint8

// The origins of a command. The first two have a client that gets the reply.
const (
	FromClient Origin = iota // a connection
	FromExec                 // the queue of a transaction
	FromScript               // redis.call in a script
	FromKit                  // the test kit: there is no connection
	FromWait                 // a parked command that is served
)

// DenyBlocking reports whether the command may not wait. A blocking command then
// answers as if its timeout had ended.
func (c *Ctx) DenyBlocking() bool {
	return c.From != FromClient && !(c.From == FromKit && c.Session.Visitor)
}

// InScript reports whether a script runs the command.
func (c *Ctx) InScript() bool { return c.From == FromScript }

// Mode returns the server's mode in HELLO and INFO.
func (c *Ctx) Mode() string {
	if c.Cluster != nil {
		return "cluster"
	}
	return "standalone"
}

// Now returns the unit's time in Unix milliseconds.
func (c *Ctx) Now() int64 { return c.Space.Now() }

// Hide marks arguments of the running command that SLOWLOG and MONITOR do not show.
func (c *Ctx) Hide(args ...int) { c.Session.Hidden = append(c.Session.Hidden, args...) }

// Select makes c work on database i, which must exist.
func (c *Ctx) Select(i int) { c.DB = c.Space.DB(i) }

// Class is a set of classes of keyspace events.
type Class = keyevent.Class

// The classes that handlers and the engine use.
const (
	Keyspace     = keyevent.Keyspace
	Keyevent     = keyevent.Keyevent
	Generic      = keyevent.Generic
	StringClass  = keyevent.String
	ListClass    = keyevent.List
	SetClass     = keyevent.Set
	HashClass    = keyevent.Hash
	ZSetClass    = keyevent.ZSet
	StreamClass  = keyevent.Stream
	ExpiredClass = keyevent.Expired
	EvictedClass = keyevent.Evicted
	KeyMiss      = keyevent.Miss
	NewKey       = keyevent.New
)
