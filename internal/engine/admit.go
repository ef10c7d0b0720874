package engine

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// verdict is what admit decides about a command.
type verdict uint8

const (
	admitted verdict = iota // the handler is to be called
	refused                 // the reply is Engine.answer
	enqueued                // the transaction has queued it; the reply is Engine.answer
	heldBack                // CLIENT PAUSE holds it back: no reply yet
	withheld                // a fault holds it up: no reply yet
)

// admit makes every check between a command and its handler, in Redis's order
// (7.0.15, processCommand in server.c, scriptCall in script.c). c.From decides
// which checks apply:
//
//   - FromClient: all but the script's.
//   - FromScript: that the command exists, its arity, and what scripts may not do.
//   - FromKit: that the command exists, its arity, and that it needs no connection. Its
//     keys may be in any slot.
//   - FromExec: that the user still has the right. The rest was checked when the command
//     was queued.
//   - FromWait: none. The command was admitted when it was parked.
//
// Code that refuses, redirects or delays commands goes here and nowhere else. A new
// check goes to its position in Redis's order. c.Cmd is nil for an unknown command.
func (e *Engine) admit(c *command.Ctx, args resp.Args) verdict {
	switch c.From {
	case command.FromClient:
		return e.admitFromClient(c, args)
	case command.FromScript:
		return e.admitFromScript(c, args)
	case command.FromKit:
		return e.admitFromKit(c, args)
	case command.FromExec:
		return e.admitFromExec(c, args)
	}
	return admitted
}

// admitFromClient makes the checks of a connection's command.
func (e *Engine) admitFromClient(c *command.Ctx, args resp.Args) verdict {
	if e.faults != nil {
		if v := e.injected(c, args); v != admitted {
			return v
		}
	}
	s, cmd := c.Session, c.Cmd
	switch {
	case cmd == nil && isWebRequest(args[0]):
		return e.dropWebRequest(s)
	case cmd == nil:
		return e.refuse(c, e.unknown(s, args))
	case !cmd.ArityOK(len(args)):
		return e.refuse(c, resp.ErrArity(cmd.Name))
	case cmd.Has(command.Protected) && !allows(c):
		return e.refuse(c, errProtected(cmd))
	case !s.Authenticated.Load() && c.Users.AuthRequired() && !cmd.Has(command.NoAuth):
		return e.refuse(c, errNoAuth)
	case s.Multi != nil && cmd.Has(command.NoMulti):
		return e.refuse(c, errInMulti)
	case s.User.Restricted() && e.forbidden(c, args):
		return e.refuse(c, e.answer)
	case c.Cluster != nil && e.misrouted(c, args):
		return e.misroute(c)
	case c.Config.MaxMemory > 0 && e.exceedsMemory(c, args):
		return e.refuse(c, resp.ErrOOM)
	case e.files.Refuses() && e.cannotPersist(c, args):
		return e.refuse(c, errMisconf)
	case c.Config.LacksReplicas() && e.lineFlags(c, args).Has(command.Write):
		return e.refuse(c, errNoReplicas)
	case s.Proto == 2 && !cmd.Has(command.WhileSubscribed) && s.Subscribed():
		return e.refuse(c, errSubscribed(cmd.Name))
	case e.midway && e.refusesMidway(c):
		return e.refuse(c, e.answer)
	case s.Monitor && e.lineFlags(c, args)&(command.ReadOnly|command.Write|command.MayReplicate) != 0:
		return e.refuse(c, errMonitor)
	case !s.Monitor && e.pausing.delays(c.Now()) && e.pausing.applies(e.lineFlags(c, args)):
		return heldBack
	case s.Multi != nil && !cmd.Has(command.InMulti):
		return e.enqueue(c, args)
	}
	return admitted
}

// allows reports whether the client may run a command with the flag Protected.
func allows(c *command.Ctx) bool {
	access := c.Config.DebugCommand
	switch {
	case c.Cmd.Has(command.Own):
		access = c.Config.LockCommands
	case ofModules(c.Cmd):
		access = c.Config.ModuleCommand
	}
	return access.Allows(c.Session.Local())
}

// isDebug reports whether cmd is DEBUG: the command that enable-debug-command is about.
func isDebug(cmd *command.Command) bool {
	return cmd.Has(command.Protected) && !cmd.Has(command.Own) && !ofModules(cmd)
}

// admitFromScript makes the checks of redis.call.
func (e *Engine) admitFromScript(c *command.Ctx, args resp.Args) verdict {
	cmd, r := c.Cmd, &e.script
	switch {
	case cmd == nil:
		return e.refuse(c, errScriptUnknown)
	case !cmd.ArityOK(len(args)):
		return e.refuse(c, errScriptArity)
	case cmd.Has(command.NoScript) && !(e.env.DebugInScripts && isDebug(cmd) && allows(c)):
		return e.refuse(c, errScriptNoScript)
	case c.Session.User.Restricted() && e.forbidden(c, args):
		return e.refuse(c, e.answer)
	case r.noWrite && replicates(cmd.Flags):
		return e.refuse(c, errScriptReadOnly)
	case cmd.Has(command.Write) && e.files.Refuses():
		return e.refuse(c, errMisconf)
	case cmd.Has(command.Write) && c.Config.LacksReplicas():
		return e.refuse(c, errNoReplicas)
	case r.oom && cmd.Has(command.DenyOOM) && !r.wrote:
		return e.refuse(c, resp.ErrOOM)
	case r.routed && e.misroutedInScript(c, args):
		return e.refuse(c, e.answer)
	}
	return admitted
}

