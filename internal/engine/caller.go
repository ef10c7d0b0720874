package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// maxCombined is how many units of other callers a holder runs before it promotes
// the next caller. The holder's own replies wait meanwhile.
const maxCombined = 64

// maxBatch is how many commands of one connection a unit runs before other
// callers get the lock.
const maxBatch = 64

// flushInOrder is how many connections Flush writes to in order.
const flushInOrder = 16

// callers are the goroutines that want to run units: the lock, its holder, and the connections
// whose output a caller is yet to flush.
type callers struct {
	e         *Engine
	gate      gate
	holder    *Caller   // holds the gate
	running   *Caller   // its unit runs: the holder, or a queued caller
	unflushed []Flusher // connections with output that no caller has yet
}

// Caller represents a goroutine that enters the engine. The goroutine uses it for one
// Do or Run at a time.
type Caller struct {
	// Replace starts a goroutine that takes over this one's work, with a Caller of
	// its own. The engine calls it at most once, when this goroutine runs a long
	// script of another caller. This goroutine's Do or Run then returns true. With
	// a nil Replace the goroutine runs no units of other callers.
	Replace func()
	// Shared means that the goroutine serves many connections. The engine then also
	// calls Replace when a script of the goroutine's own unit becomes busy.
	Shared bool
	// Deferred means that the goroutine calls Flush itself, after several Do or Run.
	Deferred bool

	background bool // the unit never runs halfway through a script

	// The unit: a function, or the commands of a session. Zero between two units: the engine
	// keeps its last caller, and that must not keep the buffers of a client that has gone.
	unit    func()
	session *command.Session
	source  Source

	replaced  bool      // Replace was called
	readied   bool      // see Readied
	unflushed []Flusher // connections with output, for Flush

	next  *Caller       // in the gate's queue
	holds bool          // promoted: the goroutine holds the lock and runs its unit itself
	woken chan struct{} // ends the wait in the gate's queue; capacity 1
}

// Flusher is a connection with queued output. Flush writes it without blocking,
// and is called without the engine's lock.
type Flusher interface{ Flush() }

// Source is a connection's buffered commands. The engine pulls from it under its
// lock, so its methods do not block.
type Source interface {
	// Next returns the next complete command, or false when there is none. The command may
	// have no words. The arguments are valid until the following call.
	Next() (args resp.Args, ok bool)
	// Unread makes Next return the last command again.
	Unread()
}

// Run runs the commands that source has for s, at most a batch of them, and then
// flushes the connections that have output. It returns early when s is no longer
// Ready. It reports true when another goroutine has replaced this one meanwhile,
// see Caller.Replace.
func (e *Engine) Run(c *Caller, s *command.Session, source Source) (replaced bool) {
	c.unit, c.session, c.source = nil, s, source
	replaced = e.callers.enter(c)
	c.session, c.source = nil, nil
	return replaced
}

// Do runs unit alone inside the engine, in this goroutine or in another caller's
// goroutine, and then flushes the connections that have output. It returns what Run
// returns.
func (e *Engine) Do(c *Caller, unit func()) (replaced bool) {
	c.unit = unit
	replaced = e.callers.enter(c)
	c.unit = nil
	return replaced
}

func (g *callers) enter(c *Caller) (replaced bool) {
	if g.gate.enter(c) {
		g.holder = c
		g.runUnit(c)
		g.combine(c)
	}
	if !c.Deferred || c.replaced {
		c.Flush()
	}
	return c.replaced
}

// runUnit runs c's unit and gives it the connections to flush.
func (g *callers) runUnit(c *Caller) {
	outer := g.running // a script's caller, at a safe point
	g.running = c
	g.e.stopwatch.Restart()
	g.runGuarded(c)
	g.running = outer
	if outer == nil && g.e.attention&byTracking != 0 {
		g.e.tracking.UnitEnds()
	}
	if len(c.unflushed) == 0 {
		c.unflushed, g.unflushed = g.unflushed, c.unflushed
		return
	}
	g.flushLater(c)
}

// pull runs a batch of the session's commands.
func (g *callers) pull(s *command.Session, source Source) {
	for range maxBatch {
		if state := s.State(); state != command.Ready && state != command.Postponed {
			return
		}
		args, ok := source.Next()
		if !ok {
			return
		}
		if !g.e.Execute(s, args) {
			source.Unread()
			return
		}
	}
}

// combine releases the lock. Before, it runs the units of the queued callers, if the
// holder may run them. Before each of them it ends the leases and waits that are due,
// because the timer's goroutine may have to wait for a processor.
func (g *callers) combine(holder *Caller) {
	for n := 0; ; n++ {
		promote := holder.Replace == nil || holder.replaced || n == maxCombined
		if g.e.timer.due(g.e.env.Space.Now()) {
			g.e.timer.fire()
			g.e.tracking.UnitEnds()
			g.flushLater(holder)
			promote = true
		}
		g.e.timer.arm()
		next := g.gate.release()
		if next == nil {
			return
		}
		holder.readied = true
		if promote {
			next.promote()
			return
		}
		g.runUnit(next)
		next.served()
	}
}

// helpOthers is called at a safe point of a long unit. It writes the output that the holder has
// for its connections, and replaces the holder if the unit is another caller's.
func (g *callers) helpOthers() {
	g.holder.Flush()
	if g.holder != g.running {
		g.startReplacement(g.holder)
	}
}

// runQueuedAtSafePoint runs the units of queued callers in the middle of a script or of the
// reading of a file, until the queue is empty or stop returns true.
func (g *callers) runQueuedAtSafePoint(stop func() bool) {
	current, noTouch := g.e.current, g.e.env.Space.NoTouch
	defer func() { g.e.current, g.e.env.Space.NoTouch = current, noTouch }()
	for !stop() {
		c := g.gate.leaveAtSafePoint()
		if c == nil {
			return
		}
		g.runUnit(c)
		c.served()
	}
}

// startReplacement starts another goroutine for c's work, once.
func (g *callers) startReplacement(c *Caller) {
	if c.Replace != nil && !c.replaced {
		c.replaced = true
		c.Replace()
	}
}

// WantsFlush records that a connection has output. It is called inside the engine.
func (e *Engine) WantsFlush(f Flusher) { e.callers.unflushed = append(e.callers.unflushed, f) }

// flushLater gives c the connections that have output, for its next Flush.
func (g *callers) flushLater(c *Caller) {
	c.unflushed = append(c.unflushed, g.unflushed...)
	clear(g.unflushed)
	g.unflushed = g.unflushed[:0]
}

// Flush writes the output that units have queued, as far as the sockets take it.
// The first few connections are written in order, so a waiter gets the unlock
// message before the unlocking client gets its reply. The rest are written in reverse
// order, as in Redis 7.0. So a client that publishes to a thousand subscribers gets its
// reply early, and sends its next command while the subscribers' sockets are written.
func (c *Caller) Flush() {
	few := min(len(c.unflushed), flushInOrder)
	for _, f := range c.unflushed[:few] {
		f.Flush()
	}
	for _, f := range slices.Backward(c.unflushed[few:]) {
		f.Flush()
	}
	clear(c.unflushed)
	c.unflushed = c.unflushed[:0]
}

// Readied reports whether this caller's Do or Run made goroutines runnable since
// the last call of Readied.
func (c *Caller) Readied() bool {
	readied := c.readied
	c.readied = false
	return readied
}
