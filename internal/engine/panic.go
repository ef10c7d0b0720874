package engine

import (
	"runtime/debug"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// A panic is a mistake of ours. It costs one client its connection, and never
// the server its life or another client its answer. Four places catch it, the
// innermost first:
//
//   - call, a handler's: the client is told -ERR internal error, the rest of its
//     transaction or script runs, and then its connection is closed.
//   - execute, serve, endWait and undelivered, what is around a handler, or done
//     for a client by another: the connection is closed.
//   - endDue, the timer's work: it is tried again a little later.
//   - runUnit, all the rest of what connections do inside the engine.
//
// What a handler had done until then stays done, as with an error.

// panicked writes down what went wrong, and whose command it was. It is called
// while the stack of the panic is still there.
func (e *Engine) panicked(where string, s *command.Session, cause any) {
	e.wroteDown(where, s, cause, debug.Stack())
}

func (e *Engine) wroteDown(where string, s *command.Session, cause any, stack []byte) {
	e.env.Stats.Unexpected++
	client := int64(0)
	if s != nil {
		client = s.ID
	}
	e.log.Error("panic", "in", where, "client", client, "panic", cause, "stack", string(stack))
}

// call runs a command's handler. A panic costs the client an error reply and its
// connection.
func (e *Engine) call(c *command.Ctx, args resp.Args) (reply resp.Reply) {
	cmd := c.Cmd
	defer func() {
		if cause := recover(); cause != nil {
			e.panicked(cmd.Name, c.Session, cause)
			c.Session.Closing = true
			if p := c.Session.Parked; p != nil { // it waits no longer
				e.parking.remove(p)
			}
			reply = resp.ErrInternal
		}
		if reply.IsError() {
			cmd.Calls.Failed++
		}
	}()
	e.env.Stats.Commands++
	cmd.Calls.Calls++
	return cmd.Run(c, args)
}

// serve runs a parked command again. A panic costs its client the connection.
func (e *Engine) serve(p *command.Parked, c *command.Ctx, key []byte) (reply resp.Reply, served bool) {
	defer func() {
		if cause := recover(); cause != nil {
			e.disconnect(p.Cmd.Name, p.Session, cause)
			reply, served = resp.ErrInternal, true
		}
	}()
	return p.Serve(c, key)
}

// disconnect ends the connection of a client for whom something was done that
// panicked, perhaps by another's goroutine: it leaves the engine by itself.
func (e *Engine) disconnect(where string, s *command.Session, cause any) {
	e.panicked(where, s, cause)
	s.Failed = true
	s.Conn.Kill()
}

// undelivered is told of a message that did not reach its subscriber.
func (e *Engine) undelivered(s *command.Session, cause any) { e.disconnect("delivery", s, cause) }

// runGuarded runs a unit. The connection whose command it ran last is closed
// when it panics.
func (e *Engine) runGuarded(unit func()) {
	outer := e.client
	defer func() {
		if cause := recover(); cause != nil {
			e.panicked("a unit", e.client, cause)
			if e.client != nil {
				e.client.Closing = true
			}
		}
		e.client = outer
	}()
	e.client = nil
	unit()
}

// scriptPanicked is told of a panic inside the Lua machine or its libraries.
func (e *Engine) scriptPanicked(cause any, stack []byte) {
	s := e.script.ctx.Session
	e.wroteDown("script", s, cause, stack)
	s.Closing = true
}

// retryAfter is how long the timer's work waits after it went wrong, in
// milliseconds: what makes it panic may be due for ever.
const retryAfter = 100

// endDue is runDue, whatever happens.
func (e *Engine) endDue() (more bool) {
	defer func() {
		if cause := recover(); cause != nil {
			e.panicked("the timer", nil, cause)
			e.timer.notBefore = e.env.Space.Now() + retryAfter
			more = false
		}
	}()
	return e.runDue()
}
