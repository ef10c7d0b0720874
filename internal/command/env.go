package command

import (
	"math/rand/v2"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/latency"
	"github.com/lockredis/lockredis/internal/rdb"
	"github.com/lockredis/lockredis/internal/slowlog"
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
	SlowLog slowlog.Log
	Latency latency.Events
	Micros  int64       // the unit's time in Unix µs; Space.Now() is the same in ms
	Dirty   int64       // changes since the last save
	Encoder rdb.Encoder // writes payloads
	Queued  int64       // estimated bytes of the transactions that clients queue
	// LastSave is when the last save ended, in Unix seconds; 0: there was none.
	LastSave int64
	// SkipChecksums accepts wrong checksums of RDB files and payloads (DEBUG).
	SkipChecksums bool
	// DebugInScripts lets scripts run DEBUG (DEBUG SET-DISABLE-DENY-SCRIPTS).
	DebugInScripts bool

	Leaked  []string // texts of DEBUG LEAK
	largest largestBuffers

	Refusals Refusals // that the log has named

	// Teller gets the command lines that tell of changes. It may be nil.
	Teller Teller

	// Named says that Change.Elems is read.
	Named bool

	change Change    // the last change, see newChange
	single [1][]byte // see one

	Changes   Changes
	Events    Events
	Parking   Parking
	Clients   Clients
	Pausing   Pausing
	Monitors  Monitors
	Runner    Runner
	Replies   Replies
	Script    ScriptRunner
	Watcher   Watcher
	Tracking  Tracking
	Deadline  Deadlines
	Memory    Memory
	Rates     Rates
	Saving    Saving
	Turning   Turning
	Migrating Migrating
	Purging   Purging
	Server    Server
	Replicas  Replication
	// Faults returns the faults that commands set. The first call makes the room for them.
	Faults func() Faults
	// Inspector looks at locks. It knows their holders if enable-lock-commands or the test
	// kit asked for that at the start.
	Inspector *inspect.Inspector
}

// Stats are the counters of INFO that commands and the engine keep.
type Stats struct {
	Commands, Connections, Rejected int64
	Errors                          map[string]int64
	Unexpected                      int64 // panics caught
	Saves                           int64 // RDB files of SAVE, BGSAVE and save points
	Exceeded                        Exceeded
	// How often a replica got all data, or the rest of the stream; and how often it asked for the
	// rest of a stream and got all data.
	Full, Partial, NotPartial int64
	// Before is the traffic at the last CONFIG RESETSTAT.
	Before Traffic
}

// Traffic is what connections have read and written: reads and writes of sockets, and bytes.
type Traffic struct{ Reads, Writes, In, Out int64 }

// Traffic returns what connections have read and written since the last CONFIG RESETSTAT.
func (env *Env) Traffic() Traffic {
	now, before := env.Server.Traffic(), env.Stats.Before
	return Traffic{
		Reads: now.Reads - before.Reads, Writes: now.Writes - before.Writes,
		In: now.In - before.In, Out: now.Out - before.Out,
	}
}

// Rates says how much the server does in a second.
type Rates interface {
	// PerSecond returns the means of the last 1.6 seconds: commands, and bytes in and out.
	PerSecond() (commands, in, out int64)
	// Reset forgets the past.
	Reset()
}

