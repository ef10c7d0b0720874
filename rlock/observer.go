package rlock

import "time"

// Observer is told what happens to the locks of a Client. Its functions may be
// nil; they are called from the goroutines of the callers and of the watchdog,
// and must not block or use the lock.
type Observer struct {
	Acquired  func(Event) // Waited tells for how long
	Contended func(Event) // somebody else holds it: the caller waits
	Renewed   func(Event) // Held tells since when it is held
	Lost      func(Event) // Err tells why
	Released  func(Event) // Held tells for how long it was held
}

// Event is one thing that happened to one lock.
type Event struct {
	Kind  string // "lock", "fair", "read", "write", "spin", "fenced", …
	Name  string
	Owner string // Redisson's "id:threadId"; empty for kinds without owners

	Waited time.Duration
	Held   time.Duration
	Err    error
}

func tell(f func(Event), e Event) {
	if f != nil {
		f(e)
	}
}
