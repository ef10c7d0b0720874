package lockredistest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/fault"
)

// Fault is a fault in the work of the server or the network. Methods of Server set it. It is
// in effect until it has hit as often as Match.Times says, or until Clear. It works for
// connections in memory and for sockets. Which request it hits depends only on the order in
// which the server receives them.
//
// Several faults can be in effect. Two faults can hit one request: one before it runs
// (HoldRequest, LoseRequest, FailRequest), and one of its reply. Of several faults that match,
// the fault that was set first hits.
//
// The end of the test clears all faults. Requests and output that are still held back then
// are lost.
type Fault struct {
	server *Server
	number int // the server counts its faults
	rules  []*fault.Rule

	mu      sync.Mutex // guards the fields below
	hits    int
	changed chan struct{} // closed at the next hit
}

// LoseReply runs the command and closes its connection in place of the reply. The client
// cannot tell whether the command ran.
func (s *Server) LoseReply(m Match) *Fault { return s.fault(0, m.rule(s, fault.LoseReply)) }

// LoseRequest closes the connection in place of running the command. To the client it looks
// like LoseReply.
func (s *Server) LoseRequest(m Match) *Fault { return s.fault(0, m.rule(s, fault.LoseRequest)) }

// Mute runs the command. From its reply on, the connection sends no more output. It stays open,
// and its commands run. Clearing the fault does not end that.
func (s *Server) Mute(m Match) *Fault { return s.fault(0, m.rule(s, fault.Mute)) }

// DelayReply runs the command and holds its reply back for d, by the machine's clock or the
// synctest bubble's. Later output of the same connection stays behind the reply. When d is 0
// or less, the reply is held back until Release.
func (s *Server) DelayReply(m Match, d time.Duration) *Fault {
	return s.fault(d, m.rule(s, fault.DelayReply))
}

// DuplicateReply sends the reply twice. A client that does not check takes the second reply
// for the reply to its next command.
func (s *Server) DuplicateReply(m Match) *Fault { return s.fault(0, m.rule(s, fault.DuplicateReply)) }

// HoldRequest holds the request up for d, as a network that loses a packet and sends it again
// later. Then the command runs, even if the client has closed the connection. Later requests
// of the same connection stay behind it. d is time of the machine's clock or the synctest
// bubble's. When d is 0 or less, the request is held up until Release.
func (s *Server) HoldRequest(m Match, d time.Duration) *Fault {
	return s.fault(d, m.rule(s, fault.DelayRequest))
}

// FailRequest answers with an error, such as "OOM command not allowed", in place of running
// the command.
func (s *Server) FailRequest(m Match, text string) *Fault {
	rule := m.rule(s, fault.FailRequest)
	rule.Error = text
	return s.fault(0, rule)
}

// DropMessage loses a pub/sub message between the server and a subscriber. PUBLISH counts the
// subscriber nevertheless.
func (s *Server) DropMessage(m MessageMatch) *Fault { return s.fault(0, m.rule(s, fault.DropMessage)) }

// DelayMessage holds a pub/sub message back for d. Later output of the subscriber's connection
// stays behind it. When d is 0 or less, the message is held back until Release.
func (s *Server) DelayMessage(m MessageMatch, d time.Duration) *Fault {
	return s.fault(d, m.rule(s, fault.DelayMessage))
}

// Hang stops all answers, as a stopped process or a broken switch does. Connections stay open,
// and clients can open new ones, but requests and messages wait. Clear releases all of them. A
// request runs even if its connection was closed meanwhile.
func (s *Server) Hang() *Fault {
	return s.fault(0, Match{Times: Always}.rule(s, fault.DelayRequest),
		MessageMatch{Times: Always}.rule(s, fault.DelayMessage))
}

// fault sets rules. If d is more than 0, each held item is released after d.
func (s *Server) fault(d time.Duration, rules ...*fault.Rule) *Fault {
	s.stayPut()
	f := &Fault{server: s, rules: rules, changed: make(chan struct{})}
	for _, r := range rules {
		r.OnHit = f.hit
		r.For = max(d, 0)
	}
	s.mu.Lock()
	s.lastFault++
	f.number = s.lastFault
	if s.faults == nil {
		s.faults = map[int]*Fault{}
	}
	s.faults[f.number], s.faulty = f, true
	s.mu.Unlock()
	for _, r := range rules {
		door(s).Faults().Add(r)
	}
	return f
}

