package fault

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

// Engine is what an Injector needs of the engine.
type Engine interface {
	// Outside runs unit as the only one inside the engine, and returns when it has run.
	Outside(unit func())
	// Execute runs a request of s, as if its client were connected.
	Execute(s *command.Session, args resp.Args) (ran bool)
	// Forget removes what the rooms know about a session that has left.
	Forget(s *command.Session)
	// Attend is told when the Injector begins and ends to have work. While it has none, the
	// engine need not ask it.
	Attend(busy bool)
}

// Injector makes requests, replies and messages go wrong on purpose, as Rules say.
//
// The engine asks Admit about each request of a client, before all other checks. It calls Replied
// when a reply is complete. The broker asks Drops about each message. In between, a tap takes
// the place of the session's connection. While there is neither a rule nor a delay the engine asks
// nothing.
//
// Add, Remove, ReleaseNext, Delayed, Cut, Silence, SetDown, DropLate, Abandon and Requests are called
// outside the engine, the other methods inside.
type Injector struct {
	engine   Engine
	env      *command.Env
	rules    []*Rule  // in the order of Add, with some that have ended
	ended    int      // rules that have ended
	delays   []*delay // in the order in which they began
	requests map[*command.Session]*delay
	open     map[*command.Session]*tap // for a reply that is not complete
	late     *command.Session          // its requests run late: rules do not apply
	stopped  *stop                     // nil: the server is not stopped
	released []*delay                  // requests that run when next has run
	next     *delay                    // its connection was woken, and has not run the request yet
	counts   map[string]int            // requests by name
	down     bool

	wired  map[int64]*wired // the faults of FAULT.ADD, by their ids
	lastID int64            // of a fault of FAULT.ADD
	kept   bool             // see Keep
	busy   bool             // what the engine was told
}

// NewInjector returns an injector without rules.
func NewInjector(engine Engine, env *command.Env) *Injector {
	return &Injector{
		engine: engine, env: env, counts: map[string]int{}, wired: map[int64]*wired{},
		requests: map[*command.Session]*delay{}, open: map[*command.Session]*tap{},
	}
}

// Keep has the engine ask about requests even while there are no rules, because Requests counts
// them.
func (f *Injector) Keep() {
	f.kept = true
	f.look()
}

// look tells the engine when f begins or ends to have work. It is called after each change of that.
func (f *Injector) look() {
	busy := f.kept || len(f.rules)-f.ended+len(f.delays)+len(f.requests)+len(f.open) > 0
	if busy != f.busy {
		f.busy = busy
		f.engine.Attend(busy)
	}
}

// Busy reports whether f has work.
func (f *Injector) Busy() bool { return f.busy }

// Add puts a rule into effect. If several rules select a request, the first one in the order
// of Add that hits it in each phase is used. Only the rules before it count the request.
func (f *Injector) Add(r *Rule) {
	f.engine.Outside(func() { f.add(r) })
}

func (f *Injector) add(r *Rule) {
	r.inEffect = true
	f.rules = append(f.rules, r)
	f.look()
}

// Remove ends a rule. What it delays stays delayed until ReleaseNext.
func (f *Injector) Remove(r *Rule) { f.engine.Outside(func() { f.remove(r) }) }

// remove costs the same however many rules there are: rules that have ended leave the list together.
func (f *Injector) remove(r *Rule) {
	if !r.inEffect {
		return
	}
	r.inEffect = false
	f.ended++
	if 2*f.ended > len(f.rules) {
		f.rules = slices.DeleteFunc(f.rules, func(r *Rule) bool { return !r.inEffect })
		f.ended = 0
	}
	f.look()
}

// ReleaseNext releases the item that the rule has delayed for the longest time. It reports false
// when the rule delays nothing. A released request whose connection is open runs in the
// connection's goroutine, soon.
func (f *Injector) ReleaseNext(r *Rule) (released bool) {
	f.engine.Outside(func() {
		for _, d := range f.delays {
			if d.rule == r {
				released = true
				f.release(d)
				return
			}
		}
	})
	return released
}

// Delayed returns how many requests and outputs the rule delays.
func (f *Injector) Delayed(r *Rule) (n int) {
	f.engine.Outside(func() { n = f.held()[r] })
	return n
}

// held returns how many requests and outputs each rule delays. A Stop delays the output of all
// connections, which does not count.
func (f *Injector) held() map[*Rule]int {
	held := map[*Rule]int{}
	for _, d := range f.delays {
		if d.counts() {
			held[d.rule]++
		}
	}
	return held
}

// Cut closes the connections of the clients that which selects, and returns how many. Their
// queued output and their delayed requests are lost.
func (f *Injector) Cut(which func(Client) bool) (n int) {
	f.engine.Outside(func() {
		f.env.Clients.Each(func(s *command.Session) bool {
			if which(clientOf(s)) {
				n++
				f.env.Clients.Kill(s)
			}
			return true
		})
	})
	return n
}

// Silence drops all later output to the clients that which selects, and returns how many. Their
// connections stay open and their commands run.
func (f *Injector) Silence(which func(Client) bool) (n int) {
	f.engine.Outside(func() {
		f.env.Clients.Each(func(s *command.Session) bool {
			if which(clientOf(s)) {
				n++
				f.tap(s, &Rule{Kind: Mute})
			}
			return true
		})
	})
	return n
}

// SetDown says whether new connections are closed at once.
func (f *Injector) SetDown(down bool) { f.engine.Outside(func() { f.down = down }) }

