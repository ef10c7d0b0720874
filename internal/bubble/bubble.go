package bubble

import "time"

// Inside reports whether the calling goroutine runs in a bubble. A bubble's time has no monotonic
// reading. The machine's time has one.
func Inside() bool {
	now := time.Now()
	return now == now.Round(0) // Round removes the monotonic reading
}
