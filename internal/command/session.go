package command

import (
	"strings"
	"sync/atomic"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/acl"
	"github.com/lockredis/lockredis/pubsub"
	"github.com/lockredis/lockredis/resp"
)

// Session is one connection as commands see it. All fields are guarded by the
// engine's lock. Two kinds of fields are read without it: ID and the addresses
// never change after Join, and the atomic fields say so.
type Session struct {
	ID          int64
	Addr, LAddr string // remote and local address as CLIENT LIST shows them
	Unix        bool   // connected through the Unix socket
	TLS         bool   // connected with TLS
	FD          int
	Created     int64 // Unix ms

	Name          string
	User          *acl.User   // nil: no client's session; it may do everything
	Authenticated atomic.Bool // the connection reads it to choose its limits
	DB            int
	Proto         int // 2 or 3
	ReplyMode     ReplyMode
	NoEvict       bool
	Visitor       bool // of the process that controls the server: its commands may wait
	Primary       bool // the server that this one follows
	Monitor       bool // MONITOR; the list of monitors changes it
	Listens       bool // a monitor or a replica: it may not touch keys, and no pause delays it
	// CLIENT SETINFO, CAPA and NO-TOUCH of Valkey set these. Without Valkey's commands LibName is
	// what a refused CLIENT SETINFO named, for the log.
	LibName, LibVersion string
	Redirects, NoTouch  bool
	ReadOnly            bool     // READONLY
	Asking              bool     // ASKING came before the running command, or before its transaction
	Slot                int      // in cluster mode: of the running command's keys, -1: none
	LastActive          int64    // Unix ms
	LastCommand         *Command // nil before the first
	RefusalLogged       bool     // see Refusals

	Hidden []int // the arguments of the running command that SLOWLOG and MONITOR do not show

	Multi   *Transaction // nil outside MULTI
	Running *Transaction // EXEC runs its commands; nil: none
	Watched []WatchedKey // the keys of WATCH
	Touched bool         // a watched key changed: EXEC answers nil

	Replica *Replica // nil: it has sent neither REPLCONF nor PSYNC
	Written int64    // the offset of the replicas' stream behind the client's last command

	Tracking *TrackingState // nil if CLIENT TRACKING was never on

	Subs   pubsub.Subscriptions // with any of them, only a few commands may run in RESP2
	Parked *Parked              // nil unless a blocking command waits

	state atomic.Int32 // a Lifecycle, see State and Move
	Conn  Conn

	// Panicked is called when the delivery of a message panics. The engine sets it.
	// Nil lets the panic pass.
	Panicked func(s *Session, cause any)
}

// ReplyMode is what CLIENT REPLY set: a set of bits, none of them for ON.
type ReplyMode uint8

// ReplySkip silences the running command, ReplySkipNext the one after it. ReplyCuts is a replica's: a
// reply would be taken for a part of its stream, so it ends the connection (Replica.Answered).
const (
	ReplyOff ReplyMode = 1 << iota
	ReplySkip
	ReplySkipNext
	ReplyCuts

	ReplyOn ReplyMode = 0
)

// Silent reports whether the running command's replies are dropped. Messages
// are not.
func (m ReplyMode) Silent() bool { return m&(ReplyOff|ReplySkip) != 0 }

// Next returns the mode for the command after the running one, which has ended.
func (m ReplyMode) Next() ReplyMode {
	next := m & (ReplyOff | ReplyCuts)
	if m&ReplySkipNext != 0 {
		next |= ReplySkip
	}
	return next
}

// Conn is the socket's side of a session. Its methods never block and are
// called under the engine's lock.
type Conn interface {
	// Write queues encoded bytes. It reports false when the connection has failed or
	// was disconnected. The bytes are dropped then.
	Write(encoded []byte) bool
	// Kill closes the connection, without waiting for queued output.
	Kill()
	// Wake tells the connection to run its buffered commands, because the session
	// is no longer Waiting or Postponed.
	Wake()
	// Sizes returns the sizes of the buffers. own means that a command of this connection
	// asks: its query buffer does not change meanwhile.
	Sizes(own bool) Buffers
}

