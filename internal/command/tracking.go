package command

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
