package engine

import (
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/store"
)

// pausing is CLIENT PAUSE: it postpones commands until a time. Commands that write a key of MIGRATE wait
// here, too: see migrating. When the pause ends, the sessions run their commands in the order in which they were postponed:
// a session that has run its command wakes the next session.
//
// A Postponed session is in exactly one of three places: waiting, released, or next.
type pausing struct {
	space      *store.Space
	changed    func() // called when a pause begins or ends, which moves the deadline
	until      int64  // Unix ms, 0: no pause
	writesOnly bool
	waiting    []*command.Session // for the end of the pause, or of a MIGRATE
	released   []*command.Session // to be woken, one after the other
	next       *command.Session   // woken, and has not run its command yet
}

// delays reports whether there is a pause at now, in Unix ms.
func (p *pausing) delays(now int64) bool { return p.until > now }

// applies reports whether the pause postpones commands of these flags.
func (p *pausing) applies(f command.Flags) bool { return !p.writesOnly || replicates(f) }

// Pause postpones commands until a time in Unix ms. If there is a pause already,
// the later time and the stricter mode apply.
func (p *pausing) Pause(until int64, writesOnly bool) {
	active := p.delays(p.space.Now())
	p.writesOnly = writesOnly && (!active || p.writesOnly)
	if !active || until > p.until {
		p.until = until
	}
	p.changed()
}

// Unpause ends the pause.
func (p *pausing) Unpause() {
	p.until = 0
	p.changed()
	p.release()
}

// release lets the waiting sessions run their commands. Those that must still wait are postponed anew.
func (p *pausing) release() {
	p.released = append(p.released, p.waiting...)
	p.waiting = nil
	if p.next == nil {
		p.wakeNext()
	}
}

// Due returns when the pause ends, in Unix ms, 0: there is none.
func (p *pausing) Due() int64 { return p.until }

// Fire ends the pause.
func (p *pausing) Fire(int64) (more bool) {
	p.Unpause()
	return false
}

// postpone postpones the session's command. A session that is Postponed already keeps its place.
// But if it was woken for its turn, it goes to the end of waiting: a new pause has begun.
func (p *pausing) postpone(s *command.Session) {
	turn := p.next == s
	if s.State() == command.Postponed && !turn {
		return
	}
	s.Move(command.Postponed)
	p.waiting = append(p.waiting, s)
	if turn {
		p.wakeNext()
	}
}

// remove takes the session out of its place, if it has one. It is called when the
// session's command has run, or when the session has left. If it was the session's turn,
// remove wakes the next session.
func (p *pausing) remove(s *command.Session) {
	if p.next == s {
		p.wakeNext()
		return
	}
	same := func(other *command.Session) bool { return other == s }
	p.waiting = slices.DeleteFunc(p.waiting, same)
	p.released = slices.DeleteFunc(p.released, same)
}

// wakeNext wakes the next released session.
func (p *pausing) wakeNext() {
	p.next = nil
	if len(p.released) > 0 {
		p.next = p.released[0]
		p.released = p.released[1:]
		p.next.Conn.Wake()
	}
}

// Postponed returns how many sessions have a command that is postponed or has not run
// yet.
func (p *pausing) Postponed() int {
	n := len(p.waiting) + len(p.released)
	if p.next != nil {
		n++
	}
	return n
}
