package engine

import (
	"context"
	"sync/atomic"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
)

// scriptRun is the running script or function. Scripts do not nest, so there is one at most.
// It is command.ScriptRunner for the handlers and luaexec.Host for the script.
//
// A script that can loop passes safe points, see package luaexec. After
// busy-reply-threshold, each safe point runs the units of the queued callers. There all
// but a few commands answer -BUSY. SCRIPT KILL, SHUTDOWN NOSAVE and the like work.
type scriptRun struct {
	e       *Engine
	running bool
	busy    bool // past busy-reply-threshold
	killed  bool
	wrote   bool        // a write command ran: SCRIPT KILL is refused
	noWrite bool        // a read-only script: its write commands are refused
	oom     bool        // maxmemory was exceeded when it began: DenyOOM commands are refused
	started int64       // Unix µs
	ended   atomic.Bool // Kit.EndScript ends it; atomic, as that needs no lock
	routed  bool        // cluster mode: its keys must belong to this node
	anySlot bool        // its keys may be in several slots

	errors scriptErrors // errorCounts forgets them when it has counted the errors in the script's reply

	ctx  command.Ctx // of the script's commands
	keys [][]byte    // KEYS

	function *luaexec.Function // nil in a run of a script
	line     resp.Args         // the command line of the function's call
}

// Run runs a script as c's session.
func (r *scriptRun) Run(c *command.Ctx, s *luaexec.Script, keys, args [][]byte) resp.Reply {
	if refusal, ok := r.begin(c, s.Flags(), keys); !ok {
		return refusal
	}
	if r.e.turning.ahead != 0 {
		args = r.e.turning.moveTimes(args)
	}
	if r.e.attention&byJournal != 0 {
		r.e.journal.Runs(journal.Script{SHA: s.SHA(), Keys: keys, Args: args})
	}
	defer r.end()
	reply := c.Scripts.Run(s, keys, args, r)
	if r.e.attention&byRecord != 0 {
		r.asked(c, keys, args, reply)
	}
	if r.e.turning.ahead != 0 {
		reply = r.e.turning.moveBack(reply)
	}
	return reply
}

// asked tells the record of locks how a script has ended. Clients that wait for a number of waiters look
// again.
func (r *scriptRun) asked(c *command.Ctx, keys, args [][]byte, reply resp.Reply) {
	if name := r.e.record.Asked(c.Session, c.DB.ID(), keys, args, reply); name != "" {
		r.e.awaiting.changed(name)
	}
}

// RunFunction runs a function as c's session.
func (r *scriptRun) RunFunction(c *command.Ctx, f *luaexec.Function, line resp.Args, keys int) resp.Reply {
	declared, args := line[3:3+keys], line[3+keys:]
	if refusal, ok := r.begin(c, f.Flags(), declared); !ok {
		return refusal
	}
	r.function, r.line = f, line
	if r.e.attention&byJournal != 0 {
		r.e.journal.Runs(journal.Script{Function: f.Name(), Keys: declared, Args: args})
	}
	defer r.end()
	reply := c.Scripts.RunFunction(f, declared, args, r)
	if r.e.attention&byRecord != 0 {
		r.asked(c, declared, args, reply)
	}
	return reply
}

// begin prepares a run as c's session. ok is false if the flags of the script or the function, or
// maxmemory, forbid the run.
func (r *scriptRun) begin(c *command.Ctx, flags luaexec.Flags, keys [][]byte) (refusal resp.Reply, ok bool) {
	readOnly := c.Cmd.Flags&command.ReadOnly != 0 // EVAL_RO, EVALSHA_RO and FCALL_RO
	switch {
	case flags.NoCluster && c.Cluster != nil:
		return errScriptCluster, false
	case readOnly && flags.HasShebang && !flags.NoWrites:
		return errScriptWrites, false
	}
	if r.e.attention&forPlace != 0 {
		if refusal, is := r.stale(c, flags); is {
			return refusal, false
		}
	}
	readOnly = readOnly || flags.NoWrites
	oom := c.Config.MaxMemory > 0 && !readOnly && !flags.AllowOOM && r.e.memory.Exceeded()
	if oom && flags.HasShebang {
		return errScriptOOM, false
	}
	r.running, r.busy, r.killed, r.wrote = true, false, false, false
	r.e.midway = true
	r.noWrite, r.oom = readOnly, oom
	r.started = c.Micros
	r.routed = r.e.attention&forCluster != 0 && c.From != command.FromKit
	r.anySlot = !flags.HasShebang || flags.AllowCrossSlotKeys
	r.ctx = command.Ctx{Env: c.Env, Session: c.Session, DB: c.DB, Proto: 2, From: command.FromScript}
	r.keys = keys
	if r.e.attention&byRecord != 0 {
		r.e.record.Begins(c.Session, keys)
	}
	return refusal, true
}

