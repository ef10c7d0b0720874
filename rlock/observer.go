package rlock

import "time"

// Observer receives the events of a Client's locks. Each function may be nil. The
// functions run on the goroutines of callers and of the watchdog, so they must not
// block or use the lock.
type Observer struct {
	Acquired  func(Event) // Waited is the time since the call
	Contended func(Event) // another owner holds it: the caller begins to wait
	Renewed   func(Event) // Held is the time since the acquisition
	Lost      func(Event) // Held, and Err with the reason
	Released  func(Event) // Held is the time since the acquisition
}

// Event is something that happened to one lock.
type Event struct {
	Kind  string // "lock", "fair", "read", "write", "spin", "fenced", …
	Name  string
	Owner string // Redisson's "id:threadId"; empty for kinds without owners

	Waited time.Duration
	Held   time.Duration
	Err    error
}

func notify(f func(Event), e Event) {
	if f != nil {
		f(e)
	}
}
