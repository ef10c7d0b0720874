package rlock

import (
	"container/heap"
	"errors"
	"slices"
	"sync"
	"time"
)

// watchdog renews the leases of a client's holds, and reports holds that can no
// longer be trusted. One timer serves all leases. It is set to the earliest renewal
// or end of a lease, at most clockTick ahead.
type watchdog struct {
	c *Client

	rearm chan struct{} // capacity 1: the timer must be set to an earlier time

	mu      sync.Mutex // guards the fields below and the fields of leases
	queue   leaseQueue
	young   []*lease  // not yet guarded, in the order of began
	armed   time.Time // when the timer fires; zero: not set
	running bool
	closed  bool
	ran     time.Time // when runDue ran last

	suspect   bool      // the holds must be verified
	verified  time.Time // when the last verification began
	verifying bool      // and it has not ended
}

func newWatchdog(c *Client) *watchdog { return &watchdog{c: c, rearm: make(chan struct{}, 1)} }

// add adds a lease that begins now and was granted by a request sent at the given time. It
// reports whether it did: not after Close.
func (w *watchdog) add(l *lease, sent, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		w.running = w.c.goBackground(w.run)
	}
	if w.closed || !w.running {
		return false
	}
	l.restart(sent)
	l.began = now
	if len(w.queue) == 0 {
		clear(w.young)
		w.young = w.young[:0]
	}
	w.young = append(w.young, l)
	heap.Push(&w.queue, l)
	w.arm(minTime(w.queue[0].due(), now.Add(guardAfter)))
	return true
}

// take removes a lease that is in the queue.
func (w *watchdog) take(l *lease) {
	heap.Remove(&w.queue, l.pos)
	if l.guarded {
		w.c.hub.Unwatch(l.holder.key())
	}
}

// guardAfter is the age at which the hub begins to keep a connection to a hold's server.
// The connection's end shows a restart of the server at once. Most holds end sooner.
const guardAfter = time.Second

// guard makes the hub watch the servers of the leases that are old enough. They are
// verified once, because the server may have restarted before.
func (w *watchdog) guard(now time.Time) {
	n := 0
	for ; n < len(w.young); n++ {
		l := w.young[n]
		if l.pos < 0 { // it has ended
			continue
		}
		if now.Sub(l.began) < guardAfter {
			break
		}
		l.guarded, w.suspect = true, true
		w.c.hub.Watch(l.holder.key())
	}
	w.young = slices.Delete(w.young, 0, n)
}

// beginChange numbers a change of l, which is sent next. With shorten the change may make
// l end earlier, and ends its renewal. ok is false if l was lost or removed.
func (w *watchdog) beginChange(l *lease, until time.Time, shorten bool) (number int64, ok bool) {
	ok = w.update(l, func() {
		number = w.c.changes.Add(1)
		l.changed = true
		if shorten {
			l.begin(number, until)
		}
	})
	return number, ok
}

// endChange records that the server has applied a change of l to the given length. It
// reports whether it did: not if l was lost or removed.
func (w *watchdog) endChange(
	l *lease, number int64, length time.Duration, until time.Time, shorten bool,
) bool {
	return w.update(l, func() {
		switch {
		case l.watched: // by an acquisition that re-entered after the change began
		case !shorten:
			l.length = max(l.length, length)
		case number > l.set:
			l.length = length
		}
		if shorten {
			l.confirmSet(number, until)
		} else {
			l.confirmLonger(number, until)
		}
	})
}

// watch makes the watchdog renew l from now on, with a length of at least length.
func (w *watchdog) watch(l *lease, length time.Duration) {
	w.update(l, func() {
		if !l.watched && !l.endless {
			l.watched, l.length, l.renewAt = true, max(l.length, length), time.Now()
		}
	})
}

// update calls f, which changes l, and sets the timer. It reports whether it did: not
// if l was lost or removed.
func (w *watchdog) update(l *lease, f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.pos < 0 {
		return false
	}
	f()
	heap.Fix(&w.queue, l.pos)
	w.arm(w.queue[0].due())
	return true
}

// remove removes the lease and returns its length. ok is false if the lease was lost or
// removed before.
func (w *watchdog) remove(l *lease) (length time.Duration, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.pos < 0 {
		return l.length, false
	}
	w.take(l)
	if w.closed {
		w.signal()
	}
	return l.length, true
}

// read returns a copy of the lease.
func (w *watchdog) read(l *lease) lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *l
}

// leases returns all leases. No lease can be added afterwards.
func (w *watchdog) leases() []*lease {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.signal()
	return slices.Clone(w.queue)
}

// close marks all holds as lost. No lease can be added afterwards.
func (w *watchdog) close() {
	for _, l := range w.leases() {
		defer l.holder.loseNow(ErrClosed) // each of them, also if the observer panics
	}
}

