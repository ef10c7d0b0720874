package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

// Faults makes requests, replies and messages go wrong on purpose, as fault.Rules say.
//
// admit asks it about each request of a client, before all other checks. replies tells it
// when a reply is complete. The broker asks it about each message. In between, a tap takes
// the place of the session's connection. An engine without Faults compares a pointer with
// nil at each of these places.
//
// A proxy could not do this as well. In the engine a request, a reply and a message have
// bounds, a client has a name and a script has its source. Sockets, TLS and pipes are alike.
//
// A held request survives its connection, as TCP delivers what was sent before the end. The
// commands that the client has sent run later, as a session of their own. Delays are timed in
// lockredistest, because the engine has no clock but its own.
//
// Its exported methods are called outside the engine, the others inside.
type Faults struct {
	e        *Engine
	rules    []*fault.Rule // in the order of Add
	holds    []*hold       // in the order in which they began
	requests map[*command.Session]*hold
	open     map[*command.Session]*tap // for a reply that is not complete
	late     *command.Session          // its requests run late: rules do not apply
	counts   map[string]int            // requests by name
	down     bool
}

// Faults returns the engine's faults. The first call makes them; until then they cost nearly
// nothing.
func (e *Engine) Faults() *Faults {
	e.Outside(func() {
		if e.faults != nil {
			return
		}
		e.faults = &Faults{
			e: e, counts: map[string]int{},
			requests: map[*command.Session]*hold{}, open: map[*command.Session]*tap{},
		}
		e.replies.replied = e.faults.replied
		e.env.PubSub.Drop = e.faults.drops
	})
	return e.faults
}

// Add puts a rule into effect. If several rules select a request, the first one in the order
// of Add that hits it in each phase is used. Only the rules before it count the request.
func (f *Faults) Add(r *fault.Rule) {
	f.e.Outside(func() { f.rules = append(f.rules, r) })
}

// Remove ends a rule. Its held items stay held until ReleaseNext.
func (f *Faults) Remove(r *fault.Rule) {
	f.e.Outside(func() {
		f.rules = slices.DeleteFunc(f.rules, func(other *fault.Rule) bool { return other == r })
	})
}

// ReleaseNext releases the item that the rule has held back for the longest time. It reports false
// when the rule holds nothing back. A released request whose connection is open runs in the
// connection's goroutine, soon.
func (f *Faults) ReleaseNext(r *fault.Rule) (released bool) {
	f.e.Outside(func() {
		for _, h := range f.holds {
			if h.rule == r {
				released = true
				f.release(h)
				return
			}
		}
	})
	return released
}

// Holding returns how many requests and outputs the rule holds back.
func (f *Faults) Holding(r *fault.Rule) (n int) {
	f.e.Outside(func() {
		for _, h := range f.holds {
			if h.rule == r {
				n++
			}
		}
	})
	return n
}

// Cut closes the connections of the clients that which selects, and returns how many. Their
// queued output and their held requests are lost.
func (f *Faults) Cut(which func(fault.Client) bool) (n int) {
	f.e.Outside(func() {
		f.e.sessions.Each(func(s *command.Session) bool {
			if which(clientOf(s)) {
				n++
				f.e.sessions.Kill(s)
			}
			return true
		})
	})
	return n
}

// Silence drops all later output to the clients that which selects, and returns how many. Their
// connections stay open and their commands run.
func (f *Faults) Silence(which func(fault.Client) bool) (n int) {
	f.e.Outside(func() {
		f.e.sessions.Each(func(s *command.Session) bool {
			if which(clientOf(s)) {
				n++
				f.tap(s, &fault.Rule{Kind: fault.Mute})
			}
			return true
		})
	})
	return n
}

// SetDown says whether new connections are closed at once.
func (f *Faults) SetDown(down bool) { f.e.Outside(func() { f.down = down }) }

// DropLate loses the held requests of clients that have closed their connections.
func (f *Faults) DropLate() {
	f.e.Outside(func() {
		f.holds = slices.DeleteFunc(f.holds, func(h *hold) bool { return h.late != nil })
	})
}

// Requests returns how many requests of each name clients have sent. The names are as in
// fault.Request. Refused requests count.
func (f *Faults) Requests() (counts map[string]int) {
	f.e.Outside(func() { counts = maps.Clone(f.counts) })
	return counts
}

// Down reports whether new connections are to be closed at once. It is called inside Do.
func (e *Engine) Down() bool { return e.faults != nil && e.faults.down }

// hold is something that a rule holds back: a request, or a session's output.
type hold struct {
	rule    *fault.Rule
	session *command.Session
	output  *tap       // nil: a request
	passed  bool       // the request was released while its connection was open
	late    [][][]byte // the request and the ones behind it, if the client has left
}

// hold begins to hold h back.
func (f *Faults) hold(h *hold) {
	f.holds = append(f.holds, h)
	if h.rule.OnHold != nil {
		h.rule.OnHold(func() { f.e.Outside(func() { f.release(h) }) })
	}
}

// release lets h go, unless that was done before or its session was killed.
func (f *Faults) release(h *hold) {
	i := slices.Index(f.holds, h)
	if i < 0 {
		return
	}
	f.holds = slices.Delete(f.holds, i, i+1)
	switch {
	case h.output != nil:
		h.output.pass()
	case h.late != nil:
		f.runLate(h)
	default:
		h.passed = true
		h.session.Conn.Wake()
	}
}

