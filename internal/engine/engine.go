package engine

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/internal/inspect"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/memory"
	"github.com/lockredis/lockredis/internal/observing"
	"github.com/lockredis/lockredis/internal/persist"
	"github.com/lockredis/lockredis/internal/record"
	"github.com/lockredis/lockredis/internal/replication"
	"github.com/lockredis/lockredis/internal/tracking"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Options are the settings and dependencies of an engine.
type Options struct {
	Config *config.Config
	Clock  expiry.Clock
	Rand   *rand.Rand
	Log    *slog.Logger
	Server command.Server // facts about the process, and SHUTDOWN
	Table  *command.Table // nil: commands.NewTable()
	// Memory is how many bytes the process may use; 0 means unknown.
	Memory int64
	// Bus connects the engine, which has cluster-enabled yes, with other nodes in the process. Nil
	// means that a node is alone.
	Bus *cluster.Bus
}

// Engine runs commands, one unit at a time. The gate of callers guards every field but the
// gate itself, the atomic fields and the timer's channels.
type Engine struct {
	callers callers

	env   command.Env // what commands see; its interfaces are the rooms below
	log   *slog.Logger
	clock expiry.Clock

	stopwatch *observing.Stopwatch
	attention attention
	unit      unit
	measures  *observing.Measures
	panics    panics
	checks    checks

	sessions sessions
	parking  parking
	awaiting awaiting
	turning  turning
	pausing  pausing
	migrates migrating
	monitors *observing.Monitors
	watches  watches
	tracking *tracking.Tracker
	script   scriptRun
	replies  replies
	events   events
	effects  effects
	errors   errorCounts
	memory   *memory.Limit
	rates    *observing.Rates
	timer    timer
	journal  journal.Journal
	telling  journal.Telling
	files    *persist.Files
	replicas *replication.Replication
	faults   *fault.Injector // nil: no faults were asked for
	peer     *peer           // nil: there are no other nodes

	record    *record.Record // who wrote which lock; nil without RecordScriptKeys
	inspector *inspect.Inspector

	midway  bool // a script runs or a file is read: other units run at its safe points
	reading bool // a file is read

	current *command.Session // of the unit's last command; nil before it

	interrupted atomic.Bool // Interrupt was called; atomic, as it needs no lock
	closed      atomic.Bool // Close was called
	done        sync.WaitGroup
}

// New returns an engine with empty databases. Start starts its timer.
func New(opts Options) *Engine {
	lockCommands := opts.Table == nil && (opts.Config.LockCommands.Offered() || opts.Config.Control)
	if lockCommands {
		opts.Clock = expiry.Turn(opts.Clock)
	}
	e := &Engine{log: opts.Log, clock: opts.Clock, stopwatch: observing.NewStopwatch(opts.Clock)}
	e.memory = memory.NewLimit(memoryDoor{door{e}}, &e.env, opts.Memory)
	e.measures = observing.NewMeasures(&e.env, e.stopwatch)
	e.monitors = observing.NewMonitors(door{e}, &e.env, e.stopwatch)
	e.rates = observing.NewRates(&e.env, e.stopwatch)
	table := opts.Table
	if table == nil {
		table = commands.NewTable()
	}
	e.env = command.Env{
		Table:  table,
		Space:  store.NewSpace(opts.Config.Databases, &e.effects),
		Config: opts.Config,
		PubSub: pubsub.NewBroker(func(p, s string) bool { return glob.Match(p, s, false) }),
		Scripts: luaexec.New(luaexec.Options{
			Version: opts.Config.ReportedVersion(), Valkey: opts.Config.EmulatedValkey(),
			OnPanic: e.script.panicked, Growth: e.memory.ScriptGrowth,
		}),
		Clock:     opts.Clock,
		Rand:      opts.Rand,
		Changes:   &e.effects,
		Events:    &e.events,
		Parking:   &e.parking,
		Clients:   &e.sessions,
		Pausing:   &e.pausing,
		Monitors:  e.monitors,
		Runner:    &e.unit,
		Replies:   &e.replies,
		Script:    &e.script,
		Watcher:   &e.watches,
		Deadline:  &e.timer,
		Memory:    e.memory,
		Rates:     e.rates,
		Turning:   &e.turning,
		Migrating: &e.migrates,
		Purging:   memory.NewPurges(memoryDoor{door{e}}, &e.env, &e.done),
		Server:    opts.Server,
		Stats:     command.Stats{Errors: map[string]int64{}},
	}
	e.unit.ctx.Env = &e.env
	e.connectRooms(opts)
	if lockCommands {
		if opts.Config.LockCommands.Offered() {
			commands.AddLockCommands(e.env.Table)
		} else {
			commands.HideLockCommands(e.env.Table)
		}
		e.RecordScriptKeys()
	}
	if opts.Table == nil && opts.Config.Valkey() {
		commands.EmulateValkey(e.env.Table)
		e.env.Space.FieldDeadlines = true
	}
	e.followSettings(opts.Config)
	openUsers(&e.env, opts.Config)
	if opts.Config.Cluster.Enabled {
		e.becomeNode(opts)
	}
	e.attend()
	e.readClock()
	return e
}

