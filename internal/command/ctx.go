package command

import (
	"math/rand/v2"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/keyevent"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Env is the environment that all commands of one server share. Handlers reach it
// through Ctx. The packages engine and server implement its interfaces.
type Env struct {
	Table   *Table
	Space   *store.Space
	Config  *config.Config
	PubSub  *pubsub.Broker
	Scripts *luaexec.Runtime
	Rand    *rand.Rand
	Stats   Stats
	Clock   expiry.Clock
	Cluster *cluster.Cluster // nil unless cluster mode is on
	Users   *acl.Users
	ACLLog  acl.Log
	Micros  int64       // the unit's time in Unix µs; Space.Now() is the same in ms
	Dirty   int64       // changes since the last save
	Encoder rdb.Encoder // writes payloads
	// LastSave is when the last save ended, in Unix seconds; 0: there was none.
	LastSave int64

	Events    Events
	Parking   Parking
	Clients   Clients
	Pausing   Pausing
	Runner    Runner
	Replies   Replies
	Script    ScriptRunner
	Watcher   Watcher
	Deadline  Deadlines
	Saving    Saving
	Migrating Migrating
	Server    Server
	// Inspector looks at locks. It knows their holders if enable-lock-commands or the test
	// kit asked for that at the start.
	Inspector *inspect.Inspector
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
	// Notify announces an event of class on key if notify-keyspace-events asks for it.
	Notify(class Class, event string, db int, key string)
}

// Parking holds blocking commands.
type Parking interface {
	// Park makes the session wait. The handler returns resp.NoReply after it.
	Park(p *Parked)
	// Unpark ends a session's wait with a reply and reports whether it waited.
	Unpark(s *Session, r resp.Reply) bool
	// Signal wakes the clients that are parked on key when the unit ends: they may
	// be served now. The store signals every key that it creates. A command signals
	// a key that has grown, or that it has destroyed, if clients wait for that.
	Signal(db int, key string)
	// Waiting returns how many clients are parked.
	Waiting() int
}

// Clients is the list of connections.
type Clients interface {
	// Each calls do for every session in the order of their ids, until do returns
	// false. do may end any of the sessions.
	Each(do func(*Session) bool)
	// ByID returns the session, nil when there is none.
	ByID(id int64) *Session
	// Kill closes a connection and removes its session at once.
	Kill(s *Session)
	// Open returns how many sessions there are.
	Open() int
}

// Pausing holds commands back (CLIENT PAUSE).
type Pausing interface {
	// Pause holds commands back until a time in Unix ms. With writesOnly, commands
	// that only read still run.
	Pause(until int64, writesOnly bool)
	// Unpause ends the pause.
	Unpause()
	// Held returns how many sessions have a command that is held back.
	Held() int
}

// Runner runs the commands that a transaction has queued.
type Runner interface {
	// RunQueued runs one queued command as c's session and queues its reply.
	RunQueued(c *Ctx, cmd *Command, args resp.Args)
}

// Replies queues replies while a handler runs.
type Replies interface {
	// Send queues a reply, or a part of one, for c's session at once. A handler
	// that has sent its whole reply returns resp.NoReply.
	Send(c *Ctx, r resp.Reply)
}

// ScriptRunner runs scripts and functions, one at a time. A running function is a running
// script, too.
type ScriptRunner interface {
	// Run runs a loaded script as c's session.
	Run(c *Ctx, s *luaexec.Script, keys, args [][]byte, readOnly bool) resp.Reply
	// RunFunction runs a function as c's session. line is the command line of FCALL, with
	// that number of keys.
	RunFunction(c *Ctx, f *luaexec.Function, line resp.Args, keys int, readOnly bool) resp.Reply
	// Loader returns the caller for the code of one library that is loaded.
	Loader() luaexec.Caller
	// Kill asks the running script to stop: SCRIPT KILL, or FUNCTION KILL if function is true.
	Kill(function bool) resp.Reply
	// Busy reports whether a script is running: the command runs at one of its safe
	// points. refusal is the reply to a command that may not run there.
	Busy() (refusal resp.Reply, busy bool)
	// Function returns the name of the running function, its command line, and how long it
	// has been running. ok is false if no function runs.
	Function() (name string, line resp.Args, millis int64, ok bool)
}

// Watcher is the index of watched keys.
type Watcher interface {
	// Watch makes the session's next EXEC depend on key.
	Watch(s *Session, db int, key []byte)
	// Unwatch removes the session's watched keys and its mark that one of them changed.
	Unwatch(s *Session)
}

// Deadlines is the timer that ends leases and waits.
type Deadlines interface {
	// SetActive turns expiry by timer on and off (DEBUG SET-ACTIVE-EXPIRE). Expired
	// keys are missing either way.
	SetActive(on bool)
}

// Migrating sends keys to another server.
type Migrating interface {
	// Begin has c's client wait while m is sent. The handler returns resp.NoReply after it.
	Begin(c *Ctx, m *Migration)
}

// Saving writes the databases into the RDB file, and reads it.
type Saving interface {
	// Begin begins a save in the background. It returns false if one is under way.
	Begin() bool
	// Park has c's client wait for a save of the present data (SAVE). The handler returns
	// resp.NoReply after it.
	Park(c *Ctx)
	// Now saves the data at once. All clients wait meanwhile.
	Now() error
	// Load adds the keys of the file. With merge they replace keys of the same name.
	Load(merge bool) error
	// Stats returns the figures of INFO.
	Stats() SaveStats
}

// SaveStats are the figures about saves.
type SaveStats struct {
	Running                 bool  // a save is under way
	InBackground            bool  // no client waits for it
	Begun                   int64 // when the last save began, Unix ms
	Failed                  bool  // the last save in the background failed
	LastSeconds             int64 // how long it took; -1: there was none
	Saves                   int64
	KeysLoaded, KeysExpired int64 // of the last file that was read
}

// LastSaved returns the time of the last save in Unix seconds, or else of the server's
// start.
func (env *Env) LastSaved() int64 {
	if env.LastSave == 0 {
		return env.Server.Identity().StartMillis / 1000
	}
	return env.LastSave
}

// Server gives facts about the process, and shuts the server down.
type Server interface {
	// Identity returns facts that cost nothing to read.
	Identity() Identity
	// Usage measures what the process uses. It takes some microseconds.
	Usage() Usage
	// Shutdown ends the server soon after the reply is written.
	Shutdown()
	// MemoryUsed returns the bytes in use that maxmemory is compared with.
	MemoryUsed() int64
	// Sleep blocks the engine (DEBUG SLEEP).
	Sleep(micros int64)
	// Send sends the commands of MIGRATE to another server and returns the lines of its
	// replies. It is called without the engine's lock, and gives up when quit is closed.
	Send(m *Migration, quit <-chan struct{}) (end Exchange, lines []string)
	// Log writes a line to the server's log.
	Log(level, msg string)
}

// Identity holds the facts that identify a server.
type Identity struct {
	RunID, ConfigFile, Executable string
	ProcessID                     int
	Port, TLSPort                 int   // of the first listener, and of the first with TLS; 0: none
	StartMillis                   int64 // Unix ms
}

// Usage is the memory and CPU time of the process.
type Usage struct {
	HeapBytes, SystemBytes, PeakBytes int64
	UserMicros, SystemMicros          int64 // CPU time
}

// Ctx is one running command.
type Ctx struct {
	*Env
	Session *Session
	DB      *store.DB
	Cmd     *Command
	Proto   int // RESP version the reply is for; a script chooses its own
	From    Origin
	// Counted is set by a handler that has counted the errors in its reply.
	Counted bool
	// Refused is set in EXEC's Ctx when ACL rules refused a command that it has queued.
	Refused bool
}

// Origin is where a command comes from. It decides which checks apply.
type Origin uint8

// The origins of a command.
const (
	FromClient Origin = iota // a connection
	FromExec                 // the queue of a transaction
	FromScript               // redis.call in a script
	FromKit                  // the test kit: there is no connection
	FromWait                 // a parked command that is served
)

// DenyBlocking reports whether the command may not wait. A blocking command then
// answers as if its timeout had ended.
func (c *Ctx) DenyBlocking() bool { return c.From != FromClient }

// InScript reports whether a script runs the command.
func (c *Ctx) InScript() bool { return c.From == FromScript }

// mode returns the server's mode in HELLO and INFO.
func (c *Ctx) mode() string {
	if c.Cluster != nil {
		return "cluster"
	}
	return "standalone"
}

// Now returns the unit's time in Unix milliseconds.
func (c *Ctx) Now() int64 { return c.Space.Now() }

// Select makes c work on database i, which must exist.
func (c *Ctx) Select(i int) { c.DB = c.Space.DB(i) }

// Changed records that the value of e was changed in place. It tells the store, counts
// the change and announces the event.
func (c *Ctx) Changed(class Class, event string, e *store.Entry) {
	c.DB.Touched(e)
	c.Notify(class, event, e.Key())
}

// Notify counts a change and announces the event. It does not tell the store. So it is
// for changes that the store knows: a key was set, deleted or given a deadline.
func (c *Ctx) Notify(class Class, event string, key string) {
	c.Dirty++
	c.Events.Notify(class, event, c.DB.ID(), key)
}

// Remove deletes e, counts the change and announces "del".
func (c *Ctx) Remove(e *store.Entry) {
	c.DB.Remove(e)
	c.Notify(Generic, "del", e.Key())
}

// RemoveIfEmpty deletes e and announces "del" if size, the length of its collection, is
// 0. Redis does so after the command's own event.
func (c *Ctx) RemoveIfEmpty(e *store.Entry, size int) {
	if size == 0 {
		c.DB.Remove(e)
		c.Events.Notify(Generic, "del", c.DB.ID(), e.Key())
	}
}

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
	KeyMiss      = keyevent.Miss
	NewKey       = keyevent.New
)
