package fault

import (
	"slices"
	"strings"
)

// Kind is the kind of a fault.
type Kind uint8

// The kinds of faults. The first five happen to a request, the next four to its reply, the
// last two to a message for a subscriber.
const (
	// LoseRequest closes the connection. The command does not run.
	LoseRequest Kind = iota
	// DelayRequest delays the request until it is released. It then runs, even if its
	// client has closed the connection meanwhile. Later requests of the same connection
	// stay behind it.
	DelayRequest
	// FailRequest answers with Rule.Error. The command does not run.
	FailRequest
	// EndLease expires the first key of the command before the command runs. It selects only
	// requests whose first key has a deadline.
	EndLease
	// Stop delays all requests and all output, from the request on, for Rule.For.
	Stop
	// LoseReply closes the connection in place of the reply. The command runs.
	LoseReply
	// Mute sends nothing more on the connection, from the reply on. The connection stays
	// open and its commands run.
	Mute
	// DelayReply delays all output of the connection, from the reply on, until it is
	// released.
	DelayReply
	// DuplicateReply sends the reply twice.
	DuplicateReply
	// DropMessage loses the message. The publisher does not notice it.
	DropMessage
	// DelayMessage delays all output of the subscriber, from the message on, until
	// it is released.
	DelayMessage
)

// kindNames are the names of the kinds in FAULT.ADD.
var kindNames = []string{
	"lose-request", "hold-request", "fail-request", "end-lease", "stop", "lose-reply", "mute", "delay-reply",
	"duplicate-reply", "drop-message", "delay-message",
}

// KindNamed returns the kind of a name, in any case, that FAULT.ADD has.
func KindNamed(name string) (k Kind, ok bool) {
	i := slices.Index(kindNames, strings.ToLower(name))
	return Kind(max(i, 0)), i >= 0
}

// String returns the name of k in FAULT.ADD.
func (k Kind) String() string { return kindNames[k] }

// Phase is the time at which a fault of a Kind happens.
type Phase uint8

// The phases of a request, and a message's only one.
const (
	OnRequest Phase = iota
	OnReply
	OnMessage
)

// Phase returns the phase of k.
func (k Kind) Phase() Phase {
	switch {
	case k <= Stop:
		return OnRequest
	case k <= DuplicateReply:
		return OnReply
	}
	return OnMessage
}

// Delays reports whether a fault of kind k delays something.
func (k Kind) Delays() bool {
	return k == DelayRequest || k == DelayReply || k == DelayMessage || k == Stop
}