// connectRooms gives each room the other rooms that it uses.
func (e *Engine) connectRooms(opts Options) {
	e.replies.init()
	e.callers.e, e.unit.e, e.checks.e = e, e, e
	e.panics = panics{stats: &e.env.Stats, out: e.log}
	e.errors = errorCounts{stats: &e.env.Stats, table: e.env.Table, script: &e.script}
	e.events = events{env: &e.env, panicked: e.panics.log}
	e.watches.index, e.watches.changed = map[watchedKey][]*command.Session{}, e.attend
	e.migrates = migrating{e: e, underway: map[migratingKey]int{}}
	e.pausing.space, e.pausing.changed = e.env.Space, func() { e.attend(); e.timer.look() }
	e.tracking = tracking.New(trackingDoor{door{e}}, &e.env)
	e.env.Tracking = e.tracking
	e.parking.init(e)
	e.awaiting.e, e.turning.e = e, e
	e.effects = effects{e: e}
	e.sessions = newSessions(e.forget)
	e.script.e = e
	e.files = persist.New(persist.Options{
		Engine: &fileDoor{door: door{e}}, Env: &e.env, Log: e.log, Quiet: &quiet{e.effects},
		Goroutines: &e.done,
	})
	e.env.Saving = e.files
	e.replicas = replication.New(replication.Options{
		Engine: replicationDoor{door{e}}, Env: &e.env, Files: e.files, Log: e.log, Goroutines: &e.done,
	})
	e.env.Replicas, e.files.Place = e.replicas, e.replicas.Place
	e.inspector = inspect.New(inspection{e})
	e.env.Inspector = e.inspector
	e.env.Faults = func() command.Faults { return e.injector() }
	e.timer.init(e)
}

// Start starts the timer's goroutine, which Close ends. It is called once.
func (e *Engine) Start() {
	e.done.Add(1)
	go e.timer.run()
	if e.peer != nil {
		e.done.Add(1)
		go e.peer.run()
		e.Outside(e.peer.announce)
	}
}

// BeginReplication follows the server that the directive replicaof names. It is called once, when the
// data have been read. A node of a cluster follows the primary that the cluster names. linked is closed
// when the link with the primary is up. Nil: the server is to follow none, or its primary is not started.
func (e *Engine) BeginReplication() (linked <-chan struct{}) {
	e.Outside(func() {
		e.replicas.Start()
		if e.peer != nil {
			e.peer.begin()
		}
		if e.replicas.Follows() {
			linked = e.replicas.Linked()
		}
	})
	return linked
}

// Interrupt ends the running script and every later one, and the reading of an RDB file, so
// that no unit keeps the lock for long. It may be called without the lock.
func (e *Engine) Interrupt() { e.interrupted.Store(true) }

// Close ends the timer's goroutine and frees the Lua state. Every session has left
// by then.
func (e *Engine) Close() {
	if e.closed.Swap(true) {
		return
	}
	if e.peer != nil {
		e.env.Cluster.SetDown(e.clock.Now().UnixMilli())
	}
	e.timer.stop()
	e.replicas.Close()
	e.done.Wait()
	e.Do(&Caller{}, e.env.Scripts.Close)
}

// Clock returns the clock that units get their time from.
func (e *Engine) Clock() expiry.Clock { return e.clock }

// Env returns the environment that the commands share. It is used inside Do only, but for what is atomic.
func (e *Engine) Env() *command.Env { return &e.env }

// readClock sets the time of the unit. It stands still until the next call.
func (e *Engine) readClock() {
	e.stopwatch.Restart()
	e.setTime()
}

// setTime makes the stopwatch's last reading the time of the unit.
func (e *Engine) setTime() {
	micros := e.stopwatch.Micros()
	if e.attention&forMemory != 0 {
		e.memory.BeginUnit()
	}
	e.env.Micros = micros
	e.env.Space.SetNow(micros / 1000)
	if e.stopwatch.Now >= e.rates.Ends {
		e.rates.Sample()
	}
}

// Execute runs one command of s as a unit and queues its reply. It is called
// inside Do. It reports false when CLIENT PAUSE or a fault delays the command. The
// connection calls it again for the same command when it is woken.
func (e *Engine) Execute(s *command.Session, args resp.Args) (ran bool) {
	if len(args) == 0 {
		e.passEmpty(s)
		return true
	}
	atSafePoint := e.midway
	if !atSafePoint {
		e.setTime()
	}
	if e.attention&byJournal == 0 {
		ran = e.unit.execute(s, args)
	} else {
		ran = e.executeJournaled(s, args)
	}
	if !atSafePoint && len(e.parking.ready) > 0 {
		e.parking.serveReady()
	}
	return ran
}

// executeJournaled is unit.execute with the unit's bounds in the journal.
func (e *Engine) executeJournaled(s *command.Session, args resp.Args) (ran bool) {
	e.journal.Unit(journal.UnitBegins)
	defer e.journal.Unit(journal.UnitEnds)
	ran = e.unit.execute(s, args)
	s.Written = e.replicas.Offset()
	return ran
}
