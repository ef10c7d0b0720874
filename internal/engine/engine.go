package engine

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/glob"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Options are what an engine is made of.
type Options struct {
	Config *config.Config
	Clock  expiry.Clock
	Rand   *rand.Rand
	Log    *slog.Logger
	Server command.Server // what only the server can tell and do
	// Memory is how many bytes the process may use; 0 means that nobody knows.
	Memory int64
}

// Engine runs commands, one unit at a time. All its fields but gate,
// the flags for Interrupt and Close and the timer's channels are guarded by the
// gate.
type Engine struct {
	gate    gate
	holder  *Caller // of the gate
	running *Caller // whose unit runs
	env     command.Env
	clock   expiry.Clock
	log     *slog.Logger
	memory  int64 // Options.Memory

	measured, overLimit bool // of this unit, see outOfMemory

	sessions sessions
	parking  parking
	watched  map[watchKey][]*command.Session
	pause    pause
	script   scriptRun
	keys     *scriptKeys                         // nil: nobody asks
	faults   func(s *command.Session, cause any) // every session's Panicked

	client  *command.Session            // who ran the unit's last command; nil: nobody yet
	ctx     command.Ctx                 // of the running command; scripts have their own
	scratch []byte                      // an encoded reply on its way to a session
	reader  *command.Session            // whose reply it is
	piece   func([]byte) ([]byte, bool) // writePiece, made once
	flush   []Flusher                   // sessions whose output waits for the lock's release

	timer    timer
	noActive bool // DEBUG SET-ACTIVE-EXPIRE 0

	interrupted, closed atomic.Bool
	done                sync.WaitGroup
}

// Flusher is a connection whose queued output is to be written. Flush is
// called without the lock and does not block.
type Flusher interface{ Flush() }

// New returns an engine with empty databases. Start sets its timer going.
func New(opts Options) *Engine {
	e := &Engine{
		clock: opts.Clock, log: opts.Log, memory: opts.Memory,
		sessions: newSessions(),
		watched:  map[watchKey][]*command.Session{},
	}
	e.parking.init()
	e.faults = e.undelivered
	e.env = command.Env{
		Table:   command.NewTable(),
		Space:   store.NewSpace(opts.Config.Databases, (*observer)(e)),
		Config:  opts.Config,
		PubSub:  pubsub.NewBroker(func(p, s string) bool { return glob.Match(p, s, false) }),
		Scripts: luaexec.New(luaexec.Options{Version: config.RedisVersion, OnPanic: e.scriptPanicked, Growth: e.scriptGrowth}),
		Clock:   opts.Clock,
		Rand:    opts.Rand,
		Events:  (*events)(e),
		Parking: (*parkingDesk)(e),
		Clients: (*clients)(e),
		Runner:  (*runner)(e),
		Watcher: (*watcher)(e),
		Server:  opts.Server,
	}
	e.env.Stats.Errors = map[string]int64{}
	e.ctx.Env = &e.env
	e.piece = e.writePiece
	e.script.init(e)
	e.followSettings(opts.Config)
	e.tick()
	e.timer.init(opts.Clock)
	return e
}

// Start starts the timer's goroutine, which Close ends. It is called once.
func (e *Engine) Start() {
	e.done.Add(1)
	go e.runTimer()
}

// Interrupt ends a running script and those to come, so that nobody holds the
// lock for long.
func (e *Engine) Interrupt() { e.interrupted.Store(true) }

// Close ends the timer's goroutine and frees the Lua state. The sessions have
// left by then.
func (e *Engine) Close() {
	if e.closed.Swap(true) {
		return
	}
	e.timer.stop()
	e.done.Wait()
	e.Do(&Caller{}, e.env.Scripts.Close)
}

// Env returns what the commands share. It is used inside Do only.
func (e *Engine) Env() *command.Env { return &e.env }

// Do runs unit, which calls Execute and the like, as the only one inside the
// engine, in this goroutine or in that of another caller, and then flushes the
// connections that have output. It reports true when another goroutine has gone
// on in this one's place meanwhile, see Caller.Replace.
func (e *Engine) Do(c *Caller, unit func()) (replaced bool) {
	c.unit = unit
	if e.gate.enter(c) {
		e.holder = c
		e.runUnit(c)
		e.leave()
	}
	if !c.Deferred || c.replaced {
		c.Flush()
	}
	return c.replaced
}

