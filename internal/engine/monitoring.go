package engine

import (
	"slices"
	"strconv"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// monitors are the clients of MONITOR. Each command is shown to them after its reply is queued,
// as in Redis, so that a monitor sees the reply to its own command first. A command with the
// flag skip_monitor runs others (EVAL, FCALL): it is shown before them.
type monitors struct {
	e    *Engine
	list []*command.Session // in the order of their MONITOR
	line []byte             // the line that is written; kept for reuse
}

// any reports whether there is a monitor.
func (m *monitors) any() bool { return len(m.list) > 0 }

// Add makes s a monitor.
func (m *monitors) Add(s *command.Session) {
	s.Monitor = true
	m.list = append(m.list, s)
	m.e.attend()
}

// Remove ends the monitoring of s. It does nothing if s is no monitor.
func (m *monitors) Remove(s *command.Session) {
	if s.Monitor {
		s.Monitor = false
		m.list = slices.DeleteFunc(m.list, func(one *command.Session) bool { return one == s })
		m.e.attend()
	}
}

// commandBegins shows a command that runs other commands.
func (m *monitors) commandBegins(c *command.Ctx, args resp.Args) {
	if c.Cmd.Has(command.SkipMonitor) && c.From != command.FromKit {
		m.show(c, args)
	}
}

// commandEnds shows a command that has run, unless it administers the server. Of the refused
// commands EXEC is shown: it ends the transaction whose MULTI was shown. Commands of the test kit
// are not shown, and a command that has waited was shown before its wait.
func (m *monitors) commandEnds(c *command.Ctx, args resp.Args, v verdict) {
	switch {
	case c.From == command.FromKit || c.From == command.FromWait:
	case v == admitted,
		v == refused && c.From == command.FromClient && c.Cmd != nil && c.Cmd.Has(command.RunsQueue):
		if c.Cmd.Flags&(command.SkipMonitor|command.Admin) == 0 {
			m.show(c, args)
		}
	}
}

// show writes a command line to all monitors: the time, the database, the client and the
// arguments. As in Redis, monitors see nothing while a file is read.
func (m *monitors) show(c *command.Ctx, args resp.Args) {
	e := m.e
	if e.reading {
		return
	}
	e.stopwatch.read()
	s := c.Session
	db, client := s.DB, s.Addr
	switch {
	case c.From == command.FromScript:
		db, client = c.DB.ID(), "lua"
	case s.Unix:
		client = "unix:" + e.env.Config.UnixSocket
	}
	b := append(m.line[:0], '+')
	b = appendSeconds(b, e.stopwatch.micros())
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
	if m.line = b; cap(b) > maxScratch {
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
