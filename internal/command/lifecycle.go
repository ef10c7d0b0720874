package command

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
