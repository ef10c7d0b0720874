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

// shortestLease is the shortest lease that a server is asked for. The server deletes a key at a
// whole millisecond. So a lease of 1 ms may end at once there, and no part of it could be
// trusted.
const shortestLease = 2 * time.Millisecond

// wholeLease returns the lease to request for one of d. It is less than 1 ms only if d is.
func wholeLease(d time.Duration) time.Duration {
	if d >= time.Millisecond {
		d = max(d, shortestLease)
	}
	return wholeMS(d)
}

// wholeMS returns d, truncated to milliseconds, at most noEnd.
func wholeMS(d time.Duration) time.Duration {
	return min(d.Truncate(time.Millisecond), noEnd)
}
