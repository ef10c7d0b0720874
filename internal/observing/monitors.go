package observing

import (
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// Engine is what Monitors need of the engine.
type Engine interface {
	// Attend is called when the first client monitors, and when the last one no longer does.
	Attend()
}

// Monitors are the clients of MONITOR. Each command is shown to them after its reply is queued,
// as in Redis, so that a monitor sees the reply to its own command first. A command with the
// flag SkipMonitor runs others (EVAL, FCALL): it is shown before them.
type Monitors struct {
	engine Engine
	env    *command.Env
	watch  *Stopwatch
	list   []*command.Session // in the order of their MONITOR
	line   []byte             // the line that is written; kept for reuse
}

// maxLine is the largest line, in bytes, whose memory is kept for reuse.
const maxLine = 1 << 20

// NewMonitors returns an empty list.
func NewMonitors(engine Engine, env *command.Env, watch *Stopwatch) *Monitors {
	return &Monitors{engine: engine, env: env, watch: watch}
}

// Any reports whether there is a monitor.
func (m *Monitors) Any() bool { return len(m.list) > 0 }

// Add makes s a monitor.
func (m *Monitors) Add(s *command.Session) {
	s.Monitor, s.Listens = true, true
	m.list = append(m.list, s)
	m.engine.Attend()
}

// Remove ends the monitoring of s. It does nothing if s is no monitor.
func (m *Monitors) Remove(s *command.Session) {
	if s.Monitor {
		s.Monitor, s.Listens = false, false
		m.list = slices.DeleteFunc(m.list, func(one *command.Session) bool { return one == s })
		m.engine.Attend()
	}
}

// Begins shows a command that runs other commands.
func (m *Monitors) Begins(c *command.Ctx, args resp.Args) {
	if c.Cmd.Has(command.SkipMonitor) && !ofKit(c) {
		m.show(c, args)
	}
}

// Ends shows a command that has run, unless it administers the server. ran is false if the checks
// refused or queued the command: of these an EXEC is shown, because it ends the transaction whose
// MULTI was shown. Commands of the test kit are not shown, and a command that has waited was shown
// before its wait.
func (m *Monitors) Ends(c *command.Ctx, args resp.Args, ran bool) {
	switch {
	case ofKit(c) || c.From == command.FromWait:
	case ran, c.From == command.FromClient && c.Cmd != nil && c.Cmd.Has(command.RunsQueue):
		if c.Cmd.Flags&(command.SkipMonitor|command.Admin) == 0 {
			m.show(c, args)
		}
	}
}

// ofKit reports whether the test kit runs the command. A primary's commands come by the same door.
func ofKit(c *command.Ctx) bool { return c.From == command.FromKit && !c.Session.Primary }

// show writes a command line to all monitors: the time, the database, the client and the
// arguments.
func (m *Monitors) show(c *command.Ctx, args resp.Args) {
	m.watch.Read()
	s := c.Session
	db, client := s.DB, s.Addr
	switch {
	case c.From == command.FromScript:
		db, client = c.DB.ID(), "lua"
	case s.Unix:
		client = "unix:" + m.env.Config.UnixSocket
	}
	b := append(m.line[:0], '+')
	b = appendSeconds(b, m.watch.Micros())
	b = append(b, " ["...)
	b = strconv.AppendInt(b, int64(db), 10)
	b = append(b, ' ')
	b = append(b, client...)
	b = append(b, ']')
	for _, a := range visible(c, args) {
		b = appendQuoted(append(b, ' '), a)
	}
	b = append(b, "\r\n"...)
	for _, to := range slices.Clone(m.list) { // a slow monitor leaves meanwhile
		if to.State().Live() && !to.ReplyMode.Silent() {
			to.Conn.Write(b)
		}
	}
	if m.line = b; cap(b) > maxLine {
		m.line = nil
	}
}

// appendSeconds appends a time in Unix µs as seconds with six decimals.
func appendSeconds(b []byte, micros int64) []byte {
	b = strconv.AppendInt(b, micros/1e6, 10)
	b = append(b, '.')
	for unit := int64(100_000); unit > 0; unit /= 10 {
		b = append(b, byte('0'+micros/unit%10))
	}
	return b
}

// appendQuoted appends an argument in quotes, with escapes for what is not printable ASCII.
func appendQuoted(b, arg []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range arg {
		switch c {
		case '\\', '"':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case '\a':
			b = append(b, `\a`...)
		case '\b':
			b = append(b, `\b`...)
		default:
			if c < ' ' || c > '~' {
				b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '"')
}