// Deliver queues a message: a Session is the Sink of its subscriptions. A panic
// costs the subscriber its connection. The publisher and the other subscribers
// do not notice it.
func (s *Session) Deliver(m *pubsub.Message) {
	if s.State() == Failed {
		return
	}
	defer func() {
		if s.Panicked == nil {
			return
		}
		if cause := recover(); cause != nil {
			s.Panicked(s, cause)
		}
	}()
	s.Tell(m.Encoding(s.Proto))
}

// Push queues an encoded push. A panic costs the session its connection, as in Deliver.
func (s *Session) Push(encoded []byte) {
	if s.State() == Failed {
		return
	}
	defer func() {
		if s.Panicked == nil {
			return
		}
		if cause := recover(); cause != nil {
			s.Panicked(s, cause)
		}
	}()
	s.Tell(encoded)
}

// Tell queues an encoded message, which CLIENT REPLY does not silence.
func (s *Session) Tell(encoded []byte) {
	if s.ReplyMode&ReplyCuts != 0 {
		s.Replica.Answered()
		return
	}
	s.Conn.Write(encoded)
}

// Local reports whether the client is on this machine.
func (s *Session) Local() bool {
	return s.Unix || strings.HasPrefix(s.Addr, "127.") ||
		strings.HasPrefix(s.Addr, "[::1]:") || strings.HasPrefix(s.Addr, "pipe:")
}

// Parked is a blocking command that waits. The engine keeps it in a queue for
// each of its keys. A signal on a key, the deadline, CLIENT UNBLOCK or the end of
// the connection ends the wait.
type Parked struct {
	Keys []string
	// Bytes is how many bytes Serve, Missing, Args and Line keep.
	Bytes int64
	// Serve runs as the parked client when a signal was given on key and the key
	// exists. served is false when the key does not satisfy the command: the
	// client waits longer.
	Serve func(c *Ctx, key []byte) (reply resp.Reply, served bool)
	// Missing does the same when a signal was given on key and the key does not
	// exist. Nil means that the client waits longer. Only consumers of a stream's group
	// have it: the store reports to them that the stream left its key (store.Observer.Lost),
	// and Missing and Serve reply with Redis's errors. Clients of lists and sorted sets wait on.
	Missing func(c *Ctx, key []byte) (reply resp.Reply, served bool)
	// Looks says that Serve runs after every change of one of Keys, in any database, and of
	// subscriptions. key is nil. Missing is not called.
	Looks bool
	// Again is when a command that Looks wants to look once more, in Unix ms; 0: after a change
	// only. Serve sets it.
	Again int64
	// OnTimeout is the reply when the deadline comes first, and to CLIENT UNBLOCK. resp.NoReply is for a
	// command that the whole server waits for in Redis: CLIENT UNBLOCK does not end its wait.
	OnTimeout resp.Reply
	// Deadline is in Unix milliseconds; 0 means none.
	Deadline int64

	Session *Session
	Cmd     *Command
	DB      int
	Args    resp.Args   // its command line
	Took    int64       // how long the command ran before it waited, in ns
	Line    []string    // its command line for SLOWLOG; nil: it will not be there
	Item    expiry.Item // of the engine's index of deadlines
}

// DeadlineItem makes Parked an expiry.Holder.
func (p *Parked) DeadlineItem() *expiry.Item { return &p.Item }

// Cut closes a connection. The client that asks for it gets its reply first.
func (c *Ctx) Cut(s *Session) {
	if s == c.Session {
		s.Move(Closing)
		if s.Running != nil {
			s.Running.Cut = true
		}
	} else {
		c.Clients.Kill(s)
	}
}

