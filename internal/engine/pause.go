package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
)

// pause is what CLIENT PAUSE set: until when commands are held back, and whose
// are. When it ends, they go on in the order in which they were held: each one
// that has run its command wakes the next.
type pause struct {
	until      int64 // Unix ms, 0: no pause
	writesOnly bool
	waiting    []*command.Session // held, first come first
	released   []*command.Session // to be woken, one after the other
	next       *command.Session   // was woken and has not run its command yet
}

// writes reports whether a pause for writes holds a command back: one that may
// replicate.
func writes(f command.Flags) bool { return f&(command.Write|command.MayReplicate) != 0 }

// Pause holds commands back until a time in Unix ms. A longer pause that is
// under way stays, and so does a stricter one.
func (l *clients) Pause(until int64, writesOnly bool) {
	p := &l.pause
	under := p.until > l.env.Space.Now()
	p.writesOnly = writesOnly && (!under || p.writesOnly)
	if !under || until > p.until {
		p.until = until
	}
	l.env.Space.KeepExpired = true
}

// Unpause lets everybody go on.
func (l *clients) Unpause() { (*Engine)(l).endPause() }

func (e *Engine) endPause() {
	e.pause.until = 0
	e.env.Space.KeepExpired = false
	e.pause.released = append(e.pause.released, e.pause.waiting...)
	e.pause.waiting = nil
	if e.pause.next == nil {
		e.wakeNext()
	}
}

// hold keeps the session's command back.
func (e *Engine) hold(s *command.Session) {
	s.Held = true
	e.pause.waiting = append(e.pause.waiting, s)
}

// held returns how many sessions a pause holds back, or has not let go yet.
func (p *pause) held() int {
	n := len(p.waiting) + len(p.released)
	if p.next != nil {
		n++
	}
	return n
}

// wakeNext lets the next of those go on that a pause had held.
func (e *Engine) wakeNext() {
	e.pause.next = nil
	if len(e.pause.released) > 0 {
		e.pause.next = e.pause.released[0]
		e.pause.released = e.pause.released[1:]
		e.pause.next.Conn.Wake()
	}
}

// goOn lets the next one go on if s was the one that was woken.
func (e *Engine) goOn(s *command.Session) {
	if e.pause.next == s {
		e.wakeNext()
	}
}

// forgetHeld takes a session out that leaves.
func (e *Engine) forgetHeld(s *command.Session) {
	same := func(other *command.Session) bool { return other == s }
	e.pause.waiting = slices.DeleteFunc(e.pause.waiting, same)
	e.pause.released = slices.DeleteFunc(e.pause.released, same)
	e.goOn(s)
}

// endPauseIfDue ends a pause whose time is up.
func (e *Engine) endPauseIfDue() {
	if e.pause.until > 0 && e.pause.until <= e.env.Space.Now() {
		e.endPause()
	}
}
