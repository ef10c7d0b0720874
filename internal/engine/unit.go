package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/resp"
)

// unit runs commands. A command comes by one of five doors (command.Origin): a client sends it,
// EXEC has queued it, a script calls it, the test kit calls it, or it has waited. Each door makes
// the Ctx, asks its checks (admit.go) and calls run. A command that has waited was checked and shown
// before: its door calls call.
type unit struct {
	e   *Engine
	ctx command.Ctx // of a client's command

	steered bool // a primary's EXEC runs: its commands are no units of their own
}

// run calls the handler of a command if v, the verdict of the door's checks, is admitted. Else the
// reply is refusal, which the checks returned, too. run queues the reply of a client's or of a queued
// command. Then monitors and tracking see the command.
func (u *unit) run(c *command.Ctx, args resp.Args, v verdict, refusal *resp.Reply) (reply resp.Reply) {
	e := u.e
	if v == admitted {
		reply = u.call(c, args, c.Cmd.Run)
	} else {
		reply = *refusal
		e.stopwatch.Read() // a call would have read it
	}
	s := c.Session
	switch {
	case s == nil:
		return reply // it has left: a web request
	case c.From == command.FromExec:
		e.replies.Send(c, reply)
	case c.From != command.FromClient: // the door has the reply
	case s.Parked == nil:
		e.replies.end(s, reply)
	default:
		e.parking.keepLine(s.Parked, args)
	}
	if e.attention&shown != 0 {
		u.show(c, args, v)
	}
	return reply
}

// shown are the rooms that show sees a command for.
const shown = byMonitors | byTracking

// show shows a command that has ended to monitors and to tracking.
func (u *unit) show(c *command.Ctx, args resp.Args, v verdict) {
	e := u.e
	if e.attention&byMonitors != 0 {
		e.monitors.Ends(c, args, v == admitted)
	}
	if e.tracking.Active() && c.From == command.FromClient {
		e.tracking.CommandEnds(c)
	}
}

// execute is the door of clients. It reports false when CLIENT PAUSE or a fault delays the command.
func (u *unit) execute(s *command.Session, args resp.Args) (ran bool) {
	e := u.e
	e.current = s
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
	again := s.State() == command.Postponed
	switch v, refusal := e.checks.fromClient(c, args); v {
	case postponed:
		e.pausing.postpone(s)
		return false
	case delayed:
		s.Move(command.Postponed)
		return false
	default:
		if again {
			s.Move(command.Ready)
		}
		u.run(c, args, v, refusal)
	}
	if e.attention&forCluster != 0 {
		endAsking(s, c.Cmd)
	}
	if again {
		e.pausing.remove(s)
	}
	return true
}

// direct is the door of the test kit, and of the lines of a log. It runs a command as a unit.
func (u *unit) direct(c *command.Ctx, args resp.Args) resp.Reply {
	u.e.journal.Unit(journal.UnitBegins)
	defer u.e.journal.Unit(journal.UnitEnds)
	if u.e.peer != nil && !u.e.midway {
		u.e.peer.follow()
	}
	v, refusal := u.e.checks.fromKit(c, args)
	return u.run(c, args, v, refusal)
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
			Env: c.Env, Session: c.Session, Cmd: t.Cmds[i], DB: c.Space.DB(c.Session.DB),
			Proto: c.Session.Proto, From: command.FromExec,
		}
		v, refusal := u.e.checks.fromExec(&q, args)
		reply := u.run(&q, args, v, refusal)
		switch {
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
