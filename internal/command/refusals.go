package command

import (
	"cmp"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// Refusals remembers what clients were refused, so that the log names it once for each command
// and client library, and not for every connection. The zero value is empty.
type Refusals struct {
	seen map[refusal]struct{}
}

// refusal is a command that a client was refused. client is its library, or its name.
type refusal struct{ command, client string }

const (
	mostRefusals = 256 // that are remembered
	mostName     = 64  // bytes of a name in them
)

// First reports whether the log should name the refusal of command. When as many are
// remembered as there may be, it reports the first one of each connection.
func (r *Refusals) First(s *Session, command string) bool {
	key := refusal{shortName(command), shortName(cmp.Or(s.LibName, s.Name))}
	if _, known := r.seen[key]; known {
		return false
	}
	if len(r.seen) < mostRefusals {
		if r.seen == nil {
			r.seen = map[refusal]struct{}{}
		}
		r.seen[key] = struct{}{}
		return true
	}
	first := !s.RefusalLogged
	s.RefusalLogged = true
	return first
}

func shortName(name string) string { return strings.Clone(name[:min(len(name), mostName)]) }

// habits are subcommands of CLIENT that newer clients send to every server. A client works
// without them, so the log does not name them.
var habits = map[string]bool{
	"SETINFO": true, "MAINT_NOTIFICATIONS": true, "CAPA": true, "NO-TOUCH": true,
}

// Habit reports whether a command that is not in the table is one that newer clients send to every
// server. It notes the library that CLIENT SETINFO names, for Refusals.
func Habit(s *Session, args resp.Args) bool {
	if len(args) < 2 || !IsWord(args[0], "client") || !habits[strings.ToUpper(args.String(1))] {
		return false
	}
	if len(args) == 4 && IsWord(args[1], "setinfo") && IsWord(args[2], "lib-name") {
		s.LibName = shortName(args.String(3))
	}
	return true
}