// runUnit runs c's unit and gives it the connections to flush.
func (e *Engine) runUnit(c *Caller) {
	outer := e.running // a script's, if this is its safe point
	e.running = c
	e.runGuarded(c.unit)
	e.running = outer
	if len(c.flush) == 0 {
		c.flush, e.flush = e.flush, c.flush
		return
	}
	e.flushLater(c)
}

// leave gives up the lock, after the units of those who stand in line if the
// holder runs them. What has become due is ended at once, as the timer's
// goroutine may have to wait for its turn on a processor, and its events go out
// at once.
func (e *Engine) leave() {
	holder := e.holder
	for n := 0; ; n++ {
		handOver := holder.Replace == nil || holder.replaced || n == combine
		if e.timer.due(e.env.Space.Now()) {
			e.endDue()
			e.flushLater(holder)
			handOver = true
		}
		e.armTimer()
		next := e.gate.leave()
		if next == nil {
			return
		}
		holder.readied = true
		if next.holds = handOver; handOver {
			next.woken <- struct{}{}
			return
		}
		e.runUnit(next)
		next.woken <- struct{}{}
	}
}

// flushLater gives c more connections to flush.
func (e *Engine) flushLater(c *Caller) {
	c.flush = append(c.flush, e.flush...)
	clear(e.flush)
	e.flush = e.flush[:0]
}

// replace has another goroutine go on with what c's serves.
func (e *Engine) replace(c *Caller) {
	if c.Replace != nil && !c.replaced {
		c.replaced = true
		c.Replace()
	}
}

// WantsFlush notes, inside the lock, that a connection has output.
func (e *Engine) WantsFlush(f Flusher) { e.flush = append(e.flush, f) }

// tick reads the clock: time stands still until the next tick.
func (e *Engine) tick() {
	e.measured = false
	e.env.Micros = e.clock.Now().UnixMicro()
	e.env.Space.SetNow(e.env.Micros / 1000)
}

// Execute runs one command of s as a unit of its own and queues its reply. It
// is called inside Do. It reports false when the command is held back (CLIENT
// PAUSE): it was not run, and the connection offers it again when woken.
func (e *Engine) Execute(s *command.Session, args resp.Args) bool {
	ran := e.execute(s, args)
	if !e.script.running {
		e.serveReady()
	}
	return ran
}

func (e *Engine) execute(s *command.Session, args resp.Args) (ran bool) {
	ran, e.client = true, s // a command that panics has run
	defer func() {
		if cause := recover(); cause != nil {
			e.disconnect("executing", s, cause)
			s.Closing = true
		}
	}()
	if !e.script.running {
		e.tick()
	}
	s.LastActive = e.env.Space.Now()
	c := &e.ctx
	if e.script.running {
		c = &command.Ctx{}
	}
	*c = command.Ctx{Env: &e.env, Session: s, Cmd: e.env.Table.Find(args), DB: e.env.Space.DB(s.DB), Proto: s.Proto}
	reply, held := e.process(c, args)
	if reply.IsError() && !c.Counted {
		e.countError(reply.Text())
	}
	if s.Held {
		s.Held = false
		defer e.goOn(s)
	}
	if held {
		e.hold(s)
		return false
	}
	if s.Parked == nil {
		e.endCommand(s, reply)
	}
	return true
}

// endCommand queues the reply to a client's command, unless CLIENT REPLY silences
// it. One that is parked ends when it is served.
func (e *Engine) endCommand(s *command.Session, r resp.Reply) {
	if r.Kind() != resp.None && !s.ReplyMode.Silent() {
		e.write(s, r)
	}
	s.ReplyMode = s.ReplyMode.Next()
}

// write queues r for s, encoded in a buffer that is used again.
func (e *Engine) write(s *command.Session, r resp.Reply) {
	e.reader = s
	rest, more := resp.AppendInPieces(e.scratch[:0], r, s.Proto, e.piece)
	if more {
		s.Conn.Write(rest)
	}
	e.reader = nil
	if e.scratch = rest; cap(rest) > 1<<20 {
		e.scratch = nil
	}
}

// writePiece queues a part of a large reply for e.reader, who may be cut off by
// it for leaving too much unread.
func (e *Engine) writePiece(b []byte) ([]byte, bool) { return b[:0], e.reader.Conn.Write(b) }
