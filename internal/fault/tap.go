package fault

import "github.com/lockredis/lockredis/internal/command"

// tap is a session's connection while a rule changes the session's output. It may wrap
// another tap.
type tap struct {
	command.Conn
	rule    *Rule
	session *command.Session
	passing bool
	kept    []byte // output that is delayed or to be sent again
}

// tap puts a new tap in front of the session's connection.
func (f *Injector) tap(s *command.Session, rule *Rule) *tap {
	t := &tap{Conn: s.Conn, rule: rule, session: s}
	s.Conn = t
	return t
}

// Write is command.Conn's.
func (t *tap) Write(encoded []byte) bool {
	switch kind := t.rule.Kind; {
	case t.passing:
		return t.Conn.Write(encoded)
	case kind == LoseReply, kind == Mute:
		return true
	case kind == DuplicateReply:
		t.kept = append(t.kept, encoded...)
		return t.Conn.Write(encoded)
	}
	t.kept = append(t.kept, encoded...)
	return true
}

// pass writes the kept output and removes t, if no other tap wraps it.
func (t *tap) pass() {
	if len(t.kept) > 0 {
		t.Conn.Write(t.kept)
	}
	t.passing, t.kept = true, nil
	for {
		outermost, ok := t.session.Conn.(*tap)
		if !ok || !outermost.passing {
			return
		}
		t.session.Conn = outermost.Conn
	}
}

// noConn is the connection of a client that has left, and whose requests run late.
type noConn struct{}

func (noConn) Write([]byte) bool                 { return true }
func (noConn) Kill()                             {}
func (noConn) Wake()                             {}
func (noConn) Sizes(bool) (none command.Buffers) { return none }
