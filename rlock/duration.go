package rlock

import "time"

// noEnd is longer than every process lives. It is the longest duration of this package: the
// sum of two such durations does not overflow. So a lease or a limit of math.MaxInt64 can be
// added to.
const noEnd = 100 * 365 * 24 * time.Hour

// fromMS returns a number of milliseconds that the server replied, at most noEnd.
func fromMS(ms int64) time.Duration {
	return time.Duration(min(ms, noEnd.Milliseconds())) * time.Millisecond
}

// wholeMS returns d, truncated to milliseconds, at most noEnd.
func wholeMS(d time.Duration) time.Duration {
	return min(d.Truncate(time.Millisecond), noEnd)
}
