package engine

import (
	"cmp"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
)

// sessions are the open connections.
type sessions struct {
	order []seat                 // in the order of ids, so oldest first
	open  int                    // seats that are taken
	next  int64                  // the next session's id
	left  func(*command.Session) // called for each session that leaves
}

// seat is the place of one session in the order of ids. It is empty after the
// session has left.
type seat struct {
	id int64
	s  *command.Session // nil: left
}

// firstID is the id of the first client, as in Redis, where the scripts have the two before.
const firstID = 3

// newSessions returns an empty list. The list calls left for each session that leaves.
func newSessions(left func(*command.Session)) sessions { return sessions{next: firstID, left: left} }

// add gives s the next id.
func (l *sessions) add(s *command.Session) {
	s.ID = l.next
	l.next++
	l.open++
	if len(l.order) > 2*l.open+16 { // not in remove, because Each may be walking the list
		l.dropEmptySeats()
	}
	l.order = append(l.order, seat{s.ID, s})
}

// dropEmptySeats replaces the list by a smaller one.
func (l *sessions) dropEmptySeats() {
	taken := slices.DeleteFunc(l.order, func(at seat) bool { return at.s == nil })
	l.order = append(make([]seat, 0, 2*l.open), taken...)
}

// remove empties the seat of s and reports whether s had one.
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
	byID := func(at seat, id int64) int { return cmp.Compare(at.id, id) }
	i, ok := slices.BinarySearchFunc(l.order, id, byID)
	if !ok {
		return nil
	}
	return &l.order[i]
}

// ByID returns the session, nil when there is none.
func (l *sessions) ByID(id int64) *command.Session {
	if at := l.find(id); at != nil {
		return at.s
	}
	return nil
}

// Each visits the sessions in the order of their ids. Any of them may leave
// meanwhile.
func (l *sessions) Each(do func(*command.Session) bool) {
	for _, at := range l.order {
		if at.s != nil && !do(at.s) {
			return
		}
	}
}

// Open returns how many sessions there are.
func (l *sessions) Open() int { return l.open }

// Kill closes a connection and removes its session at once.
func (l *sessions) Kill(s *command.Session) {
	l.drop(s)
	s.Conn.Kill()
}

// drop removes a session and calls left. A second call does nothing.
func (l *sessions) drop(s *command.Session) {
	if l.remove(s) {
		s.Move(command.Gone)
		l.left(s)
	}
}

// Join gives a new session its id and defaults. It is called inside Do.
func (e *Engine) Join(s *command.Session) {
	e.readClock()
	e.sessions.add(s)
	s.Created, s.LastActive = e.env.Space.Now(), e.env.Space.Now()
	s.Panicked = e.panics.delivery
	command.ResetSession(&e.env, s)
	e.env.Stats.Connections++
}

// Leave removes a session, its wait, its watched keys and its subscriptions. It is called
// inside Do. A second call does nothing.
func (e *Engine) Leave(s *command.Session) {
	e.sessions.drop(s)
	e.awaiting.unitEnds()
}

// LeaveUnread is Leave for a session whose client closed the connection. source has the
// commands that the client sent before and that have not run. If a fault delays them, they
// run later.
func (e *Engine) LeaveUnread(s *command.Session, source Source) {
	if e.faults != nil {
		e.faults.KeepLate(s, source.Next)
	}
	e.Leave(s)
}

// forget removes a session that has left from every room.
func (e *Engine) forget(s *command.Session) {
	if e.faults != nil {
		e.faults.Forget(s)
	}
	if s.Replica != nil {
		e.replicas.Left(s)
	}
	e.pausing.remove(s)
	e.monitors.Remove(s)
	if s.Parked != nil {
		e.parking.remove(s.Parked)
	}
	e.env.DropQueue(s)
	e.watches.Unwatch(s)
	e.tracking.Forget(s)
	e.env.PubSub.Close(s, &s.Subs)
	e.awaiting.stir() // an owner that polls may be gone
	for _, last := range []*command.Ctx{&e.unit.ctx, &e.script.ctx} {
		if last.Session == s { // its buffers are garbage now
			last.Session = nil
		}
	}
}

// Connections returns how many connections are open. It is called inside Do.
func (e *Engine) Connections() int { return e.sessions.Open() }
