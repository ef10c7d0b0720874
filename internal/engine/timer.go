package engine

import (
	"time"

	"github.com/lockredis/lockredis/expiry"
)

// expireBatch is how many keys expire in one unit before other callers get the
// lock.
const expireBatch = 128

// retryAfter is how long the timer's work waits after a panic, in milliseconds. The item
// that caused the panic may still be due.
const retryAfter = 100

// timer wakes the engine at the earliest deadline of keys, waits, the pause and save points, and
// at once while keys are to be evicted or the table of tracking is too large.
// A unit that adds an earlier deadline arms it again. It may fire too early, when a
// deadline was removed. Then it finds nothing due and is armed for the next deadline.
type timer struct {
	t     expiry.Timer
	armed int64         // Unix ms that it is set to, 0: not set; guarded by the gate
	quit  chan struct{} // closed by stop

	notBefore int64 // Unix ms, after a panic
	passive   bool  // DEBUG SET-ACTIVE-EXPIRE 0: keys expire on access only
	halted    bool  // DEBUG PAUSE-CRON 1: the same, and no save points
}

func (t *timer) init(clock expiry.Clock) {
	t.t = clock.NewTimer()
	t.quit = make(chan struct{})
}

func (t *timer) stop() { close(t.quit) }

// SetActive turns expiry by timer on and off. Expired keys are missing either way.
func (t *timer) SetActive(on bool) { t.passive = !on }

// PauseCron stops expiry by timer and save points, or continues them.
func (t *timer) PauseCron(on bool) { t.halted = on }

// due reports whether the timer is armed for now, in Unix ms, or earlier.
func (t *timer) due(now int64) bool { return t.armed != 0 && t.armed <= now }

// runTimer ends due leases, waits and the pause whenever the timer fires, until Close.
func (e *Engine) runTimer() {
	defer e.done.Done()
	defer e.timer.t.Stop()
	self := Caller{background: true}
	for {
		select {
		case <-e.timer.quit:
			return
		case <-e.timer.t.C():
		}
		for more := true; more; {
			e.Do(&self, func() { more = e.fireTimer() })
		}
	}
}

// fireTimer does what endDueBatch does. After a panic it tries again later.
func (e *Engine) fireTimer() (more bool) {
	defer func() {
		if cause := recover(); cause != nil {
			e.panicked("the timer", nil, cause)
			e.timer.notBefore = e.env.Space.Now() + retryAfter
			more = false
		}
	}()
	return e.endDueBatch()
}

// endDueBatch ends a batch of due keys, all due waits, and the pause if it is due. It goes
// on evicting keys. It reports whether there is more to do now.
func (e *Engine) endDueBatch() (more bool) {
	e.readClock()
	e.timer.armed = 0
	e.pausing.endIfDue(e.env.Space.Now())
	if !e.timer.passive && !e.timer.halted {
		e.journal.unit(UnitBegins)
		began := e.stopwatch.now
		more = e.env.Space.ExpireDue(expireBatch) == expireBatch
		if e.env.Config.LatencyThreshold > 0 {
			e.spike("expire-cycle", e.stopwatch.read()-began)
		}
		e.journal.unit(UnitEnds)
	}
	if e.memory.evicting {
		e.journal.unit(UnitBegins)
		more = e.memory.goOn() || more
		e.journal.unit(UnitEnds)
	}
	if e.tracking.overfull > 0 && !e.timer.halted {
		e.tracking.shrink()
		more = more || e.tracking.overfull > 0
	}
	e.parking.endOverdue(e.env.Space.Now())
	e.serveReady()
	if !e.timer.halted {
		e.saving.saveIfDue()
	}
	e.env.Space.NextDeadline()
	return more
}

// armTimer sets the timer to the earliest deadline, unless it fires earlier already.
func (e *Engine) armTimer() {
	next := int64(0)
	if !e.timer.passive && !e.timer.halted && !e.env.Space.KeepExpired {
		next = e.env.Space.Earliest()
	}
	if at, ok := e.parking.deadlines.Next(); ok && (next == 0 || at < next) {
		next = at
	}
	if p := e.pausing.until; p > 0 && (next == 0 || p < next) {
		next = p
	}
	if at := e.saving.due(); at > 0 && !e.timer.halted && (next == 0 || at < next) {
		next = at
	}
	if e.memory.evicting || e.tracking.overfull > 0 && !e.timer.halted {
		next = e.env.Space.Now()
	}
	if next != 0 {
		next = max(next, e.timer.notBefore)
	}
	if next == 0 || e.timer.armed != 0 && e.timer.armed <= next {
		return
	}
	e.timer.armed = next
	e.timer.t.Reset(time.UnixMilli(next))
}