// verify makes the watchdog ask the server at once whether it still has the holds.
// A connection broke, so the server may have restarted without them.
func (w *watchdog) verify() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || w.suspect {
		return
	}
	w.suspect = true
	w.armed = time.Time{}
	w.signal()
}

// arm makes run set the timer if there is work at a time before the timer fires. A
// timer that fires too early does no harm: run sets it again.
func (w *watchdog) arm(next time.Time) {
	if w.armed.IsZero() || next.Before(w.armed) {
		w.armed = next
		w.signal()
	}
}

func (w *watchdog) signal() {
	select {
	case w.rearm <- struct{}{}:
	default:
	}
}

// run renews leases and reports losses until the client is closed and has no holds.
func (w *watchdog) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	closing := w.c.ctx.Done()
	for {
		select {
		case <-closing:
			closing = nil
		case <-w.rearm:
		case <-timer.C:
		}
		if w.ended() {
			return
		}
		timer.Stop()
		if next, ok := w.runDue(); ok {
			timer.Reset(time.Until(next))
		}
	}
}

// ended reports whether the client is closed and has no holds.
func (w *watchdog) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed && len(w.queue) == 0
}

const (
	// maxRenewAhead is how much too early a lease may be renewed, so that one
	// pipeline renews several.
	maxRenewAhead = 100 * time.Millisecond

	// clockTick is how often the watchdog compares the wall clock with the ends of
	// the leases. A suspended machine's timers fire late.
	clockTick = time.Second

	// maxClockStep is how much the wall clock may advance more than the monotonic
	// clock between two calls of runDue, for example because it is being adjusted.
	maxClockStep = 5 * time.Millisecond

	// verifyEvery is how often holds are verified at most.
	verifyEvery = 200 * time.Millisecond
)

// runDue renews the leases that are due, verifies the holds if that was asked for,
// and reports the holds whose lease ended. It returns when the next lease is due;
// ok is false if there is none.
func (w *watchdog) runDue() (next time.Time, ok bool) {
	w.mu.Lock()
	now := time.Now()
	w.guard(now)
	lost := w.takeSuspended(now)
	var due, check []renewal
	for len(w.queue) > 0 && !w.queue[0].due().After(now) {
		l := w.queue[0]
		if l.over(now) {
			w.take(l)
			lost = append(lost, loss{l.holder, errors.Join(errLeaseExpired, l.err)})
			continue
		}
		due = w.addDue(due, l, now)
	}
	if len(due) > 0 {
		for len(w.queue) > 0 && len(due) < maxRenewals && w.queue[0].renewableAt(now) {
			due = w.addDue(due, w.queue[0], now)
		}
	}
	next = w.nextTime(now)
	if w.suspect && !w.verifying {
		if wait := w.verified.Add(verifyEvery); wait.After(now) {
			next = minTime(next, wait)
		} else {
			w.suspect, w.verifying, w.verified = false, true, now
			check = w.verifications()
		}
	}
	w.armed = next
	w.mu.Unlock()
	for i, x := range lost { // all contexts end before an observer is told, which may take long
		lost[i].err = x.holder.markLost(x.err)
	}
	for _, x := range lost {
		if x.err != nil {
			x.holder.reportLoss(x.err)
		}
	}
	if len(check) > 0 {
		w.c.spawn(func() { w.check(check) })
	}
	if len(due) > 0 {
		w.c.spawn(func() { w.renewPerServer(due) })
	}
	return next, !next.IsZero()
}

// takeSuspended removes the leases that ended while the machine was suspended: only
// the wall clock tells, so they may be anywhere in the queue.
func (w *watchdog) takeSuspended(now time.Time) (lost []loss) {
	last := w.ran
	w.ran = now
	if last.IsZero() || now.Round(0).Sub(last.Round(0)) < now.Sub(last)+maxClockStep {
		return nil
	}
	for _, l := range slices.Clone(w.queue) {
		if l.over(now) {
			w.take(l)
			lost = append(lost, loss{l.holder, errors.Join(errLeaseExpired, errSuspended)})
		}
	}
	return lost
}

// nextTime returns when the timer must fire next, zero if there are no leases.
func (w *watchdog) nextTime(now time.Time) time.Time {
	switch {
	case len(w.queue) > 0:
		next := minTime(w.queue[0].due(), now.Add(clockTick))
		if len(w.young) > 0 {
			next = minTime(next, w.young[0].began.Add(guardAfter))
		}
		return next
	case w.armed.After(now): // the timer stays set: the next lock can use it
		return w.armed
	}
	return time.Time{}
}

// minTime returns the earlier of two times; a zero time is later than all.
func minTime(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// loss is a hold whose lease ended. It is reported after watchdog.mu is unlocked.
type loss struct {
	holder *holding
	err    error
}