// hit counts a hit. It is called inside the engine.
func (f *Fault) hit() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hits++
	close(f.changed)
	f.changed = make(chan struct{})
}

// Hits returns how many requests or messages the fault has hit.
func (f *Fault) Hits() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

// Wait waits until the fault has hit n requests or messages. It returns ctx's error if ctx
// ends first.
func (f *Fault) Wait(ctx context.Context, n int) error {
	for {
		f.mu.Lock()
		hits, changed := f.hits, f.changed
		f.mu.Unlock()
		if hits >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Held returns how many requests, replies and messages the fault holds back now.
func (f *Fault) Held() (n int) {
	for _, r := range f.rules {
		n += door(f.server).Faults().Delayed(r)
	}
	return n
}

// Release lets everything go that the fault holds back, one after the other in the order in
// which it was held. The fault stays in effect. When Release returns, the held requests have
// run.
func (f *Fault) Release() {
	for _, r := range f.rules {
		for door(f.server).Faults().ReleaseNext(r) {
			door(f.server).Settle()
		}
	}
}

// Clear ends the fault and releases all held items, as Release does. A second call does
// nothing.
func (f *Fault) Clear() {
	f.remove()
	f.Release()
}

// remove ends the fault without releasing the held items.
func (f *Fault) remove() {
	for _, r := range f.rules {
		door(f.server).Faults().Remove(r)
	}
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	delete(f.server.faults, f.number)
}

// ClearFaults clears all faults, in the order in which they were set. It ends SetError too.
func (s *Server) ClearFaults() {
	for _, f := range s.takeFaults() {
		f.Clear()
	}
}

// takeFaults returns the faults in effect, in the order in which they were set, and forgets SetError's.
func (s *Server) takeFaults() (faults []*Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = nil
	for _, number := range slices.Sorted(maps.Keys(s.faults)) {
		faults = append(faults, s.faults[number])
	}
	return faults
}

// SetError makes every request fail with the error text, such as "LOADING Redis is loading the
// dataset in memory". With commands, only requests with these names fail; a name is as in
// Match.Command. A later call replaces the text for the same name. The text "" ends the errors
// of the commands, and without commands all errors.
//
// The test's own Do and the other methods of Keyspace do not fail.
func (s *Server) SetError(text string, commands ...string) {
	if len(commands) == 0 {
		if text == "" {
			s.mu.Lock()
			for name := range s.failing {
				commands = append(commands, name)
			}
			s.mu.Unlock()
		} else {
			commands = []string{""}
		}
	}
	for _, name := range commands {
		s.setError(text, name)
	}
}

// setError replaces the error for one name; "" is every name.
func (s *Server) setError(text, name string) {
	name = strings.ToLower(name)
	s.mu.Lock()
	old := s.failing[name]
	delete(s.failing, name)
	s.mu.Unlock()
	if old != nil {
		old.remove()
	}
	if text == "" {
		return
	}
	f := s.FailRequest(Match{Command: name, Times: Always}, text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = map[string]*Fault{}
	}
	s.failing[name] = f
}

// Connections selects connections of clients. Fields with zero values select all.
type Connections struct {
	// Client is the name that the client has set with CLIENT SETNAME.
	Client string
	// Subscribed selects only connections that are subscribed to something.
	Subscribed bool
}

// Cut closes connections, as a network does that resets them, and returns how many. Replies
// that the clients have not read are lost. So are requests that a fault holds up.
func (s *Server) Cut(which Connections) int { return door(s).Faults().Cut(which.selects) }

// Silence sends nothing more on connections, as a network does that loses all packets to the
// client and resets nothing. It returns how many connections. They stay open, and their
// commands run. New connections work. Nothing but closing a connection ends its silence.
func (s *Server) Silence(which Connections) int { return door(s).Faults().Silence(which.selects) }

func (which Connections) selects(c fault.Client) bool {
	return (which.Client == "" || c.Name == which.Client) && (!which.Subscribed || c.Subscribed)
}
