package engine

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// verdict is what admit decides about a command.
type verdict uint8

const (
	admitted verdict = iota // call it
	refused                 // answer with the reply that admit returns
	enqueued                // the transaction has queued it; answer as for refused
	heldBack                // CLIENT PAUSE keeps it back: no reply yet
)

// admit makes every check between a command and its handler, in Redis's order
// (7.0.15, processCommand in server.c, scriptCall in script.c). c.From decides
// which checks apply:
//
//   - FromClient: all but the script's.
//   - FromScript: that the command exists, its arity, and what scripts may not do.
//   - FromKit: that the command exists, its arity, and that it needs no connection.
//   - FromExec, FromWait: none. The command was admitted when it was queued or
//     parked.
//
// What is to refuse, redirect or delay commands goes here and nowhere else. A new
// check stands at its place in Redis's order. c.Cmd is nil for an unknown command.
func (e *Engine) admit(c *command.Ctx, args resp.Args) (verdict, resp.Reply) {
	switch c.From {
	case command.FromExec, command.FromWait:
		return admitted, resp.Reply{}
	case command.FromScript:
		return e.admitFromScript(c, args)
	case command.FromKit:
		return e.admitFromKit(c, args)
	}
	if c.Cmd == nil && isWebRequest(args[0]) {
		return refused, e.dropWebRequest(c.Session)
	}
	if refusal, ok := e.refuse(c, args); ok {
		return refused, e.reject(c, refusal)
	}
	if e.pausing.delays(c.Now()) && e.pausing.applies(e.lineFlags(c, args)) {
		return heldBack, resp.NoReply
	}
	if c.Session.Multi != nil && !c.Cmd.Has(command.InMulti) {
		e.enqueue(c, args)
		return enqueued, resp.Queued
	}
	return admitted, resp.Reply{}
}

// refuse returns the error reply of a client's command that must not run.
func (e *Engine) refuse(c *command.Ctx, args resp.Args) (refusal resp.Reply, refused bool) {
	s, cmd := c.Session, c.Cmd
	if cmd == nil {
		return e.unknown(c.Session, args), true
	}
	if !cmd.ArityOK(len(args)) {
		return resp.ErrArity(cmd.Name), true
	}
	if cmd.Has(command.Protected) && !c.Config.DebugCommand.Allows(s.Local()) {
		family, _, _ := strings.Cut(cmd.Name, "|")
		return errProtected(family), true
	}
	if !s.Authenticated.Load() && c.Config.RequirePass != "" && !cmd.Has(command.NoAuth) {
		return errNoAuth, true
	}
	if s.Multi != nil && cmd.Has(command.NoMulti) {
		return errInMulti, true
	}
	if c.Config.MaxMemory > 0 && !e.script.running && e.takesMemory(c, args) && e.memory.exceeded() {
		return resp.ErrOOM, true
	}
	if s.Proto == 2 && s.Subscribed() && !cmd.Has(command.WhileSubscribed) {
		return errSubscribed(cmd.Name), true
	}
	if e.script.running && !cmd.Has(command.AllowBusy) {
		return errBusy, true
	}
	return resp.Reply{}, false
}

// admitFromScript makes the checks of redis.call.
func (e *Engine) admitFromScript(c *command.Ctx, args resp.Args) (verdict, resp.Reply) {
	cmd, r := c.Cmd, &e.script
	switch {
	case cmd == nil:
		return refused, e.reject(c, errScriptUnknown)
	case !cmd.ArityOK(len(args)):
		return refused, e.reject(c, errScriptArity)
	case cmd.Has(command.NoScript):
		return refused, e.reject(c, errScriptNoScript)
	case r.noWrite && replicates(cmd.Flags):
		return refused, e.reject(c, errScriptReadOnly)
	case r.oom && cmd.Has(command.DenyOOM) && !r.wrote:
		return refused, e.reject(c, resp.ErrOOM)
	}
	return admitted, resp.Reply{}
}

