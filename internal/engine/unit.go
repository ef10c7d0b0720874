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
// it is nil. With the verdict heldBack or withheld there is no reply yet.
func (u *unit) run(c *command.Ctx, args resp.Args, handler command.Func) (v verdict, reply resp.Reply) {
	e := u.e
	v, reply = e.checks.admit(c, args)
	if c.From == command.FromClient && v < heldBack && c.Session.State() == command.Held {
		c.Session.Move(command.Ready)
	}
	if v == admitted {
		if handler == nil {
			handler = c.Cmd.Run
		}
		reply = u.call(c, args, handler)
	}
	switch c.From {
	case command.FromClient:
		if !u.answer(c, args, v, reply) {
			return v, reply
		}
	case command.FromExec:
		e.replies.Send(c, reply)
	}
	if e.attention.looking != 0 {
		u.show(c, args, v)
	}
	return v, reply
}

// answer queues the reply to a client's command, or what a parked command needs to be served. It
// returns false if the command is held back.
func (u *unit) answer(c *command.Ctx, args resp.Args, v verdict, reply resp.Reply) bool {
	e, s := u.e, c.Session
	switch {
	case v == heldBack:
		e.pausing.hold(s)
		return false
	case v == withheld:
		s.Move(command.Held)
		return false
	case s.Parked == nil:
		e.replies.end(s, reply)
	default:
		e.parking.keepLine(s.Parked, args)
	}
	return true
}

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
			e.disconnect("executing", s, cause)
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
	held := s.State() == command.Held
	v, _ := u.run(c, args, nil)
	if v == heldBack || v == withheld {
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
		switch v, reply := u.run(&q, args, nil); {
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
