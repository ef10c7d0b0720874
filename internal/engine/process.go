package engine

import (
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// process makes Redis's checks, in Redis's order (server.c processCommand),
// and runs the command, or queues it for EXEC. held says that CLIENT PAUSE
// keeps the command back.
func (e *Engine) process(c *command.Ctx, args resp.Args) (reply resp.Reply, held bool) {
	s, cmd := c.Session, c.Cmd
	s.LastCommand = cmd
	if cmd == nil && isWebRequest(args[0]) {
		e.log.Warn("possible security attack: it looks like somebody is sending POST or Host: commands", "client", s.Addr)
		e.env.Clients.Kill(s)
		return resp.NoReply, false
	}
	if refusal, refused := e.refuse(c, args); refused {
		return e.reject(c, refusal), false
	}
	if e.pause.until > c.Now() && (!e.pause.writesOnly || writes(e.flags(c, args))) {
		return resp.NoReply, true
	}
	if s.Multi != nil && !runsInsideMulti(cmd) {
		if !s.Multi.Dirty && !s.Touched { // it will not run
			s.Multi.Add(cmd, e.flags(c, args), copyArgs(args))
		}
		return resp.Queued, false
	}
	return e.call(c, args), false
}

// isWebRequest recognises a browser that was lured into sending commands.
func isWebRequest(name []byte) bool {
	return strings.EqualFold(string(name), "post") || strings.EqualFold(string(name), "host:")
}

func copyArgs(args resp.Args) [][]byte {
	copied := make([][]byte, len(args))
	for i, a := range args {
		copied[i] = append([]byte{}, a...)
	}
	return copied
}

func runsInsideMulti(cmd *command.Command) bool {
	switch cmd.Name {
	case "exec", "discard", "multi", "watch", "quit", "reset":
		return true
	}
	return false
}

// refuse returns the error of a command that must not run now.
func (e *Engine) refuse(c *command.Ctx, args resp.Args) (resp.Reply, bool) {
	s, cmd := c.Session, c.Cmd
	if cmd == nil {
		return e.unknown(args), true
	}
	if !cmd.ArityOK(len(args)) {
		return resp.ErrArity(cmd.Name), true
	}
	if cmd.Has(command.Protected) {
		if refusal, refused := e.refuseProtected(s, cmd); refused {
			return refusal, true
		}
	}
	if c.Config.RequirePass != "" && !s.Authenticated && !cmd.Has(command.NoAuth) {
		return errNoAuth, true
	}
	if s.Multi != nil && cmd.Has(command.NoMulti) {
		return errInMulti, true
	}
	if c.Config.MaxMemory > 0 && !e.script.running && e.deniedOverLimit(c, args) && e.outOfMemory() {
		return resp.ErrOOM, true
	}
	if s.Proto == 2 && s.Subscribed() && !allowedWhileSubscribed(cmd) {
		return errSubscribed(cmd.Name), true
	}
	if e.script.running && !cmd.Has(command.AllowBusy) {
		return errBusy, true
	}
	return resp.Reply{}, false
}

func allowedWhileSubscribed(cmd *command.Command) bool {
	switch cmd.Name {
	case "ping", "subscribe", "ssubscribe", "psubscribe", "unsubscribe", "sunsubscribe", "punsubscribe", "quit", "reset":
		return true
	}
	return false
}

// reject answers a refused command: inside MULTI it spoils the transaction,
// and a refused EXEC ends it.
func (e *Engine) reject(c *command.Ctx, refusal resp.Reply) resp.Reply {
	if c.Cmd != nil {
		c.Cmd.Calls.Rejected++
	}
	if s := c.Session; s.Multi != nil {
		s.Multi.Dirty = true
	}
	if c.Cmd == nil || c.Cmd.Name != "exec" {
		return refusal
	}
	command.EndTransaction(c)
	return errAborted(refusal)
}

// unknown is the answer to a command or subcommand that the table lacks.
func (e *Engine) unknown(args resp.Args) resp.Reply {
	name := cString(args[0], 128)
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
	return errUnknown(name, quoted.String())
}

// cString returns at most n bytes of b and none from a NUL on, as C's %.*s.
func cString(b []byte, n int) string {
	s := string(b[:min(n, len(b))])
	if i := strings.IndexByte(s, 0); i >= 0 {
		s = s[:i]
	}
	return s
}

// refuseProtected guards DEBUG with enable-debug-command.
func (e *Engine) refuseProtected(s *command.Session, cmd *command.Command) (resp.Reply, bool) {
	if e.env.Config.DebugCommand.Allows(s.Local()) {
		return resp.Reply{}, false
	}
	family, _, _ := strings.Cut(cmd.Name, "|")
	return errProtected(family), true
}

// flags returns what kind of command a line is. EXEC is of every kind that it has
// queued.
func (e *Engine) flags(c *command.Ctx, args resp.Args) command.Flags {
	f := command.LineFlags(c, args)
	if c.Session.Multi != nil && c.Cmd.Name == "exec" {
		f |= c.Session.Multi.Flags
	}
	return f
}

// deniedOverLimit reports whether maxmemory forbids the command once it is
// exceeded. The policy is noeviction: nothing is evicted. A queue takes memory,
// so MULTI forbids whatever does not end it.
func (e *Engine) deniedOverLimit(c *command.Ctx, args resp.Args) bool {
	return c.Session.Multi != nil && !endsMulti(c.Cmd) || e.flags(c, args).Has(command.DenyOOM)
}

func endsMulti(cmd *command.Command) bool {
	switch cmd.Name {
	case "exec", "discard", "quit", "reset":
		return true
	}
	return false
}
