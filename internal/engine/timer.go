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

// timer wakes the engine when the first of its sources is due. A unit that adds an earlier deadline arms it again. It may fire too early, when a
// deadline was removed. Then it finds nothing due and is armed for the next deadline.
type timer struct {
	sources []source
	t       expiry.Timer
	armed   int64         // Unix ms that it is set to, 0: not set; guarded by the gate
	quit    chan struct{} // closed by stop

	notBefore int64 // Unix ms, after a panic
	passive   bool  // DEBUG SET-ACTIVE-EXPIRE 0: keys expire on access only
	halted    bool  // DEBUG PAUSE-CRON 1: the same, and no save points
}

func (t *timer) init(clock expiry.Clock, sources []source) {
	t.sources = sources
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

// deadlines are a source of work for the timer.
type deadlines interface {
	// Due returns when there is something to do next, in Unix ms; 0: never. It may be too early.
	Due() int64
	// Fire does what is due at now, in Unix ms. It reports whether there is more to do now.
	Fire(now int64) (more bool)
}

// source is a source of work for the timer, in the order in which it fires.
type source struct {
	deadlines
	cron bool // DEBUG PAUSE-CRON stops it
	unit bool // it changes keys: the journal shows its work as a unit
}

// sources returns the sources of work for the timer. A pause ends before the keys expire that it
// has kept, and before the waits that it has held up.
func (e *Engine) sources() []source {
	return []source{
		{deadlines: &e.pausing},
		{deadlines: expiring{e}, cron: true, unit: true},
		{deadlines: e.memory, unit: true},
		{deadlines: e.tracking, cron: true},
		{deadlines: &e.parking},
		{deadlines: e.files, cron: true},
	}
}

// endDueBatch does a batch of what is due. It reports whether there is more to do now.
func (e *Engine) endDueBatch() (more bool) {
	e.readClock()
	e.timer.armed = 0
	now := e.env.Space.Now()
	for _, s := range e.timer.sources {
		if at := e.dueAt(s); at != 0 && at <= now {
			more = e.fire(s, now) || more
		}
	}
	e.serveReady()
	return more
}

// fire does what is due of a source.
func (e *Engine) fire(s source, now int64) (more bool) {
	if s.unit {
		e.journal.unit(UnitBegins)
		defer e.journal.unit(UnitEnds)
	}
	return s.Fire(now)
}

// dueAt returns when a source is due, unless it is stopped.
func (e *Engine) dueAt(s source) (at int64) {
	if s.cron && e.timer.halted {
		return 0
	}
	return s.Due()
}

// nextDue returns when the first source is due, in Unix ms; 0: none.
func (e *Engine) nextDue() (next int64) {
	for _, s := range e.timer.sources {
		if at := e.dueAt(s); at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	return next
}

// expiring is the deadlines of keys and of the fields of hashes.
type expiring struct{ e *Engine }

// Due returns a lower bound: a deadline that was removed may have been the earliest.
func (x expiring) Due() int64 {
	if x.e.timer.passive || x.e.env.Space.KeepExpired {
		return 0
	}
	return x.e.env.Space.Earliest()
}

// Fire ends a batch of due keys and fields, and makes the bound exact.
func (x expiring) Fire(int64) (more bool) {
	e := x.e
	began := e.stopwatch.now
	more = e.env.Space.ExpireDue(expireBatch) == expireBatch
	if e.env.Config.LatencyThreshold > 0 {
		e.measures.spike("expire-cycle", e.stopwatch.read()-began)
	}
	e.env.Space.NextDeadline()
	return more
}

// armTimer sets the timer to the earliest deadline, unless it fires earlier already.
func (e *Engine) armTimer() {
	next := e.nextDue()
	if next != 0 {
		next = max(next, e.timer.notBefore)
	}
	if next == 0 || e.timer.armed != 0 && e.timer.armed <= next {
		return
	}
	e.timer.armed = next
	e.timer.t.Reset(time.UnixMilli(next))
}
