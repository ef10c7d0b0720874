package fault

import (
	"strings"
	"time"
)

// Always is a Rule's Times: it hits until it is removed.
const Always = -1

// Rule is one fault. The fields must not change while the engine has the rule. The engine
// calls the functions under its lock: they must not block and not call the engine.
type Rule struct {
	Kind  Kind
	Error string // FailRequest: the error reply, "ERR …"

	// Request selects requests, nil all. Rules for messages ignore it.
	Request func(Request) bool
	// Message selects messages, nil all. Rules for requests ignore it.
	Message func(Message) bool
	// Nth is the first selected item that the rule hits, counted from 1; 0 means 1.
	Nth int
	// Times is how many selected items the rule hits from the Nth on. 0 means 1.
	Times int

	// OnHit, if not nil, is called for each hit.
	OnHit func()
	// For is how long the rule delays an item, in the machine's time. 0 means until it is
	// released.
	For time.Duration

	selected, hits int  // items so far
	inEffect       bool // an Injector has the rule
}

// Turn counts a selected item and reports whether the rule hits it.
func (r *Rule) Turn() bool {
	r.selected++
	first := max(r.Nth, 1)
	if r.selected < first || r.Times != Always && r.selected-first >= max(r.Times, 1) {
		return false
	}
	r.hits++
	if r.OnHit != nil {
		r.OnHit()
	}
	return true
}

// Client is the client of a request, or the subscriber of a message.
type Client struct {
	ID         int64
	Addr       string
	Name       string // set by CLIENT SETNAME, "" without
	Subscribed bool   // to any channel or pattern
}

// Request is a command as a client sends it. The commands of a script or a transaction's queue
// are no requests of their own. A Request is valid until Rule.Request returns.
type Request interface {
	// Client returns the client that sent it.
	Client() Client
	// Name returns the command's name in lower case. A subcommand's is "client|list".
	Name() string
	// Args returns the arguments with the name, as the client sent them.
	Args() [][]byte
	// DB returns the number of the client's database.
	DB() int
	// AnyKey reports whether one of the command's keys fits.
	AnyKey(fits func(key string) bool) bool
	// Script returns the source of the script that EVAL or EVALSHA runs, or of the library
	// whose function FCALL calls. It is "" for other commands, for an unknown SHA1 and for
	// an unknown function.
	Script() string
	// SHA returns the SHA1 of the script that EVAL or EVALSHA runs, in lower case, known or not.
	// It is "" for other commands.
	SHA() string
}

// Message is a message on its way to one subscriber.
type Message struct {
	Client  Client
	Channel string
	Payload string
}

// Named reports whether a command of this name, as in Request.Name, is meant by want: the
// same name in any case, with a space or a bar before the subcommand. "client" means all of
// its subcommands too.
func Named(name, want string) bool {
	want = strings.ReplaceAll(strings.ToLower(want), " ", "|")
	rest, ok := strings.CutPrefix(name, want)
	return ok && (rest == "" || rest[0] == '|')
}