// end ends a run. It forgets the command line, which keeps the client's buffer in memory.
func (r *scriptRun) end() {
	if r.e.attention&byJournal != 0 {
		r.e.journal.Ran()
	}
	if r.e.attention&byRecord != 0 {
		r.e.record.Ends()
	}
	r.running, r.function, r.line, r.keys = false, nil, nil, nil
	r.e.midway = r.e.reading
}

// Command runs one command for the script (redis.call).
func (r *scriptRun) Command(args resp.Args) resp.Reply {
	r.ctx.Cmd = r.ctx.Table.Find(args)
	v, refusal := r.e.checks.fromScript(&r.ctx, args)
	reply := r.e.unit.run(&r.ctx, args, v, refusal)
	if r.e.interrupted.Load() || r.ended.Load() {
		r.ctx.Scripts.TickSoon()
	}
	return reply
}

// SetProtocol is redis.setresp.
func (r *scriptRun) SetProtocol(v int) { r.ctx.Proto = v }

// SetTold is redis.set_repl.
func (r *scriptRun) SetTold(told bool) { r.ctx.Untold = !told }

// Allowed is redis.acl_check_cmd.
func (r *scriptRun) Allowed(args resp.Args) (ok, known bool) {
	cmd, user := r.ctx.Table.Find(args), r.ctx.Session.User
	if cmd == nil || !user.Restricted() {
		return cmd != nil, cmd != nil
	}
	reason, _ := user.Check(cmd.ACLLine(args))
	return reason == acl.Allowed, true
}

// Log is redis.log: levels 0 debug to 3 warning.
func (r *scriptRun) Log(level int, msg string) {
	r.e.log.Log(context.Background(), config.LogLevelNumber(level), "script", "message", msg)
}

// Tick is a safe point of the running script. It reports whether the script must end.
func (r *scriptRun) Tick() (kill bool) {
	e := r.e
	if e.interrupted.Load() || r.ended.Load() {
		return true
	}
	e.callers.helpOthers()
	if !r.busy && !r.becomesBusy() {
		return false
	}
	e.callers.runQueuedAtSafePoint(func() bool { return r.killed })
	return r.killed
}

// becomesBusy reports whether the script has overrun busy-reply-threshold.
func (r *scriptRun) becomesBusy() bool {
	e := r.e
	threshold := e.env.Config.BusyReply.Load()
	if threshold <= 0 || e.clock.Now().UnixMicro()-r.started < threshold*1000 {
		return false
	}
	r.busy = true
	if g := &e.callers; g.running.Shared {
		g.startReplacement(g.running)
	}
	ending := "SCRIPT KILL"
	if r.function != nil {
		ending = "FUNCTION KILL"
	}
	e.log.Warn("slow script detected: still in execution",
		"milliseconds", threshold, "ended-by", ending)
	return true
}

// Kill is SCRIPT KILL, or FUNCTION KILL if function is true. Neither ends what the other is
// for.
func (r *scriptRun) Kill(function bool) resp.Reply {
	switch {
	case !r.running:
		return errNotBusy
	case r.wrote:
		return errUnkillable
	case function != (r.function != nil):
		return r.refusal()
	}
	r.killed = true
	return resp.OK
}

// refusal is the reply to commands that may not run while the script runs.
func (r *scriptRun) refusal() resp.Reply {
	if r.function != nil {
		return errBusyFunction
	}
	return errBusy
}

// Busy reports whether a script is running.
func (r *scriptRun) Busy() (refusal resp.Reply, busy bool) { return r.refusal(), r.running }

// Function describes the running function.
func (r *scriptRun) Function() (name string, line resp.Args, millis int64, ok bool) {
	if r.function == nil {
		return "", nil, 0, false
	}
	return r.function.Name(), r.line, (r.e.clock.Now().UnixMicro() - r.started) / 1000, true
}

// panicked logs a panic inside the Lua machine or its libraries, and closes the
// client's connection.
func (r *scriptRun) panicked(cause any, stack []byte) {
	s := r.ctx.Session
	r.e.panics.logStack("script", s, cause, stack)
	s.Move(command.Closing)
}
