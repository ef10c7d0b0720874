package command

import (
	"math/rand/v2"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/keyevent"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Env is what all commands of one server share. Handlers reach it through
// Ctx. The interfaces are implemented above (engine, server).
type Env struct {
	Table   *Table
	Space   *store.Space
	Config  *config.Config
	PubSub  *pubsub.Broker
	Scripts *luaexec.Runtime
	Rand    *rand.Rand
	Stats   Stats
	Clock   expiry.Clock
	Micros  int64 // the unit's time in Unix µs; Space.Now() is the same in ms
	Dirty   int64 // changes so far (rdb_changes_since_last_save)
	// LastSave is when SAVE was last asked for, in Unix seconds; 0: never.
	LastSave int64

	Events  Events
	Parking Parking
	Clients Clients
	Runner  Runner
	Watcher Watcher
	Server  Server
}

// Stats are the counters of INFO that commands and the engine keep.
type Stats struct {
	Commands, Connections, Rejected int64
	NetIn, NetOut                   int64 // bytes
	Errors                          map[string]int64
	Unexpected                      int64 // panics caught
}

// CallStats is a line of INFO commandstats.
type CallStats struct {
	Calls, Micros, Rejected, Failed int64
}

// Events publishes keyspace notifications.
type Events interface {
	// Notify announces event (of class) on key if notify-keyspace-events asks
	// for it.
	Notify(class Class, event string, db int, key string)
	// Renewed says that e counts as a new key, though it took another's place:
	// the store announces only keys that were not there.
	Renewed(db *store.DB, e *store.Entry)
}

// Parking holds blocking commands.
type Parking interface {
	// Park makes the session wait. The handler returns resp.NoReply after it.
	Park(p *Parked)
	// Unpark ends a session's wait with a reply and reports whether it waited.
	Unpark(s *Session, r resp.Reply) bool
}

// Clients is the list of connections.
type Clients interface {
	// Each calls do for every session in the order of their ids until it
	// returns false.
	Each(do func(*Session) bool)
	// ByID returns the session, nil when it is gone.
	ByID(id int64) *Session
	// Kill closes a connection and forgets its session at once.
	Kill(s *Session)
	// Count returns how many sessions there are and how many of them are parked.
	Count() (open, parked int)
	// Pause holds back commands until a time in Unix ms; writesOnly spares those
	// that read. Unpause ends it.
	Pause(until int64, writesOnly bool)
	Unpause()
}

// Runner runs a command on behalf of another: EXEC's queue, a script's calls.
type Runner interface {
	// RunQueued runs one queued command of a transaction as c's session and
	// queues its reply.
	RunQueued(c *Ctx, cmd *Command, args resp.Args)
	// Send queues a reply, or a part of one, for c's session at once. A handler
	// that sends its whole reply so returns resp.NoReply.
	Send(c *Ctx, r resp.Reply)
	// RunScript runs a loaded script as c's session.
	RunScript(c *Ctx, s *luaexec.Script, keys, args [][]byte, readOnly bool) resp.Reply
	// KillScript asks the running script to stop (SCRIPT KILL).
	KillScript() resp.Reply
	// Busy reports whether the command runs halfway through a script, and what
	// is answered if it may not.
	Busy() (refusal resp.Reply, busy bool)
}

// Watcher is the index of watched keys.
type Watcher interface {
	Watch(s *Session, db int, key []byte)
	Unwatch(s *Session)
}

// Server is what the server itself can tell and do.
type Server interface {
	// Info returns facts for INFO that only the server knows.
	Info() ServerInfo
	// Shutdown ends the server soon after the reply is written.
	Shutdown()
	// MemoryUsed returns the bytes in use that maxmemory is compared with.
	MemoryUsed() int64
	// Sleep makes the engine stand still (DEBUG SLEEP).
	Sleep(micros int64)
	// SetActiveExpire turns expiry by timer on and off (DEBUG SET-ACTIVE-EXPIRE).
	SetActiveExpire(on bool)
	// Log writes a line to the server's log.
	Log(level, msg string)
}

// ServerInfo are facts about the process.
type ServerInfo struct {
	RunID, Version, ConfigFile, Executable string
	ProcessID, Port                        int
	StartMillis                            int64
	Clients, Blocked, MaxClients           int
	HeapBytes, SystemBytes, PeakBytes      int64
	UserMicros, SystemMicros               int64 // CPU time of the process
}

// Ctx is one running command.
type Ctx struct {
	*Env
	Session *Session
	DB      *store.DB
	Cmd     *Command
	Proto   int // RESP version the reply is for; a script chooses its own
	// DenyBlocking is set in a transaction or script: a blocking command
	// answers as if its time were up.
	DenyBlocking bool
	InScript     bool
	// Counted is set by a handler that has counted the errors in its reply.
	Counted bool
}

// Now returns the unit's time in Unix milliseconds.
func (c *Ctx) Now() int64 { return c.Space.Now() }

// Select makes c work on database i, which must exist.
func (c *Ctx) Select(i int) { c.DB = c.Space.DB(i) }

// Changed says that the value under e was changed in place: watchers hear of
// it, the change is counted, and the event is announced.
func (c *Ctx) Changed(class Class, event string, e *store.Entry) {
	c.DB.Touched(e)
	c.Notify(class, event, e.Key())
}

// Notify counts a change and announces the event. Use it alone for what the
// store reports itself: a key that was set, deleted or given a deadline.
func (c *Ctx) Notify(class Class, event string, key string) {
	c.Dirty++
	c.Events.Notify(class, event, c.DB.ID(), key)
}

// Remove deletes e, counts the change and announces "del".
func (c *Ctx) Remove(e *store.Entry) {
	c.DB.Remove(e)
	c.Notify(Generic, "del", e.Key())
}

// RemoveIfEmpty deletes e and announces "del" when its aggregate has become
// empty, as Redis does after the command's own event.
func (c *Ctx) RemoveIfEmpty(e *store.Entry, size int) {
	if size == 0 {
		c.DB.Remove(e)
		c.Events.Notify(Generic, "del", c.DB.ID(), e.Key())
	}
}

// Class is a set of classes of keyspace events.
type Class = keyevent.Class

// The classes that handlers and the engine name.
const (
	Keyspace     = keyevent.Keyspace
	Keyevent     = keyevent.Keyevent
	Generic      = keyevent.Generic
	StringClass  = keyevent.String
	ListClass    = keyevent.List
	SetClass     = keyevent.Set
	HashClass    = keyevent.Hash
	ZSetClass    = keyevent.ZSet
	ExpiredClass = keyevent.Expired
	KeyMiss      = keyevent.Miss
	NewKey       = keyevent.New
)
