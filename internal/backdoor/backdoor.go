// Package backdoor lets the packages of this module do things with a lockredis.Server and
// its Settings that users have no method for.
//
// A public method would have to name internal types, which users could see and not use. So
// the root package registers functions here instead. Only code in this module can import
// this package. lockredistest looks inside a server through it, and internal/program reads
// the directives that concern the process.
package backdoor

import (
	"context"
	"io"
	"time"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/resp"
)

// The root package sets these variables once, when it is initialised.
var (
	// Open returns the inside of a *lockredis.Server.
	Open func(server any) Inside

	// Parse is lockredis.ParseSettings for the program. It returns a *lockredis.Settings.
	Parse func(p config.Program, args []string, stdin io.Reader) (settings any, err error)

	// Config returns the directives of a *lockredis.Settings.
	Config func(settings any) *config.Config

	// Monitors returns the Sentinels of a *lockredis.Sentinels.
	Monitors func(sentinels any) []Monitor
)

// Inside is what can be done with a server beyond its public methods.
type Inside struct {
	// Inspector looks at locks and clients. It knows holders only after RecordScriptKeys.
	Inspector *inspect.Inspector

	// RecordScriptKeys has the engine record which keys scripts write. It is called
	// before the server starts.
	RecordScriptKeys func()

	// Follow calls do with each command line that tells of a change. It is called before the
	// server starts. See engine.Engine.
	Follow func(do func(db int, line resp.Args)) (stop func())

	// Call runs a command on a database, without a connection, and passes the reply to
	// use. The reply is valid until use returns. See engine.Engine's RunDirect.
	Call func(db int, args resp.Args, use func(resp.Reply))

	// Databases is how many databases commands can use: 1 in cluster mode.
	Databases int

	// Settle waits until each client that was woken, because its blocking command or a
	// pause ended, has run the commands that it had already sent.
	Settle func()

	// Interrupt ends the running script, and every later script that loops.
	Interrupt func()

	// EndScript ends the running script, even one that has written, and waits for its end.
	EndScript func()

	// PutBackSlots gives a cluster's node the slots that it had at its start. See engine.Kit.
	PutBackSlots func()

	// Remember returns what puts the present settings, users and libraries of functions back. See
	// engine.Kit's Restore.
	Remember func() (reset func() error)

	// Together calls do in one unit. See engine.Kit.
	Together func(do func(run func(words ...string) resp.Reply))

	// PutClock sets the clock to a time, which may be earlier. The server must have a clock that can be
	// turned.
	PutClock func(to time.Time)

	// Load replaces all data by an RDB file in one unit, or changes nothing and returns an error. It
	// calls before in that unit, before the change. See engine.Kit.
	Load func(file []byte, before func(run func(words ...string) resp.Reply)) error

	// Visit returns a visitor, whose commands may wait. See engine.Visitor.
	Visit func() Visitor

	// Faults returns the server's faults. From the first call on, each request costs a
	// little more.
	Faults func() Faults

	// Reseed makes every random choice of commands depend on seed only.
	Reseed func(seed uint64)

	// SaveAtEnd saves the data if the directives ask for that at the program's end.
	SaveAtEnd func() error

	// Running returns nil while clients may connect, else the error that Dial returns.
	Running func() error

	// Restart does to clients what a restart of the process does. See engine.Engine.
	Restart func(keep bool)

	// SetDown says to the other nodes of the cluster that this node has ended, or that it serves
	// again.
	SetDown func(down bool)

	// Standing returns the address of the server that this one follows, "" if it is a primary, whether
	// the link to it works, the offset of the changes that it has, and whether Stop was called.
	Standing func() (primary string, up bool, offset int64, down bool)

	// SetLag holds back the last writes for the replica that announces an address. 0 ends that.
	SetLag func(replica string, writes int)

	// Let returns the offset up to which the stream goes to the replica that announces an address. ok
	// is false if no such replica is online.
	Let func(replica string) (offset int64, ok bool)

	// Relink connects to the primary of this server now, if there is no link to it.
	Relink func()

	// Copies reports whether the server's keys are those of another server, which it follows.
	Copies func() bool

	// ConnectionCounts returns how many connections are open, and how many there were.
	ConnectionCounts func() (open, total int)

	// SetUser makes AUTH accept a user beside "default", or with "" no longer.
	SetUser func(name, password string)

	// Listen returns a subscriber without a connection. deliver is called inside the
	// engine for each message, with the pattern that matched or "".
	Listen func(deliver func(pattern, channel, payload string)) Listener

	// Engine is the *engine.Engine, for the project's own tests that break an engine on
	// purpose.
	Engine any
}

// AwaitScript waits for a running script. If the script does not end within the time given, it is
// ended, and AwaitScript returns false.
func (in Inside) AwaitScript(patience time.Duration) (ended bool) {
	overrun := time.AfterFunc(patience, in.Interrupt)
	in.Call(0, resp.Args{[]byte("PING")}, func(resp.Reply) {}) // runs when the script has ended
	return overrun.Stop()
}

// Stop breaks all connections and refuses new ones, as if the server's process had been killed.
// Requests that a fault holds up are lost. In a cluster the node has failed for the others. The port
// stays the server's: a new connection is closed at once.
func (in Inside) Stop() {
	faults := in.Faults()
	faults.SetDown(true)
	faults.Cut(func(fault.Client) bool { return true })
	faults.DropLate()
	in.SetDown(true)
}

// Serve ends Stop, and does to clients what a restart of the process does. See engine.Kit's Restart.
func (in Inside) Serve(keep bool) {
	in.Restart(keep)
	in.Faults().SetDown(false)
	in.SetDown(false)
}

// Faults makes requests, replies and messages go wrong. It is a fault.Injector.
type Faults interface {
	Add(*fault.Rule)
	Remove(*fault.Rule)
	ReleaseNext(*fault.Rule) (released bool)
	Delayed(*fault.Rule) int
	Cut(which func(fault.Client) bool) int
	Silence(which func(fault.Client) bool) int
	SetDown(down bool)
	DropLate()
	Abandon()
	Requests() map[string]int
}

// Visitor is one connection of the process that controls the server. See engine.Visitor.
type Visitor interface {
	Run(args resp.Args)
	Replies() <-chan []byte
	Leave()
}

// Monitor is a Sentinel and its primary.
type Monitor interface {
	// Running returns nil while the Sentinel runs.
	Running() error
	// Addr returns the address of the primary, "host:port".
	Addr() string
	// AwaitAddr waits until the primary has an address, and its failover is over.
	AwaitAddr(ctx context.Context, addr string) error
	// Failover promotes the replica at an address. It returns when the failover is over.
	Failover(ctx context.Context, addr string) error
}

// Listener is a subscriber without a connection. See engine.Listener.
type Listener interface {
	Subscribe(name string, pattern bool)
	Unsubscribe(name string, pattern bool)
	Names(pattern bool) []string
	Close()
}
