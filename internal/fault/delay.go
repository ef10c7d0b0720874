package fault

import (
	"math"
	"slices"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// delay is something that a rule delays: a request, or a session's output.
type delay struct {
	rule    *Rule
	session *command.Session
	output  *tap        // nil: a request
	passed  bool        // the request was released while its connection was open
	unseen  bool        // a Stop delays the request, and no rule was asked about it yet
	late    []resp.Args // the request and the ones behind it, if the client has left
}

// counts reports whether d is an item that its rule has hit.
func (d *delay) counts() bool { return d.output == nil || d.rule.Kind != Stop }

// start starts the delay d.
func (f *Injector) start(d *delay) {
	f.delays = append(f.delays, d)
	if d.rule.For > 0 {
		f.env.Server.After(d.rule.For, func() { f.engine.Outside(func() { f.release(d) }) })
	}
}

// release lets d go, unless that was done before or its session was killed.
func (f *Injector) release(d *delay) {
	i := slices.Index(f.delays, d)
	if i < 0 {
		return
	}
	f.delays = slices.Delete(f.delays, i, i+1)
	switch {
	case d.output != nil:
		d.output.pass()
	case d.late != nil:
		f.runLate(d)
	default:
		d.passed = true
		f.released = append(f.released, d)
		f.wakeNext()
	}
	f.look()
}

// wakeNext wakes the connection whose request was released first, unless another one was woken and
// has not run its request yet. So requests run in the order in which they were delayed.
func (f *Injector) wakeNext() {
	if f.next == nil && len(f.released) > 0 {
		f.next, f.released = f.released[0], f.released[1:]
		f.next.session.Conn.Wake()
	}
}

// wentOn is called when the released request of s is admitted, is delayed again or never comes.
func (f *Injector) wentOn(s *command.Session) {
	f.released = slices.DeleteFunc(f.released, func(d *delay) bool { return d.session == s })
	if f.next != nil && f.next.session == s {
		f.next = nil
		f.wakeNext()
	}
}

// letGo releases up to most items that the rule delays, and returns how many. It may be called by a
// command: late requests run as units of their own, soon. If the rule has stopped the server, the
// stop is over and all items are released.
func (f *Injector) letGo(r *Rule, most int) (n int) {
	if f.stopped != nil && f.stopped.rule == r {
		f.stopped, most = nil, math.MaxInt
	}
	for _, d := range slices.Clone(f.delays) {
		if d.rule != r || n == most {
			continue
		}
		if d.counts() {
			n++
		}
		if d.late == nil {
			f.release(d)
			continue
		}
		f.delays = slices.DeleteFunc(f.delays, func(other *delay) bool { return other == d })
		f.env.Server.After(0, func() { f.engine.Outside(func() { f.runLate(d) }) })
	}
	f.look()
	return n
}

// KeepLate keeps the delayed request of a session whose client closed the connection, and the
// requests that the client has sent after it: next returns them, and false after the last one.
func (f *Injector) KeepLate(s *command.Session, next func() (resp.Args, bool)) {
	d := f.requests[s]
	if d == nil {
		return
	}
	delete(f.requests, s)
	f.wentOn(s)
	defer f.look()
	d.late = []resp.Args{}
	for args, ok := next(); ok; args, ok = next() {
		d.late = append(d.late, args.Clone())
	}
	// s leaves the engine now. Its late requests run as a session with the same state.
	late := &command.Session{
		ID: s.ID, Addr: s.Addr, LAddr: s.LAddr, Unix: s.Unix, Name: s.Name, User: s.User,
		DB: s.DB, Proto: s.Proto, Created: s.Created, Multi: s.Multi, Conn: noConn{},
	}
	late.Authenticated.Store(s.Authenticated.Load())
	for _, k := range s.Watched {
		f.env.Watcher.Watch(late, k.DB, []byte(k.Key))
	}
	late.Touched = s.Touched
	d.session = late
	if d.passed {
		f.runLate(d)
	}
}

// runLate runs the delayed requests of a client that has left, until one of them waits or ends
// the connection.
func (f *Injector) runLate(d *delay) {
	if f.stopped != nil {
		d.rule = f.stopped.rule
		f.delays = append(f.delays, d)
		f.look()
		return
	}
	outer := f.late
	f.late = d.session
	for _, args := range d.late {
		f.engine.Execute(d.session, args)
		if d.session.State() != command.Ready {
			break
		}
	}
	f.late = outer
	f.engine.Forget(d.session)
}
