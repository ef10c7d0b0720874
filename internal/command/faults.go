package command

import "time"

// Faults are the faults that FAULT.ADD sets. They make requests, replies and messages go wrong on
// purpose.
type Faults interface {
	// SetFault puts a fault into effect and returns its id: 1 for the first one.
	SetFault(Fault) (id int64)
	// Faults returns the faults in effect in the order of their ids.
	Faults() []FaultState
	// ReleaseFault lets up to most items go that the fault holds back, the oldest first, and
	// returns how many. known is false if there is no such fault.
	ReleaseFault(id int64, most int) (n int, known bool)
	// RemoveFault ends a fault and lets go what it holds back. It reports false if there is no such
	// fault.
	RemoveFault(id int64) bool
	// ClearFaults removes all faults and returns how many there were.
	ClearFaults() int
	// CutMuted closes the connections that a fault has muted.
	CutMuted()
}

// Fault is what FAULT.ADD asks for. A condition that is "" selects everything.
type Fault struct {
	Kind    string // a name that internal/fault has
	Command string // name, a subcommand's is "client|list"
	Key     string // pattern
	Client  string // name, or id in decimal
	SHA     string // of the script, lower case
	Source  string // part of the script's source
	Channel string // pattern
	Nth     int    // the first item to hit, from 1
	Times   int    // how many to hit, -1: all
	For     time.Duration
	Error   string // the reply of a request that fails
}

// FaultState is a fault in effect.
type FaultState struct {
	Fault
	ID   int64
	Hits int
	Held int // items that it holds back now
}