// Exceeded is how long maxmemory has been exceeded, although keys were evicted.
type Exceeded struct {
	Since int64 // Unix µs, 0: it is not exceeded
	Total int64 // µs, without the time since Since
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
	// Unblock ends the wait of s with a reply, for CLIENT UNBLOCK, which c is.
	Unblock(c *Ctx, s *Session, r resp.Reply)
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

// Pausing postpones commands (CLIENT PAUSE).
type Pausing interface {
	// Pause postpones commands until a time in Unix ms. With writesOnly, commands
	// that only read still run.
	Pause(until int64, writesOnly bool)
	// Unpause ends the pause.
	Unpause()
	// Postponed returns how many sessions have a command that is postponed.
	Postponed() int
}

// Monitors is the list of the clients of MONITOR.
type Monitors interface {
	// Add makes s a monitor, which it is not yet.
	Add(s *Session)
	// Remove ends the monitoring of s, if s is a monitor.
	Remove(s *Session)
}

// Runner runs the commands that a transaction has queued.
type Runner interface {
	// RunQueued runs the commands of t as c's session and queues their replies. c is EXEC.
	RunQueued(c *Ctx, t *Transaction)
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
	// Run runs a loaded script as c's session, if its flags allow that. It may write unless c.Cmd
	// is ReadOnly.
	Run(c *Ctx, s *luaexec.Script, keys, args [][]byte) resp.Reply
	// RunFunction does the same with a function. line is the command line of FCALL, with
	// that number of keys.
	RunFunction(c *Ctx, f *luaexec.Function, line resp.Args, keys int) resp.Reply
	// Loader returns the host for the code of one library that is loaded.
	Loader() luaexec.Host
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

// Tracking sends invalidations to the clients that cache what they read (CLIENT TRACKING).
type Tracking interface {
	// Enable turns tracking on for s, or changes its mode. redirect is the id of the client
	// that gets the invalidations, 0: s itself. prefixes are added to the prefixes of s.
	Enable(s *Session, mode TrackingMode, redirect int64, prefixes []string)
	// Disable turns tracking off. The keys that s has read stay in the table.
	Disable(s *Session)
	// Flushed tells every tracking client that all keys may be gone.
	Flushed()
	// Counts returns what INFO shows.
	Counts() TrackingCounts
}

// TrackingCounts are the figures of INFO about tracking: clients, the keys and the items of
// the table, and prefixes.
type TrackingCounts struct{ Clients, Keys, Items, Prefixes int }

// Deadlines is the timer that ends leases and waits.
type Deadlines interface {
	// SetActive turns expiry by timer on and off (DEBUG SET-ACTIVE-EXPIRE). Expired
	// keys are missing either way.
	SetActive(on bool)
	// PauseCron stops expiry by timer and save points, or continues them (DEBUG PAUSE-CRON).
	PauseCron(on bool)
}

// Memory knows how much memory the process may use.
type Memory interface {
	// Used returns the bytes in use that maxmemory is compared with: StartupBytes, and what is
	// counted.
	Used() int64
	// Peak returns the most that Used has returned.
	Peak() int64
	// Policy returns which keys are evicted, and in which order; 0: none are.
	Policy() store.Policy
	// Room estimates how many bytes of data may be added.
	Room() int64
}

// StartupBytes is the memory in use, in bytes, of a server without keys and clients. It is about
// what redis-server 7.0 takes.
const StartupBytes = 860 << 10

// Migrating sends keys to another server.
type Migrating interface {
	// Begin has c's client wait while m is sent. The handler returns resp.NoReply after it.
	Begin(c *Ctx, m *Migration)
}

// Purging gives free memory back to the system.
type Purging interface {
	// Begin has c's client wait for a purge. The handler returns resp.NoReply after it.
	Begin(c *Ctx)
	// Schedule has a purge begin soon.
	Schedule()
}

// Saving writes the databases into the RDB file, and reads it.
type Saving interface {
	// Begin begins a save in the background. It returns false if one is under way.
	Begin() bool
	// Schedule has a save in the background begin after the running EXEC.
	Schedule()
	// Park has c's client wait for a save of the present data (SAVE). The handler returns
	// resp.NoReply after it.
	Park(c *Ctx)
	// Now saves the data at once. All clients wait meanwhile.
	Now() error
	// Last is Now for the end of the server. After it, unless it fails, commands of clients wait
	// for the end.
	Last() error
	// LastAsked is Last if a client waits for a save of SAVE: in Redis it would have ended before.
	LastAsked()
	// Abort undoes a signal that waits for a script to end the server (SHUTDOWN ABORT). It
	// returns false if there is none.
	Abort() bool
	// Flushed follows FLUSHALL: the file must not bring back the keys.
	Flushed()
	// Load adds the keys of the file. With merge they replace keys of the same name.
	Load(merge bool) error
	// Loading reports whether a file is read: the command runs at one of its safe points.
	// refusal is the reply to a command that cannot run there.
	Loading() (refusal resp.Reply, loading bool)
	// Stats returns the figures of INFO.
	Stats() SaveStats
}

// LoadStats are the figures about a file that is read.
type LoadStats struct {
	Begun       int64 // Unix s
	Total, Read int64 // bytes
	Memory      int64 // bytes that the data took in the server that wrote the file; 0: unknown
}

// SaveStats are the figures about saves.
type SaveStats struct {
	Running                 bool       // a save is under way
	InBackground            bool       // no client waits for it
	Begun                   int64      // when the last save began, Unix ms
	Copying                 int64      // when the oldest file began that is made for a replica, Unix ms; 0: none
	Failed                  bool       // the last save in the background failed
	LastSeconds             int64      // how long it took; -1: there was none
	Keys, KeysDone          int64      // of the save under way: all, and the encoded ones
	KeysLoaded, KeysExpired int64      // of the last file that was read
	Loading                 *LoadStats // nil: no file is read
}

// LastSaved returns the time of the last save in Unix seconds, or else of the server's
// start.
func (env *Env) LastSaved() int64 {
	if env.LastSave == 0 {
		return env.Server.Identity().StartMillis / 1000
	}
	return env.LastSave
}

// ErrSaveFailed is the reply to a SAVE that failed. It is Redis's whole text.
var ErrSaveFailed = resp.Error("ERR")
