package engine

import (
	"cmp"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
)

// sessions are the open connections.
type sessions struct {
	order []seat // by id, so oldest first; those who have left leave an empty seat
	open  int    // seats that are taken
	next  int64
}

type seat struct {
	id int64
	s  *command.Session // nil: left
}

func newSessions() sessions { return sessions{next: 1} }

// add gives s the next id.
func (l *sessions) add(s *command.Session) {
	s.ID = l.next
	l.next++
	l.open++
	if len(l.order) > 2*l.open+16 { // not when one leaves: a walk may be under way
		l.order = append(make([]seat, 0, 2*l.open), slices.DeleteFunc(l.order, func(at seat) bool { return at.s == nil })...)
	}
	l.order = append(l.order, seat{s.ID, s})
}

// remove takes s out and reports whether it was there.
func (l *sessions) remove(s *command.Session) bool {
	at := l.find(s.ID)
	if at == nil || at.s != s {
		return false
	}
	at.s = nil
	l.open--
	return true
}

// find returns the seat of an id, nil when there is none.
func (l *sessions) find(id int64) *seat {
	i, ok := slices.BinarySearchFunc(l.order, id, func(at seat, id int64) int { return cmp.Compare(at.id, id) })
	if !ok {
		return nil
	}
	return &l.order[i]
}

// byID returns the session, nil when it is gone.
func (l *sessions) byID(id int64) *command.Session {
	if at := l.find(id); at != nil {
		return at.s
	}
	return nil
}

// all walks the sessions in the order of their ids. Any of them may leave
// meanwhile.
func (l *sessions) all(yield func(*command.Session) bool) {
	for _, at := range l.order {
		if at.s != nil && !yield(at.s) {
			return
		}
	}
}

// Join gives a new connection its id and defaults. It is called inside Do.
func (e *Engine) Join(s *command.Session) {
	e.tick()
	e.sessions.add(s)
	s.Created, s.LastActive = e.env.Space.Now(), e.env.Space.Now()
	s.Panicked = e.faults
	command.ResetSession(&e.env, s)
	e.env.Stats.Connections++
}

// Leave forgets a connection and all that it waits for. It is called inside
// Do.
func (e *Engine) Leave(s *command.Session) {
	if !e.sessions.remove(s) {
		return
	}
	s.Gone = true
	e.forgetHeld(s)
	if s.Parked != nil {
		e.parking.remove(s.Parked)
	}
	e.env.Watcher.Unwatch(s)
	e.env.PubSub.Close(s, &s.Subs)
}

// Connections returns how many connections are open. It is called inside Do.
func (e *Engine) Connections() int { return e.sessions.open }

// clients is the engine as command.Clients.
type clients Engine

// Each visits the sessions in the order of their ids. do may have any of them
// leave.
func (l *clients) Each(do func(*command.Session) bool) { l.sessions.all(do) }

// ByID returns the session, nil when it is gone.
func (l *clients) ByID(id int64) *command.Session { return l.sessions.byID(id) }

// Kill closes a connection and forgets its session at once.
func (l *clients) Kill(s *command.Session) {
	(*Engine)(l).Leave(s)
	s.Conn.Kill()
}

// Count returns how many sessions there are, and how many of them wait.
func (l *clients) Count() (open, parked int) {
	return l.sessions.open, len(l.parking.places) + l.pause.held()
}
