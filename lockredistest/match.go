package lockredistest

import (
	"strings"

	"github.com/lockredis/lockredis/internal/fault"
	"github.com/lockredis/lockredis/internal/glob"
)

// Always, as Times, makes a fault hit until it is cleared.
const Always = fault.Always

// Match selects the requests that a fault hits. A request is a command as a client sends it.
// The commands of a script, and the commands that EXEC runs, are no requests of their own. A
// field with its zero value selects every request. A request must fit all fields.
//
// Without Nth and Times the fault hits the next such request and no other.
type Match struct {
	// Command is the name, in any case: "evalsha", "client list". "client" also selects
	// its subcommands.
	Command string
	// Key is one of the command's keys, such as the name of a lock among a script's KEYS.
	Key string
	// Client is the name that the client has set with CLIENT SETNAME.
	Client string
	// Script is a part of the source of the script that EVAL or EVALSHA runs, or of the
	// library whose function FCALL calls. An unknown script or function does not fit.
	Script string
	// If is called for a request that fits the other fields. It must not call the
	// server, because the server waits for it. If it does not return within three seconds,
	// panics or ends the test, the fault does not hit, and the test fails.
	If func(Request) bool

	// Nth is the first of the selected requests that the fault hits, counted from 1. The
	// count begins when the fault is set. 0 means 1.
	Nth int
	// Times is how many selected requests the fault hits, from the Nth on. 0 means 1.
	// Always means all of them until the fault is cleared.
	Times int
}

// Request is a command that a client sent.
type Request struct {
	Command string   // name in lower case; a subcommand's is "client|list"
	Args    []string // with the name, as sent
	Client  string   // name set by CLIENT SETNAME, "" without
	DB      int
}

// MessageMatch selects the pub/sub messages that a fault hits. Each delivery to a subscriber
// is a message of its own. Fields with zero values select every message.
type MessageMatch struct {
	// Channel is a pattern as in PSUBSCRIBE, for the channel of the message.
	Channel string
	// Client is the name that the subscriber has set with CLIENT SETNAME.
	Client string
	// If is called for a message that fits the other fields, as in Match.
	If func(channel, payload string) bool

	Nth, Times int // as in Match
}

// rule returns a rule for the selected requests.
func (m Match) rule(s *Server, kind fault.Kind) *fault.Rule {
	if f := m.If; f != nil {
		m.If = func(r Request) bool { return s.asks.ask(func() bool { return f(r) }) }
	}
	return &fault.Rule{Kind: kind, Nth: m.Nth, Times: m.Times, Request: m.selects}
}

func (m Match) selects(r fault.Request) bool {
	switch {
	case m.Command != "" && !fault.Named(r.Name(), m.Command),
		m.Client != "" && r.Client().Name != m.Client,
		m.Key != "" && !r.HasKey(m.Key),
		m.Script != "" && !strings.Contains(r.Script(), m.Script):
		return false
	case m.If == nil:
		return true
	}
	request := Request{Command: r.Name(), Client: r.Client().Name, DB: r.DB()}
	for _, arg := range r.Args() {
		request.Args = append(request.Args, string(arg))
	}
	return m.If(request)
}

// rule returns a rule for the selected messages.
func (m MessageMatch) rule(s *Server, kind fault.Kind) *fault.Rule {
	if f := m.If; f != nil {
		m.If = func(channel, payload string) bool {
			return s.asks.ask(func() bool { return f(channel, payload) })
		}
	}
	return &fault.Rule{Kind: kind, Nth: m.Nth, Times: m.Times, Message: m.selects}
}

func (m MessageMatch) selects(msg fault.Message) bool {
	return (m.Channel == "" || glob.Match(m.Channel, msg.Channel, false)) &&
		(m.Client == "" || msg.Client.Name == m.Client) &&
		(m.If == nil || m.If(msg.Channel, msg.Payload))
}
