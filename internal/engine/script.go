package engine

import (
	"context"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// scriptRun is the running script, if any. Scripts do not nest.
//
// A script that can loop passes a safe point every thousand or so instructions.
// Once it has overrun busy-reply-threshold it runs there the units of those who
// stand in line: all but a few commands answer -BUSY.
type scriptRun struct {
	e       *Engine
	running bool
	busy    bool // past busy-reply-threshold
	killed  bool
	wrote   bool // a write command ran: SCRIPT KILL is refused
	noWrite bool
	oom     bool  // maxmemory was exceeded when it began: it may not take more
	started int64 // Unix µs

	failures failures

	ctx  command.Ctx // of the script's commands
	keys [][]byte    // KEYS
}

func (r *scriptRun) init(e *Engine) { r.e = e }

// runner is the engine as command.Runner.
type runner Engine

// RunScript runs a script as c's session.
func (n *runner) RunScript(c *command.Ctx, s *luaexec.Script, keys, args [][]byte, readOnly bool) resp.Reply {
	e := (*Engine)(n)
	r := &e.script
	flags := s.Flags()
	readOnly = readOnly || flags.NoWrites
	oom := c.Config.MaxMemory > 0 && !readOnly && !flags.AllowOOM && e.outOfMemory()
	if oom && flags.HasShebang {
		return errScriptOOM
	}
	r.running, r.busy, r.killed, r.wrote = true, false, false, false
	r.noWrite, r.oom = readOnly, oom
	r.started = e.env.Micros
	r.ctx = command.Ctx{Env: &e.env, Session: c.Session, DB: c.DB, Proto: 2, DenyBlocking: true, InScript: true}
	r.keys = keys
	r.failures.forget()
	defer func() { r.running = false }()
	reply := e.env.Scripts.Run(s, keys, args, r)
	r.countReply(c, reply)
	return reply
}

// Call runs one command for the script, with the checks of Redis's
// script.c scriptCall.
func (r *scriptRun) Call(args resp.Args) resp.Reply {
	cmd := r.e.env.Table.Find(args)
	if refusal, refused := r.refuse(cmd, args); refused {
		r.failed(refusal)
		if cmd != nil {
			cmd.Calls.Rejected++
		}
		return refusal
	}
	if cmd.Has(command.Write) {
		r.wrote = true
	}
	r.ctx.Cmd = cmd
	reply := r.e.call(&r.ctx, args)
	if reply.IsError() {
		r.failed(reply)
	}
	return reply
}

func (r *scriptRun) refuse(cmd *command.Command, args resp.Args) (resp.Reply, bool) {
	switch {
	case cmd == nil:
		return errScriptUnknown, true
	case !cmd.ArityOK(len(args)):
		return errScriptArity, true
	case cmd.Has(command.NoScript):
		return errScriptNoScript, true
	case r.noWrite && writes(cmd.Flags):
		return errScriptReadOnly, true
	case r.oom && cmd.Has(command.DenyOOM) && !r.wrote:
		return resp.ErrOOM, true
	}
	return resp.Reply{}, false
}

// SetProtocol is redis.setresp.
func (r *scriptRun) SetProtocol(v int) { r.ctx.Proto = v }

// Allowed is redis.acl_check_cmd: without ACL rules every known command is.
func (r *scriptRun) Allowed(args resp.Args) (ok, known bool) {
	known = r.e.env.Table.Find(args) != nil
	return known, known
}

// Log is redis.log: levels 0 debug to 3 warning.
func (r *scriptRun) Log(level int, msg string) {
	r.e.log.Log(context.Background(), config.LogLevelNumber(level), "script", "message", msg)
}

// Tick is a safe point of the running script. It reports whether the script is
// to end.
func (r *scriptRun) Tick() (kill bool) {
	if r.e.interrupted.Load() {
		return true
	}
	r.e.holder.Flush()
	if r.e.holder != r.e.running {
		r.e.replace(r.e.holder)
	}
	if !r.busy {
		threshold := r.e.env.Config.BusyReply.Load()
		if threshold <= 0 || r.e.clock.Now().UnixMicro()-r.started < threshold*1000 {
			return false
		}
		r.busy = true
		if r.e.running.Shared {
			r.e.replace(r.e.running)
		}
		r.e.log.Warn("slow script detected: still in execution; SCRIPT KILL ends it", "milliseconds", threshold)
	}
	for !r.killed { // who comes after SCRIPT KILL meets no script
		c := r.e.gate.leaveAtSafePoint()
		if c == nil {
			break
		}
		r.e.runUnit(c)
		c.woken <- struct{}{}
	}
	return r.killed
}

// KillScript is SCRIPT KILL.
func (n *runner) KillScript() resp.Reply {
	r := &n.script
	switch {
	case !r.running:
		return errNotBusy
	case r.wrote:
		return errUnkillable
	}
	r.killed = true
	return resp.OK
}

// Busy reports whether a script is running.
func (n *runner) Busy() (refusal resp.Reply, busy bool) { return errBusy, n.script.running }

// RunQueued runs one command of a transaction and queues its reply.
func (n *runner) RunQueued(c *command.Ctx, cmd *command.Command, args resp.Args) {
	e := (*Engine)(n)
	q := command.Ctx{Env: c.Env, Session: c.Session, Cmd: cmd, DB: c.Space.DB(c.Session.DB), Proto: c.Session.Proto, DenyBlocking: true}
	r := e.call(&q, args)
	if r.IsError() && !q.Counted {
		e.countError(r.Text())
	}
	n.Send(&q, r)
}

// Send queues a reply for c's session.
func (n *runner) Send(c *command.Ctx, r resp.Reply) {
	if !c.Session.ReplyMode.Silent() {
		(*Engine)(n).write(c.Session, r)
	}
}
