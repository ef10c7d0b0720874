package engine

import (
	"log/slog"
	"runtime/debug"

	"github.com/lockredis/lockredis/internal/command"
)

// A panic is a bug in lockredis. It costs one client its connection. The server keeps
// running, and other clients get their replies. Five places recover, the innermost first:
//
//   - call: a handler's panic. The client gets -ERR internal error, the rest of
//     its transaction or script runs, and then its connection is closed.
//   - parking.end and Session.Deliver: a panic in work that another unit does for a client. The
//     connection is closed.
//   - events.send: a panic in a keyspace event. It is logged.
//   - timer.fire: a panic in the timer's work. The work is tried again a little
//     later.
//   - runGuarded: every other panic of a unit. The connection of its last command is closed.
//
// The changes that a handler made before the panic stay, as with an error.

// panics logs panics and ends the connections that they cost.
type panics struct {
	stats *command.Stats
	out   *slog.Logger
}

// log logs a panic in a command of s, or in other work if s is nil. The deferred
// function that recovers calls it, so that the log has the stack of the panic.
func (p panics) log(where string, s *command.Session, cause any) {
	p.logStack(where, s, cause, debug.Stack())
}

func (p panics) logStack(where string, s *command.Session, cause any, stack []byte) {
	p.stats.Unexpected++
	client := int64(0)
	if s != nil {
		client = s.ID
	}
	p.out.Error("panic", "in", where, "client", client, "panic", cause, "stack", string(stack))
}

// disconnect closes s's connection after a panic. The panic may have happened in
// another client's goroutine, so s's own goroutine removes the session later.
func (p panics) disconnect(where string, s *command.Session, cause any) {
	p.log(where, s, cause)
	s.Move(command.Failed)
	s.Conn.Kill()
}

// delivery is every session's Panicked.
func (p panics) delivery(s *command.Session, cause any) {
	p.disconnect("delivery", s, cause)
}

// unitPanicked closes the connection of the unit's last command. The timer fires soon and serves the
// keys that the unit has signalled.
func (e *Engine) unitPanicked(cause any) {
	s := e.current
	if s == nil {
		e.panics.log("a unit", nil, cause)
		return
	}
	e.panics.disconnect("a unit", s, cause)
	e.pausing.remove(s)
	e.timer.set(e.env.Space.Now())
}

// runGuarded runs c's unit. A panic closes the connection of the last command.
func (g *callers) runGuarded(c *Caller) {
	e := g.e
	outer := e.current
	defer func() {
		if cause := recover(); cause != nil {
			e.unitPanicked(cause)
		}
		e.current = outer
	}()
	e.current = nil
	if c.unit != nil {
		c.unit()
		return
	}
	g.pull(c.session, c.source)
}
