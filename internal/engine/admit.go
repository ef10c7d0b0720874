package engine

import (
	"strings"

	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// verdict is what the checks decide about a command.
type verdict uint8

const (
	admitted  verdict = iota // the handler is to be called
	refused                  // the reply says why
	enqueued                 // the transaction has queued it
	postponed                // CLIENT PAUSE or MIGRATE postpones it: no reply yet
	delayed                  // a fault delays it: no reply yet
)

// checks decides whether a command may run. It makes every check between a command and its handler,
// in Redis's order (7.0.15, processCommand in server.c, scriptCall in script.c). Each door has its
// checks:
//
//   - fromClient: all but the script's.
//   - fromScript: that the command exists, its arity, and what scripts may not do.
//   - fromKit: that the command exists, its arity, and that it needs no connection. Its
//     keys may be in any slot.
//   - fromExec: that the user still has the right. The rest was checked when the command
//     was queued.
//   - A command that has waited has none: it was admitted before it was parked.
//
// Code that refuses, redirects or delays commands goes here and nowhere else. A new
// check goes to its position in Redis's order. c.Cmd is nil for an unknown command. The reply
// is that to a command that is refused or enqueued; nil: there is none.
type checks struct {
	e    *Engine
	line acl.Line // of the command whose rights are checked
}

// fromClient makes the checks of a connection's command.
func (k *checks) fromClient(c *command.Ctx, args resp.Args) (verdict, *resp.Reply) {
	e, s, cmd := k.e, c.Session, c.Cmd
	if e.attention&forFaults != 0 {
		if v, reply := e.injected(c, args); v != admitted {
			return v, reply
		}
	}
	switch {
	case cmd == nil && isWebRequest(args[0]):
		return k.dropWebRequest(s)
	case cmd == nil:
		return k.refuse(c, k.unknown(s, args))
	case !cmd.ArityOK(len(args)):
		return k.refuse(c, resp.ErrArity(cmd.Name))
	case cmd.Flags&command.Protected != 0 && !allows(c):
		return k.refuse(c, errProtected(cmd))
	case !s.Authenticated.Load() && c.Users.AuthRequired() && !cmd.Has(command.NoAuth):
		return k.refuse(c, errNoAuth)
	case s.Multi != nil && cmd.Has(command.NoMulti):
		return k.refuse(c, errInMulti)
	}
	if c.Session.User.Restricted() {
		if refusal, is := k.forbidden(c, args); is {
			return k.refuse(c, refusal)
		}
	}
	if e.attention&forCluster != 0 {
		if refusal, is := k.misrouted(c, args); is {
			return k.redirect(c, refusal)
		}
	}
	switch {
	case e.attention&forMemory != 0 && k.exceedsMemory(c, args):
		return k.refuse(c, resp.ErrOOM)
	case e.attention&forSave != 0 && k.cannotPersist(c, args):
		return k.refuse(c, errMisconf)
	}
	if e.attention&forPlace != 0 {
		flags := lineFlags(c, args)
		if refusal, is := k.misplaced(c, flags); is {
			return k.refuse(c, refusal)
		}
		if refusal, is := k.loads(c, flags); is {
			return k.refuse(c, refusal)
		}
	}
	switch {
	case s.Proto == 2 && cmd.Flags&command.WhileSubscribed == 0 && s.Subs.Any():
		return k.refuse(c, errSubscribed(cmd.Name))
	}
	if e.midway {
		if refusal, is := e.refusesMidway(c); is {
			return k.refuse(c, refusal)
		}
	}
	switch {
	case s.Listens && lineFlags(c, args)&(command.ReadOnly|command.Write|command.MayReplicate) != 0:
		return k.refuse(c, errMonitor)
	case e.attention&forPause != 0 && !s.Listens && e.pausing.delays(c.Now()) &&
		e.pausing.applies(lineFlags(c, args)):
		return postponed, nil
	case s.Multi != nil && !cmd.Has(command.InMulti):
		return k.enqueue(c, args)
	case e.attention&forMigrate != 0 && e.migrates.delays(c, args):
		return postponed, nil
	}
	return admitted, nil
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

// fromScript makes the checks of redis.call.
func (k *checks) fromScript(c *command.Ctx, args resp.Args) (verdict, *resp.Reply) {
	e, cmd, r := k.e, c.Cmd, &k.e.script
	switch {
	case cmd == nil:
		return k.refuse(c, errScriptUnknown)
	case !cmd.ArityOK(len(args)):
		return k.refuse(c, errScriptArity)
	case cmd.Flags&command.NoScript != 0 && !(c.DebugInScripts && isDebug(cmd) && allows(c)):
		return k.refuse(c, errScriptNoScript)
	}
	if c.Session.User.Restricted() {
		if refusal, is := k.forbidden(c, args); is {
			return k.refuse(c, refusal)
		}
	}
	switch {
	case r.noWrite && replicates(cmd.Flags):
		return k.refuse(c, errScriptReadOnly)
	case e.attention&forSave != 0 && cmd.Flags&command.Write != 0:
		return k.refuse(c, errMisconf)
	case r.oom && cmd.Flags&command.DenyOOM != 0 && !r.wrote:
		return k.refuse(c, resp.ErrOOM)
	}
	if e.attention&forPlace != 0 {
		if refusal, is := k.misplaced(c, cmd.Flags); is {
			return k.refuse(c, refusal)
		}
	}
	if r.routed {
		if refusal, is := k.misroutedInScript(c, args); is {
			return k.refuse(c, refusal)
		}
	}
	r.wrote = r.wrote || cmd.Flags&command.Write != 0
	return admitted, nil
}

// fromKit makes the checks of RunDirect and of visitors. Of the commands that need a connection a
// visitor has those that wait: CLOCK.ADVANCE.
func (k *checks) fromKit(c *command.Ctx, args resp.Args) (verdict, *resp.Reply) {
	switch cmd := c.Cmd; {
	case cmd == nil:
		return k.refuse(c, k.unknown(c.Session, args))
	case !cmd.ArityOK(len(args)):
		return k.refuse(c, resp.ErrArity(cmd.Name))
	case cmd.Has(command.NeedsConnection) && !(c.Session.Visitor && cmd.Has(command.Own)):
		return k.refuse(c, errNoConnection(cmd.Name))
	}
	if k.e.midway && c.Session.Visitor {
		if refusal, is := k.e.refusesMidway(c); is {
			return k.refuse(c, refusal)
		}
	}
	return admitted, nil
}

// fromExec makes the checks of a queued command. It was admitted when it was queued, but the
// user's rights may have changed. Its refusal counts as an error of EXEC.
func (k *checks) fromExec(c *command.Ctx, args resp.Args) (verdict, *resp.Reply) {
	if c.Session.User.Restricted() {
		if refusal, is := k.forbidden(c, args); is {
			return refused, &refusal
		}
	}
	return admitted, nil
}

// refuse refuses a command. A refused EXEC says that its transaction is aborted.
func (k *checks) refuse(c *command.Ctx, refusal resp.Reply) (verdict, *resp.Reply) {
	if c.From == command.FromClient && c.Cmd != nil && c.Cmd.Has(command.RunsQueue) {
		refusal = errAborted(refusal)
	}
	return k.redirect(c, refusal)
}

// redirect counts a refused command and makes refusal its reply. A command that is refused
// inside MULTI makes EXEC fail. A refused EXEC ends the transaction.
func (k *checks) redirect(c *command.Ctx, refusal resp.Reply) (verdict, *resp.Reply) {
	if c.From == command.FromClient {
		if c.Session.Multi != nil {
			c.Session.Multi.Dirty = true
		}
		if c.Cmd != nil && c.Cmd.Has(command.RunsQueue) {
			command.EndTransaction(c)
		}
	}
	k.e.errors.rejected(c, refusal)
	return refused, &refusal
}

// enqueue adds a command to the transaction, unless EXEC is certain to fail.
func (k *checks) enqueue(c *command.Ctx, args resp.Args) (verdict, *resp.Reply) {
	if s := c.Session; !s.Multi.Dirty && !s.Touched {
		c.Queued += s.Multi.Add(c.Cmd, lineFlags(c, args), copied(args))
	}
	return enqueued, &resp.Queued
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
func lineFlags(c *command.Ctx, args resp.Args) command.Flags {
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
func (k *checks) exceedsMemory(c *command.Ctx, args resp.Args) bool {
	if k.e.midway || !k.e.memory.Exceeded() {
		return false
	}
	return lineFlags(c, args).Has(command.DenyOOM) ||
		c.Session.Multi != nil && !c.Cmd.Has(command.EndsMulti)
}

// cannotPersist reports whether the command is refused after a save that failed. PING is
// refused too, so that health checks find the failure.
func (k *checks) cannotPersist(c *command.Ctx, args resp.Args) bool {
	return lineFlags(c, args).Has(command.Write) || c.Cmd.Has(command.TellsHealth)
}

// isWebRequest recognises HTTP. A web page can make a browser send commands in the body
// of a POST request.
func isWebRequest(name []byte) bool {
	return strings.EqualFold(string(name), "post") || strings.EqualFold(string(name), "host:")
}

// dropWebRequest closes the connection without a reply.
func (k *checks) dropWebRequest(s *command.Session) (verdict, *resp.Reply) {
	k.e.log.Warn("possible security attack: a client sends POST or Host: commands", "client", s.Addr)
	k.e.sessions.Kill(s)
	return refused, &resp.NoReply
}

// unknown returns the error reply to a command or subcommand that is not in the table.
func (k *checks) unknown(s *command.Session, args resp.Args) resp.Reply {
	if !s.Primary { // a replica logs each error
		k.logUnknown(s, args)
	}
	if cmd := k.e.env.Table.Lookup(args[0]); cmd != nil && len(args) > 1 {
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
func (k *checks) logUnknown(s *command.Session, args resp.Args) {
	e := k.e
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
