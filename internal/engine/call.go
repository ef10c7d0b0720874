package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// call runs the handler of a command that the checks admitted. It is the only place
// that does so: for clients, for EXEC, for scripts, for the test kit, and for a
// parked command that is served. It keeps the statistics and the journal. Code that
// measures, shows, delays or loses a command goes here.
//
// A panic costs the client an -ERR internal error and its connection. handler is the command's own,
// or what replaces it.
func (u *unit) call(c *command.Ctx, args resp.Args, handler command.Func) (reply resp.Reply) {
	e := u.e
	s := c.Session
	if s.Hidden != nil {
		s.Hidden = nil
	}
	if e.attention&byMonitors != 0 {
		e.monitors.Begins(c, args)
	}
	if e.attention&byJournal != 0 {
		e.journal.Begins(c, args)
	}
	began, measured := e.measures.Begins(c)
	defer u.account(c, args, &reply, began, measured)
	return handler(c, args)
}

// account is deferred by call. It counts a command whose handler has returned or panicked, and shows
// it to the rooms that look. began and measured are what Measures.Begins returned.
func (u *unit) account(c *command.Ctx, args resp.Args, reply *resp.Reply, began int64, measured bool) {
	e := u.e
	if cause := recover(); cause != nil {
		*reply = u.handlerPanicked(c, cause)
	}
	// Counted after the command, so that CONFIG RESETSTAT counts itself. A served command was
	// counted when it parked, see Measures.Served.
	if c.From != command.FromWait {
		e.env.Stats.Commands++
		calls := e.env.Table.Calls(c.Cmd)
		calls.Calls++
		if measured {
			e.measures.Ends(c, calls, args, began)
		}
	}
	if reply.IsError() ||
		c.Cmd.Flags&runsScripts != 0 && (len(reply.Elems()) > 0 || e.script.errors.texts != nil) {
		e.errors.ended(c, *reply)
	}
	if e.attention&(byTracking|byJournal) != 0 {
		if e.attention&byTracking != 0 && c.Cmd.Flags&command.ReadOnly != 0 {
			e.tracking.Remember(c, args)
		}
		if e.attention&byJournal != 0 {
			e.journal.Ends(c, args, reply)
		}
	}
}

// handlerPanicked logs the panic and closes the client's connection: after the error
// reply, or at once if the client was parked.
func (u *unit) handlerPanicked(c *command.Ctx, cause any) resp.Reply {
	e := u.e
	s := c.Session
	if c.From == command.FromWait {
		e.panics.disconnect(c.Cmd.Name, s, cause)
		return resp.ErrInternal
	}
	e.panics.log(c.Cmd.Name, s, cause)
	if s.Parked != nil {
		e.parking.remove(s.Parked)
	}
	s.Move(command.Closing)
	return resp.ErrInternal
}