// admit applies the rules to a client's request. The verdict admitted means that the other
// checks follow.
func (f *Faults) admit(c *command.Ctx, args resp.Args) verdict {
	s := c.Session
	if f.open[s] != nil || f.late == s {
		return admitted // CLIENT PAUSE held it back and it comes again; or it is late
	}
	r := &request{c: c, args: args}
	if h := f.requests[s]; h == nil {
		f.counts[r.Name()]++
		if v := f.apply(f.first(r, fault.OnRequest), r); v != admitted {
			return v
		}
	} else if !h.passed {
		return withheld
	}
	delete(f.requests, s)
	if rule := f.first(r, fault.OnReply); rule != nil {
		f.open[s] = f.tap(s, rule)
	}
	return admitted
}

// apply makes the request go wrong. rule may be nil.
func (f *Faults) apply(rule *fault.Rule, r *request) verdict {
	switch s := r.c.Session; {
	case rule == nil:
	case rule.Kind == fault.LoseRequest:
		s.Move(command.Closing)
		f.e.answer = resp.NoReply
		return refused
	case rule.Kind == fault.FailRequest:
		return f.e.refuse(r.c, resp.Error(strings.Clone(rule.Error)))
	case rule.Kind == fault.HoldRequest:
		h := &hold{rule: rule, session: s}
		f.requests[s] = h
		f.hold(h)
		return withheld
	}
	return admitted
}

// first returns the first rule of the phase that hits the request, nil if none does.
func (f *Faults) first(r *request, phase fault.Phase) *fault.Rule {
	for _, rule := range f.rules {
		if rule.Kind.Phase() == phase && (rule.Request == nil || rule.Request(r)) && rule.Turn() {
			return rule
		}
	}
	return nil
}

// replied is called when the reply to a session's command has been queued.
func (f *Faults) replied(s *command.Session) {
	t := f.open[s]
	if t == nil {
		return
	}
	delete(f.open, s)
	switch t.rule.Kind {
	case fault.LoseReply:
		s.Move(command.Closing)
	case fault.DuplicateReply:
		t.pass()
	case fault.DelayReply:
		f.holdOutput(t)
	}
}

// holdOutput begins to hold back the output of t. If the rule was removed since the request,
// nothing is held back.
func (f *Faults) holdOutput(t *tap) {
	if !slices.Contains(f.rules, t.rule) {
		t.pass()
		return
	}
	f.hold(&hold{rule: t.rule, session: t.session, output: t})
}

// drops applies the rules to a message and reports whether it is lost. It is the broker's
// Drop.
func (f *Faults) drops(sink pubsub.Sink, m *pubsub.Message) bool {
	s, ok := sink.(*command.Session)
	if !ok {
		return false
	}
	var message fault.Message
	for _, rule := range f.rules {
		if rule.Kind.Phase() != fault.OnMessage {
			continue
		}
		if message.Client.ID == 0 {
			message = fault.Message{
				Client: clientOf(s), Channel: strings.Clone(m.Channel), Payload: string(m.Payload),
			}
		}
		if rule.Message != nil && !rule.Message(message) || !rule.Turn() {
			continue
		}
		if rule.Kind == fault.DropMessage {
			return true
		}
		f.holdOutput(f.tap(s, rule))
		return false
	}
	return false
}

// keepLate keeps the held request of a session whose client closed the connection, and the
// requests that the client has sent after it.
func (f *Faults) keepLate(s *command.Session, source Source) {
	h := f.requests[s]
	if h == nil {
		return
	}
	delete(f.requests, s)
	h.late = [][][]byte{}
	for args, ok := source.Next(); ok; args, ok = source.Next() {
		h.late = append(h.late, copied(args))
	}
	// s leaves the engine now. Its late requests run as a session with the same state.
	late := &command.Session{
		ID: s.ID, Addr: s.Addr, LAddr: s.LAddr, Unix: s.Unix, Name: s.Name, User: s.User,
		DB: s.DB, Proto: s.Proto, Created: s.Created, Multi: s.Multi, Conn: noConn{},
	}
	late.Authenticated.Store(s.Authenticated.Load())
	for _, k := range s.Watched {
		f.e.watches.Watch(late, k.DB, []byte(k.Key))
	}
	late.Touched = s.Touched
	h.session = late
	if h.passed {
		f.runLate(h)
	}
}

// runLate runs the held requests of a client that has left, until one of them waits or ends
// the connection.
func (f *Faults) runLate(h *hold) {
	outer := f.late
	f.late = h.session
	for _, args := range h.late {
		f.e.Execute(h.session, args)
		if h.session.State() != command.Ready {
			break
		}
	}
	f.late = outer
	f.e.forget(h.session)
}

// forget drops the held items of a session that has left.
func (f *Faults) forget(s *command.Session) {
	delete(f.requests, s)
	delete(f.open, s)
	f.holds = slices.DeleteFunc(f.holds, func(h *hold) bool { return h.session == s })
}

// tap is a session's connection while a rule changes the session's output. It may wrap
// another tap.
type tap struct {
	command.Conn
	rule    *fault.Rule
	session *command.Session
	passing bool
	kept    []byte // output that is held back or to be sent again
}

// tap puts a new tap in front of the session's connection.
func (f *Faults) tap(s *command.Session, rule *fault.Rule) *tap {
	t := &tap{Conn: s.Conn, rule: rule, session: s}
	s.Conn = t
	return t
}

// Write is command.Conn's.
func (t *tap) Write(encoded []byte) bool {
	switch kind := t.rule.Kind; {
	case t.passing:
		return t.Conn.Write(encoded)
	case kind == fault.LoseReply, kind == fault.Mute:
		return true
	case kind == fault.DuplicateReply:
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

// copied returns a copy of args that shares no memory with it.
func copied(args resp.Args) [][]byte {
	c := make([][]byte, len(args))
	for i, a := range args {
		c[i] = append([]byte{}, a...)
	}
	return c
}