// admitFromKit makes the checks of RunDirect.
func (e *Engine) admitFromKit(c *command.Ctx, args resp.Args) verdict {
	switch cmd := c.Cmd; {
	case cmd == nil:
		return e.refuse(c, e.unknown(c.Session, args))
	case !cmd.ArityOK(len(args)):
		return e.refuse(c, resp.ErrArity(cmd.Name))
	case cmd.Has(command.NeedsConnection):
		return e.refuse(c, errNoConnection(cmd.Name))
	}
	return admitted
}

// refuse counts a refused command and makes refusal its reply. A command that is refused
// inside MULTI makes EXEC fail. A refused EXEC ends the transaction.
func (e *Engine) refuse(c *command.Ctx, refusal resp.Reply) verdict {
	if c.Cmd != nil {
		c.Calls().Rejected++
	}
	if c.From == command.FromClient && c.Session.Multi != nil {
		c.Session.Multi.Dirty = true
	}
	if c.From == command.FromClient && c.Cmd != nil && c.Cmd.Has(command.RunsQueue) {
		command.EndTransaction(c)
		refusal = errAborted(refusal)
	}
	e.errors.count(refusal.Text())
	e.answer = refusal
	return refused
}

// enqueue adds a command to the transaction, unless EXEC is certain to fail.
func (e *Engine) enqueue(c *command.Ctx, args resp.Args) verdict {
	e.answer = resp.Queued
	s := c.Session
	if s.Multi.Dirty || s.Touched {
		return enqueued
	}
	e.env.Queued += s.Multi.Add(c.Cmd, e.lineFlags(c, args), copied(args))
	return enqueued
}

// copied returns a copy of args that shares no memory with it.
func copied(args resp.Args) [][]byte {
	c := make([][]byte, len(args))
	for i, a := range args {
		c[i] = append([]byte{}, a...)
	}
	return c
}

// lineFlags returns the flags of a command line. EXEC has the flags of every
// command that it has queued.
func (e *Engine) lineFlags(c *command.Ctx, args resp.Args) command.Flags {
	f := command.LineFlags(c, args)
	if c.Session.Multi != nil && c.Cmd.Has(command.RunsQueue) {
		f |= c.Session.Multi.Flags
	}
	return f
}

// replicates reports whether a command with these flags may have an effect that Redis
// sends to its replicas. CLIENT PAUSE WRITE delays such commands, and a read-only script
// may not call them.
func replicates(f command.Flags) bool { return f&(command.Write|command.MayReplicate) != 0 }

// exceedsMemory reports whether maxmemory refuses the command. Before, it evicts keys:
// every command of a client does, except at a safe point. A transaction's
// queue takes memory, too, so inside MULTI only the commands that end it are allowed.
func (e *Engine) exceedsMemory(c *command.Ctx, args resp.Args) bool {
	if e.midway || !e.memory.Exceeded() {
		return false
	}
	return e.lineFlags(c, args).Has(command.DenyOOM) ||
		c.Session.Multi != nil && !c.Cmd.Has(command.EndsMulti)
}

// cannotPersist reports whether the command is refused after a save that failed. PING is
// refused too, so that health checks find the failure.
func (e *Engine) cannotPersist(c *command.Ctx, args resp.Args) bool {
	return e.lineFlags(c, args).Has(command.Write) || c.Cmd.Has(command.TellsHealth)
}

// isWebRequest recognises HTTP. A web page can make a browser send commands in the body
// of a POST request.
func isWebRequest(name []byte) bool {
	return strings.EqualFold(string(name), "post") || strings.EqualFold(string(name), "host:")
}

// dropWebRequest closes the connection without a reply.
func (e *Engine) dropWebRequest(s *command.Session) verdict {
	e.log.Warn("possible security attack: a client sends POST or Host: commands", "client", s.Addr)
	e.sessions.Kill(s)
	e.answer = resp.NoReply
	return refused
}

// unknown returns the error reply to a command or subcommand that is not in the table.
func (e *Engine) unknown(s *command.Session, args resp.Args) resp.Reply {
	e.logUnknown(s, args)
	if cmd := e.env.Table.Lookup(args[0]); cmd != nil && len(args) > 1 {
		container := strings.ToUpper(cString(args[0], len(args[0])))
		return errUnknownSubcommand(cString(args[1], 128), container)
	}
	var quoted strings.Builder
	for _, a := range args[1:] {
		if quoted.Len() >= 128 {
			break
		}
		quoted.WriteString("'" + cString(a, 128-quoted.Len()) + "' ")
	}
	return errUnknown(cString(args[0], 128), quoted.String())
}

// cString returns at most n bytes of b, up to the first NUL, as C's %.*s.
func cString(b []byte, n int) string {
	s := string(b[:min(n, len(b))])
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

const (
	hintSingle   = "configure the client for a single server (Redisson: useSingleServer)"
	hintSentinel = "start one with lockredis --sentinel, or "
)

// logUnknown writes a log line for an unknown command, once for a client library. A client that
// expects another topology is told what to configure.
func (e *Engine) logUnknown(s *command.Session, args resp.Args) {
	name := strings.ToUpper(cString(args[0], 128))
	if e.env.Table.Lookup(args[0]) != nil && len(args) > 1 {
		name += " " + strings.ToUpper(cString(args[1], 128))
	}
	if command.Habit(s, args) || !e.env.Refusals.First(s, name) {
		e.log.Debug("unknown command", "command", name, "client", s.Addr)
		return
	}
	line := []any{"command", cString(args[0], 128), "client", s.Addr, "name", s.Name}
	if s.LibName != "" {
		line = append(line, "library", s.LibName)
	}
	if len(args) > 1 {
		line = append(line, "argument", cString(args[1], 128))
	}
	if strings.EqualFold(string(args[0]), "sentinel") {
		line = append(line, "hint", "this server is no Sentinel: "+hintSentinel+hintSingle)
	}
	e.log.Warn("unknown command", line...)
}