// ResetSession brings a session into the state of a new connection. CLIENT NO-EVICT stays.
// CLIENT REPLY SKIP stays if it silences the RESET itself.
func ResetSession(env *Env, s *Session) {
	s.Name, s.User = "", env.Users.Default()
	s.Authenticated.Store(!env.Users.AuthRequired())
	s.DB, s.Proto = 0, 2
	s.ReplyMode &= ReplySkip | ReplyCuts
	s.ReadOnly, s.NoTouch = false, false
	if s.Monitor {
		env.Monitors.Remove(s)
	}
	env.DropQueue(s)
	env.Watcher.Unwatch(s)
	env.PubSub.Close(s, &s.Subs)
	env.Tracking.Disable(s)
}

// Lifecycle is a session's state between its first command and its end.
//
//	          Park                      CLIENT PAUSE
//	Waiting <-------- Ready ----------------------------> Postponed
//	   |                ^  ^                                |
//	   | served,        |  |  the pause ended, and the      |
//	   | timed out,     |  |  command that was postponed    |
//	   | unblocked      |  |  has run                       |
//	   +----------------+  +--------------------------------+
//
//	Ready, Waiting, Postponed --> Closing   QUIT, SHUTDOWN, CLIENT KILL of itself,
//	                                        a panic in its command
//	any of these four         --> Failed    a panic in another unit that worked for it
//	any of these five         --> Gone      the connection ended, or CLIENT KILL
//
// A session never goes back from Closing, Failed or Gone to an earlier state.
type Lifecycle int32

const (
	// Ready runs its commands as they arrive.
	Ready Lifecycle = iota
	// Waiting has a blocking command that is not served yet (Session.Parked). Its
	// later commands stay in the connection's buffer.
	Waiting
	// Postponed has a command that CLIENT PAUSE or a fault delays.
	Postponed
	// Closing runs no more commands. Its connection closes when the queued output
	// is written.
	Closing
	// Failed has lost its queued output and gets no more messages. Its connection is
	// about to leave.
	Failed
	// Gone has left the engine.
	Gone
)

// State returns the session's state. It is atomic, because the connection reads
// it without the engine's lock.
func (s *Session) State() Lifecycle { return Lifecycle(s.state.Load()) }

// Move changes the session's state. From Closing, Failed and Gone it only changes to a
// later state. It is called under the engine's lock.
func (s *Session) Move(to Lifecycle) {
	if from := s.State(); from < Closing || to > from {
		s.state.Store(int32(to))
	}
}

// Live reports whether the session may still run commands, now or later.
func (l Lifecycle) Live() bool { return l < Closing }

// TrackingMode is how CLIENT TRACKING works for a client: a set of bits, none of them while
// it is off.
type TrackingMode uint8

// The bits of a TrackingMode.
const (
	TrackingOn TrackingMode = 1 << iota
	Broadcast               // BCAST
	OptIn
	OptOut
	NoLoop
	Caching        // CLIENT CACHING is about the next command
	BrokenRedirect // the client of REDIRECT was gone when an invalidation was due
)

// Has reports whether all of the bits in other are among m.
func (m TrackingMode) Has(other TrackingMode) bool { return m&other == other }

// TrackingState is what CLIENT TRACKING set for a session.
type TrackingState struct {
	Mode     TrackingMode
	Redirect int64    // the id of the client that gets the invalidations; 0: none
	Prefixes []string // in ascending order
	Items    int      // of the table of keys, with this client's id
}

// Tracks reports whether CLIENT TRACKING is on.
func (s *Session) Tracks() bool { return s.Tracking != nil && s.Tracking.Mode.Has(TrackingOn) }

// Redirection returns the id of the client that gets the invalidations, 0 if it is s, or -1
// if CLIENT TRACKING is off.
func (s *Session) Redirection() int64 {
	if !s.Tracks() {
		return -1
	}
	return s.Tracking.Redirect
}
