package rlock

import (
	"math/rand/v2"
	"slices"
	"time"
)

// lease is the time during which one hold can be trusted.
type lease struct {
	holder  *holding
	length  time.Duration
	watched bool // the watchdog renews it
	endless bool // permits without a lease: it only takes part in Close

	// until is its end, on this process's clocks: trustUntil the send. It also has a
	// reading of the wall clock, which runs while the machine is suspended.
	until     time.Time
	renewAt   time.Time
	confirmed time.Time // when the last request was sent that the server answered with yes
	pos       int       // index in watchdog.queue, -1: not in it

	// changes are the changes by Extend that the server may have applied after the last one
	// that it confirmed. until is not later than their ends.
	changes   []extension
	changed   bool  // a change has begun: changes and renewals have places now
	set       int64 // number of the last change by Extend that the server confirmed
	prolonged int64 // number of the last confirmed change that does not shorten the lease

	err      error // of the last renewal, if that failed
	failures int   // number of renewals that failed since the last one that did not

	began   time.Time // when it was added
	guarded bool      // the hub watches its server
}

// due returns when the lease must be renewed, or when it ends.
func (l *lease) due() time.Time {
	if l.watched && l.renewAt.Before(l.until) {
		return l.renewAt
	}
	return l.until
}

// over reports whether the lease has ended at now by one of the two clocks.
func (l *lease) over(now time.Time) bool {
	return !l.endless && (!now.Before(l.until) || !now.Round(0).Before(l.until.Round(0)))
}

// trustMargin returns how long before its end a lease is no longer trusted. It is one
// hundredth of the lease, for clocks that run at different speeds. It is at least 5 ms,
// for the time until the holder is told, and at most half of the lease.
func trustMargin(length time.Duration) time.Duration {
	return min(max(length/100, 5*time.Millisecond), length/2)
}

// trustUntil returns until when a lease can be trusted whose request was sent at
// the given time.
func trustUntil(sent time.Time, length time.Duration) time.Time {
	return sent.Add(length - trustMargin(length))
}

// restart starts the lease of a grant.
func (l *lease) restart(sent time.Time) {
	l.confirm(sent)
	if l.endless {
		l.until = sent.Add(noEnd)
		return
	}
	l.until = trustUntil(sent, l.length)
	l.renewLater(sent)
}

// renewLater plans the next renewal after one that was sent at the given time: after a third
// of the length, less up to a tenth of that at random, so that clients do not renew in step.
func (l *lease) renewLater(sent time.Time) {
	l.err, l.failures = nil, 0
	third := l.length / 3
	l.renewAt = sent.Add(third - rand.N(third/10+1))
}

// confirm records that the server had the hold when a request was sent.
func (l *lease) confirm(sent time.Time) {
	if sent.After(l.confirmed) {
		l.confirmed = sent
	}
}

// extension is a change of a lease by Extend that was sent.
type extension struct {
	number int64
	until  time.Time
}

// begin records a change that makes l end at the given time, before it is sent. Until the
// server confirms it or a later one, both ends are possible: l trusts the earlier.
func (l *lease) begin(number int64, until time.Time) {
	l.changed, l.watched = true, false
	l.changes = append(l.changes, extension{number, until})
	if l.endless || until.Before(l.until) {
		l.until, l.endless = until, false
	}
}

// confirmSet records that the server has applied a change by Extend. The server applies
// changes in the order of their numbers and ignores the others. So a change that was
// confirmed after a later one tells nothing.
func (l *lease) confirmSet(number int64, until time.Time) {
	if number < l.set {
		return
	}
	if number < l.prolonged && until.Before(l.until) {
		until = l.until
	}
	l.set = number
	l.settle(number, until)
}

// confirmLonger records that the server's lease ends at the given time or later, by a
// renewal or a change that does not shorten it. It reports whether no later change
// was confirmed before.
func (l *lease) confirmLonger(number int64, until time.Time) bool {
	if number < l.set || number < l.prolonged {
		return false
	}
	earlier := len(l.changes) > 0 && l.changes[0].number < number // it may have shortened l
	if !earlier && until.Before(l.until) {
		until = l.until
	}
	l.prolonged = number
	l.settle(number, until)
	return true
}

// settle makes l end at the given time, after the change of the given number was
// confirmed. Copies of earlier changes have no effect any more.
func (l *lease) settle(number int64, until time.Time) {
	l.changes = slices.DeleteFunc(l.changes, func(c extension) bool { return c.number <= number })
	for _, c := range l.changes {
		if c.until.Before(until) {
			until = c.until
		}
	}
	l.until, l.endless = until, false
}

// renewableAt reports whether l may be renewed at now, together with leases that are
// due: a thirtieth of its length too early, at most maxRenewAhead.
func (l *lease) renewableAt(now time.Time) bool {
	return l.watched && !l.due().After(now.Add(min(maxRenewAhead, l.length/30)))
}

// leaseQueue is a heap ordered by due.
type leaseQueue []*lease

func (q leaseQueue) Len() int           { return len(q) }
func (q leaseQueue) Less(i, j int) bool { return q[i].due().Before(q[j].due()) }
func (q leaseQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i, j
}

func (q *leaseQueue) Push(x any) {
	l := x.(*lease)
	l.pos = len(*q)
	*q = append(*q, l)
}

func (q *leaseQueue) Pop() any {
	old := *q
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	l.pos = -1
	return l
}

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
