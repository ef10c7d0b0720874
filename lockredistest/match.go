package lockredistest

import "github.com/lockredis/lockredis/internal/fault"

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
	fields := fault.Match{Command: m.Command, Key: m.Key, Client: m.Client, Script: m.Script}
	rule := &fault.Rule{Kind: kind, Nth: m.Nth, Times: m.Times, Request: fields.Request}
	if m.If != nil {
		rule.Request = func(r fault.Request) bool {
			if !fields.Request(r) {
				return false
			}
			request := requestOf(r) // not by ask's goroutine: the engine may go on without it
			return s.asks.ask(func() bool { return m.If(request) })
		}
	}
	return rule
}

func requestOf(r fault.Request) Request {
	request := Request{Command: r.Name(), Client: r.Client().Name, DB: r.DB()}
	for _, arg := range r.Args() {
		request.Args = append(request.Args, string(arg))
	}
	return request
}

// rule returns a rule for the selected messages.
func (m MessageMatch) rule(s *Server, kind fault.Kind) *fault.Rule {
	fields := fault.Match{Channel: m.Channel, Client: m.Client}
	rule := &fault.Rule{Kind: kind, Nth: m.Nth, Times: m.Times, Message: fields.Message}
	if m.If != nil {
		rule.Message = func(msg fault.Message) bool {
			return fields.Message(msg) && s.asks.ask(func() bool { return m.If(msg.Channel, msg.Payload) })
		}
	}
	return rule
}
