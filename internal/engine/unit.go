package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// unit runs commands. A command comes by one of five doors (command.Origin): a client sends it,
// EXEC has queued it, a script calls it, the test kit calls it, or it has waited. Each door makes
// the Ctx and calls run. What is done before, around and after every command is done there.
type unit struct {
	e   *Engine
	ctx command.Ctx // of a client's command
}

// run checks a command, calls its handler and queues the reply of a client's or of a queued
// command. Then monitors and tracking see the command. handler replaces the command's own, unless
// it is nil. With the verdict postponed or delayed there is no reply yet.
func (u *unit) run(c *command.Ctx, args resp.Args, handler command.Func) (reply resp.Reply, v verdict) {
	s := c.Session // c forgets a session that leaves: a web request's
	v, refusal := u.e.checks.admit(c, args)
	if v == admitted && c.From >= command.FromScript && u.e.attention.looking&shown == 0 {
		return u.call(c, args, handler), v // the caller has the reply, and no room sees the command
	}
	return u.complete(c, s, args, handler, v, refusal)
}

// complete is the rest of run for the session s: the call, if the checks admitted the command, and
// its reply. v and refusal are what the checks returned.
func (u *unit) complete(
	c *command.Ctx, s *command.Session, args resp.Args, handler command.Func, v verdict, refusal *resp.Reply,
) (reply resp.Reply, _ verdict) {
	e := u.e
	if c.From == command.FromClient && v < postponed && s.State() == command.Postponed {
		s.Move(command.Ready)
	}
	if v == admitted {
		reply = u.call(c, args, handler)
	} else if refusal != nil {
		reply = *refusal
	}
	switch {
	case v == postponed:
		e.pausing.postpone(s)
		return reply, v
	case v == delayed:
		s.Move(command.Postponed)
		return reply, v
	case c.From == command.FromExec:
		e.replies.Send(c, reply)
	case c.From != command.FromClient:
	case s.Parked == nil:
		e.replies.end(s, reply)
	default:
		e.parking.keepLine(s.Parked, args)
	}
	if e.attention.looking&shown != 0 && c.Session != nil {
		u.show(c, args, v)
	}
	return reply, v
}

// shown are the rooms that show sees a command for.
const shown = byMonitors | byTracking

// show shows a command that has ended to monitors and to tracking.
func (u *unit) show(c *command.Ctx, args resp.Args, v verdict) {
	e := u.e
	if e.attention.looking&byMonitors != 0 {
		e.monitors.commandEnds(c, args, v)
	}
	if e.tracking.Active() && c.From == command.FromClient {
		e.tracking.CommandEnds(c)
	}
}

// execute runs a client's command. A panic outside its handler closes the connection.
func (u *unit) execute(s *command.Session, args resp.Args) (ran bool) {
	e := u.e
	ran, e.current = true, s // a command that panics has run
	defer func() {
		if cause := recover(); cause != nil {
			e.pausing.remove(s)
			e.panics.disconnect("executing", s, cause)
		}
	}()
	s.LastActive = e.env.Space.Now()
	e.env.Space.NoTouch = s.NoTouch
	c := &u.ctx
	if e.midway {
		c = &command.Ctx{}
	}
	*c = command.Ctx{
		Env: &e.env, Session: s, Cmd: e.env.Table.Find(args), DB: e.env.Space.DB(s.DB), Proto: s.Proto,
	}
	s.LastCommand = c.Cmd
	held := s.State() == command.Postponed
	_, v := u.run(c, args, nil)
	if v == postponed || v == delayed {
		return false
	}
	if held {
		e.pausing.remove(s)
	}
	return true
}

// RunQueued runs the commands of a transaction and queues their replies. The commands that ACL
// rules refuse count as one failed call of EXEC.
func (u *unit) RunQueued(c *command.Ctx, t *command.Transaction) {
	failed := false
	for i, args := range t.Queue {
		if t.Cut {
			c.Session.ReplyMode |= command.ReplyOff
		}
		q := command.Ctx{
			Env: c.Env, Session: c.Session, Cmd: t.Cmds[i], DB: c.Space.DB(c.Session.DB), Proto: c.Session.Proto,
			From: command.FromExec,
		}
		switch reply, v := u.run(&q, args, nil); {
		case v == admitted:
		case failed:
			u.e.errors.count(reply.Text())
		default:
			failed = true
			u.e.errors.failed(c.Cmd, reply)
		}
	}
}

// runsQueue reports whether s is in the middle of EXEC.
func (u *unit) runsQueue(s *command.Session) bool {
	return u.ctx.Session == s && u.ctx.Cmd != nil && u.ctx.Cmd.Has(command.RunsQueue)
}