// Abandon loses what is delayed. Its connections stay as they are until they end.
func (f *Injector) Abandon() {
	f.engine.Outside(func() {
		f.delays = nil
		f.look()
	})
}

// DropLate loses the delayed requests of clients that have closed their connections.
func (f *Injector) DropLate() {
	f.engine.Outside(func() {
		f.delays = slices.DeleteFunc(f.delays, func(d *delay) bool { return d.late != nil })
	})
}

// Requests returns how many requests of each name clients have sent. The names are as in
// Request. Refused requests count.
func (f *Injector) Requests() (counts map[string]int) {
	f.engine.Outside(func() { counts = maps.Clone(f.counts) })
	return counts
}

// Down reports whether new connections are to be closed at once.
func (f *Injector) Down() bool { return f.down }

// Verdict is what Admit decides about a request.
type Verdict uint8

const (
	Passes  Verdict = iota // the engine's own checks follow
	Lost                   // it has no reply, and does not run
	Failed                 // it does not run, and the reply is an error
	Delayed                // it comes again when it is released
)

// Admit applies the rules to a client's request. failure is the reply if the verdict is Failed.
// Commands of lockredis's own, such as FAULT.CLEAR, are hit by no rule.
func (f *Injector) Admit(c *command.Ctx, args resp.Args) (v Verdict, failure resp.Reply) {
	defer f.look()
	s := c.Session
	switch {
	case f.late == s:
		return Passes, failure
	case f.stopped != nil:
		return f.await(s, f.open[s] == nil), failure
	case f.open[s] != nil && f.requests[s] == nil:
		return Passes, failure // CLIENT PAUSE postponed it and it comes again
	}
	r := &request{c: c, args: args}
	d := f.requests[s]
	if d != nil {
		if !d.passed {
			return Delayed, failure
		}
		delete(f.requests, s)
		f.wentOn(s)
		s.Move(command.Ready) // CLIENT PAUSE may postpone it next
	}
	own := c.Cmd != nil && c.Cmd.Has(command.Own)
	if d == nil || d.unseen {
		f.counts[r.Name()]++
		if !own {
			if v, failure := f.apply(f.first(r, OnRequest), r); v != Passes {
				return v, failure
			}
		}
	}
	if own || f.open[s] != nil {
		return Passes, failure
	}
	if rule := f.first(r, OnReply); rule != nil {
		f.open[s] = f.tap(s, rule)
	}
	return Passes, failure
}

// apply makes a request go wrong. rule may be nil.
func (f *Injector) apply(rule *Rule, r *request) (v Verdict, failure resp.Reply) {
	if rule == nil {
		return Passes, failure
	}
	s := r.c.Session
	switch rule.Kind {
	case LoseRequest:
		s.Move(command.Closing)
		return Lost, failure
	case FailRequest:
		return Failed, resp.Error(strings.Clone(rule.Error))
	case EndLease:
		r.c.DB.ExpireNow(r.firstKey())
	case Stop:
		f.stop(rule)
		return f.await(s, false), failure
	case DelayRequest:
		d := &delay{rule: rule, session: s}
		f.requests[s] = d
		f.start(d)
		return Delayed, failure
	}
	return Passes, failure
}

// first returns the first rule of the phase that hits the request, nil if none does.
func (f *Injector) first(r *request, phase Phase) *Rule {
	for _, rule := range f.rules {
		if rule.inEffect && rule.Kind.Phase() == phase && (rule.Request == nil || rule.Request(r)) &&
			(rule.Kind != EndLease || r.hasLease()) && rule.Turn() {
			return rule
		}
	}
	return nil
}

// Replied is called when the reply to a session's command has been queued.
func (f *Injector) Replied(s *command.Session) {
	t := f.open[s]
	if t == nil {
		return
	}
	delete(f.open, s)
	defer f.look()
	switch t.rule.Kind {
	case LoseReply:
		s.Move(command.Closing)
	case DuplicateReply:
		t.pass()
	case DelayReply:
		f.delayOutput(t)
	}
}

// delayOutput begins to delay the output of t. If the rule was removed since the request,
// nothing is delayed.
func (f *Injector) delayOutput(t *tap) {
	if !t.rule.inEffect {
		t.pass()
		return
	}
	f.start(&delay{rule: t.rule, session: t.session, output: t})
}

// Drops applies the rules to a message and reports whether it is lost.
func (f *Injector) Drops(sink pubsub.Sink, m *pubsub.Message) bool {
	s, ok := sink.(*command.Session)
	if !ok {
		return false
	}
	var message Message
	for _, rule := range f.rules {
		if !rule.inEffect || rule.Kind.Phase() != OnMessage {
			continue
		}
		if message.Client.ID == 0 {
			message = Message{
				Client: clientOf(s), Channel: strings.Clone(m.Channel), Payload: string(m.Payload),
			}
		}
		if rule.Message != nil && !rule.Message(message) || !rule.Turn() {
			continue
		}
		if rule.Kind == DropMessage {
			return true
		}
		f.delayOutput(f.tap(s, rule))
		return false
	}
	return false
}

// Forget drops what is delayed of a session that has left.
func (f *Injector) Forget(s *command.Session) {
	delete(f.requests, s)
	delete(f.open, s)
	f.delays = slices.DeleteFunc(f.delays, func(d *delay) bool { return d.session == s })
	f.wentOn(s)
	f.look()
}
