package tcpproxy

import (
	"strings"
	"time"
)

// Kind is what happens to a command, to the server's bytes, or to a new connection.
type Kind int

// The kinds of faults. When the kind's name ends with Reply, the server receives the
// request.
const (
	None Kind = iota

	// HoldRequest delivers the request Fault.For later, even if its client has closed
	// the connection.
	HoldRequest
	// HoldReply delivers the reply Fault.For later.
	HoldReply
	// LoseReply ends the client's connection in place of the reply.
	LoseReply
	// ResetReply resets the client's connection (RST) in place of the reply.
	ResetReply
	// Reset resets the client's connection before the server receives the request.
	Reset
	// VanishReply drops the reply and every later byte. The connection stays open.
	VanishReply
	// Vanish drops the request and every later byte. The connection stays open. A
	// connection that vanishes when it is opened is half open.
	Vanish

	kinds // number of kinds
)

var kindNames = [kinds]string{"none", "request held", "reply held", "reply lost", "reply reset",
	"reset", "reply vanished", "vanished"}

func (k Kind) String() string { return kindNames[k] }

// Fault is a Kind with its duration. The zero Fault does nothing.
type Fault struct {
	Kind Kind
	For  time.Duration // of HoldRequest and HoldReply
	// Answered, if not nil, is closed when the server has answered a request of HoldRequest,
	// or has ended the connection. A Rule returns such a Fault once.
	Answered chan struct{}
}

// Command is a request that passes a proxy.
type Command struct {
	Addr string // of the server
	Conn int    // number of the connection in its Network, from 1
	Args []string
}

// Name returns the command's name in lower case.
func (c Command) Name() string {
	if len(c.Args) == 0 {
		return ""
	}
	return strings.ToLower(c.Args[0])
}

// Has reports whether an argument of the command contains s.
func (c Command) Has(s string) bool {
	for _, arg := range c.Args {
		if strings.Contains(arg, s) {
			return true
		}
	}
	return false
}

// Rule decides about each command. It runs on the connections' goroutines.
type Rule func(Command) Fault
