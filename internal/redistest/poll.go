package redistest

import "time"

// Poll calls done until it returns true, for at most limit, and reports whether it has. It is
// for what another goroutine or a process does without an event to wait for. The pauses between
// the calls grow from 1 ms to 20 ms.
func Poll(limit time.Duration, done func() bool) bool {
	end := time.Now().Add(limit)
	for pause := time.Millisecond; !done(); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