// admitFromKit makes the checks of RunDirect.
func (e *Engine) admitFromKit(c *command.Ctx, args resp.Args) (verdict, resp.Reply) {
	switch cmd := c.Cmd; {
	case cmd == nil:
		return refused, e.reject(c, e.unknown(c.Session, args))
	case !cmd.ArityOK(len(args)):
		return refused, e.reject(c, resp.ErrArity(cmd.Name))
	case cmd.Has(command.NeedsConnection):
		return refused, e.reject(c, errNoConnection(cmd.Name))
	}
	return admitted, resp.Reply{}
}

// reject counts a refused command and returns its reply. Inside MULTI the refusal
// spoils the transaction, and a refused EXEC ends it.
func (e *Engine) reject(c *command.Ctx, refusal resp.Reply) resp.Reply {
	if c.Cmd != nil {
		c.Cmd.Calls.Rejected++
	}
	if c.From == command.FromClient && c.Session.Multi != nil {
		c.Session.Multi.Dirty = true
	}
	if c.From == command.FromClient && c.Cmd != nil && c.Cmd.Has(command.RunsQueue) {
		command.EndTransaction(c)
		refusal = errAborted(refusal)
	}
	e.errors.count(refusal.Text())
	return refusal
}

// enqueue adds a command to the transaction, unless EXEC will not run it anyway.
func (e *Engine) enqueue(c *command.Ctx, args resp.Args) {
	s := c.Session
	if s.Multi.Dirty || s.Touched {
		return
	}
	copied := make([][]byte, len(args))
	for i, a := range args {
		copied[i] = append([]byte{}, a...)
	}
	s.Multi.Add(c.Cmd, e.lineFlags(c, args), copied)
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

// replicates reports whether commands of these flags may change a replica: a pause
// for writes delays them, and a read-only script may not call them.
func replicates(f command.Flags) bool { return f&(command.Write|command.MayReplicate) != 0 }

// takesMemory reports whether maxmemory refuses the command once it is exceeded.
// The policy is noeviction. A transaction's queue takes memory, too, so inside
// MULTI only the commands that end it are allowed.
func (e *Engine) takesMemory(c *command.Ctx, args resp.Args) bool {
	if c.Session.Multi != nil && !c.Cmd.Has(command.EndsMulti) {
		return true
	}
	return e.lineFlags(c, args).Has(command.DenyOOM)
}

// isWebRequest recognises a web browser that was lured into sending commands.
func isWebRequest(name []byte) bool {
	return strings.EqualFold(string(name), "post") || strings.EqualFold(string(name), "host:")
}

// dropWebRequest closes the connection without a reply.
func (e *Engine) dropWebRequest(s *command.Session) resp.Reply {
	e.log.Warn("possible security attack: a client sends POST or Host: commands", "client", s.Addr)
	e.sessions.Kill(s)
	return resp.NoReply
}

// unknown returns the error reply to a command or subcommand that the table lacks.
func (e *Engine) unknown(s *command.Session, args resp.Args) resp.Reply {
	e.logUnknown(s, args)
	if cmd := e.env.Table.Lookup(args[0]); cmd != nil && len(args) > 1 {
		return errUnknownSubcommand(cString(args[1], 128), strings.ToUpper(cString(args[0], len(args[0]))))
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

// logUnknown writes a log line for a client's first unknown command. A client that
// expects another topology is told what to configure.
func (e *Engine) logUnknown(s *command.Session, args resp.Args) {
	if s.UnknownLogged {
		return
	}
	s.UnknownLogged = true
	line := []any{"command", cString(args[0], 128), "client", s.Addr, "name", s.Name}
	if len(args) > 1 {
		line = append(line, "argument", cString(args[1], 128))
	}
	switch name := string(args[0]); {
	case strings.EqualFold(name, "sentinel"):
		line = append(line, "hint", "this server is no Sentinel: configure the client for a single server (Redisson: useSingleServer)")
	case strings.EqualFold(name, "cluster"):
		line = append(line, "hint", "this server is no cluster node: configure the client for a single server (Redisson: useSingleServer)")
	}
	e.log.Warn("unknown command", line...)
}
