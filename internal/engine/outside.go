package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// This file has the units of no client: of a test kit, of the inspector, and of a clock that a test
// moves.

// Outside runs unit inside the engine, alone and never in the middle of a script. The unit's
// time is the clock's present time. It must not be called inside the engine.
func (e *Engine) Outside(unit func()) {
	e.Do(&Caller{background: true}, func() {
		e.readClock()
		unit()
		e.awaiting.unitEnds()
	})
}

// RunDirect runs a command on database db without a connection. It passes the reply to
// use, inside the engine. The reply is valid until use returns. CLIENT PAUSE, maxmemory,
// passwords and rename-command do not apply. A blocking command answers as if its timeout had ended. A
// command about its connection (MULTI, SUBSCRIBE, AUTH) gets an error reply.
func (e *Engine) RunDirect(db int, args resp.Args, use func(resp.Reply)) {
	e.Outside(func() {
		kit := e.Kit()
		use(kit.direct(kit.session(db), args))
		e.parking.serveReady()
	})
}

// noConn is the connection of a session that has none.
type noConn struct{}

func (noConn) Write([]byte) bool                 { return true }
func (noConn) Kill()                             {}
func (noConn) Wake()                             {}
func (noConn) Sizes(bool) (none command.Buffers) { return none }

// NextDeadline returns when the timer has something to do next, in Unix ms: a key, a wait or a pause
// ends, or a save point is reached. ok is false if it has nothing to do. It is called inside the engine.
func (e *Engine) NextDeadline() (at int64, ok bool) {
	e.env.Space.NextDeadline() // makes the bound exact
	at = e.timer.next()
	return max(at, e.env.Space.Now()), at != 0
}

// EndDue ends every key, wait and pause whose deadline has come. It is called inside Outside.
func (e *Engine) EndDue() {
	for e.timer.endDue() {
	}
}
