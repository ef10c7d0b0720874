package engine

import (
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/journal"
)

// expireBatch is how many keys expire in one unit before other callers get the
// lock.
const expireBatch = 128

// retryAfter is how long the timer's work waits after a panic, in milliseconds. The item
// that caused the panic may still be due.
const retryAfter = 100

// timer wakes the engine when the first of its sources is due. A unit that adds an earlier deadline
// arms it again. It may fire too early, when a deadline was removed. Then it finds nothing due and is
// armed for the next deadline.
type timer struct {
	e       *Engine
	sources []source // in the order in which they fire
	nearer  bool     // see look
	changes int64    // Env.Dirty when the sources were asked last
	t       expiry.Timer
	armed   int64         // Unix ms that it is set to, 0: not set; guarded by the gate
	quit    chan struct{} // closed by stop

	notBefore int64 // Unix ms, after a panic
	passive   bool  // DEBUG SET-ACTIVE-EXPIRE 0: keys expire on access only
	halted    bool  // DEBUG PAUSE-CRON 1: the same, and no save points
}

func (t *timer) init(e *Engine) {
	t.e = e
	// A pause ends before the keys expire that it has kept, and before the waits that it has prolonged.
	t.sources = []source{
		{&e.pausing, 0}, {expiring{e}, cron | unitOfWork}, {e.memory, unitOfWork},
		{e.tracking, cron}, {&e.parking, 0}, {&e.awaiting, 0}, {e.files, cron},
	}
	t.t = e.clock.NewTimer()
	t.quit = make(chan struct{})
}

// look has the sources asked at the end of the unit. A source calls it when it may be due earlier
// than before.
func (t *timer) look() { t.nearer = true }

func (t *timer) stop() { close(t.quit) }

// SetActive turns expiry by timer on and off. Expired keys are missing either way.
func (t *timer) SetActive(on bool) {
	t.passive = !on
	t.look()
}

// PauseCron stops expiry by timer and save points, or continues them.
func (t *timer) PauseCron(on bool) {
	t.halted = on
	t.look()
}

// due reports whether the timer is armed for now, in Unix ms, or earlier.
func (t *timer) due(now int64) bool { return t.armed != 0 && t.armed <= now }

// run ends due leases, waits and the pause whenever the timer fires, until Close.
func (t *timer) run() {
	defer t.e.done.Done()
	defer t.t.Stop()
	self := Caller{background: true}
	for {
		select {
		case <-t.quit:
			return
		case <-t.t.C():
		}
		for more := true; more; {
			t.e.Do(&self, func() { more = t.fire() })
		}
	}
}

// fire does what endDue does. After a panic it tries again later.
func (t *timer) fire() (more bool) {
	defer func() {
		if cause := recover(); cause != nil {
			t.e.panics.log("the timer", nil, cause)
			t.notBefore = t.e.env.Space.Now() + retryAfter
			more = false
		}
	}()
	return t.endDue()
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
	traits
}

// traits are properties of a source.
type traits uint8

const (
	cron       traits = 1 << iota // DEBUG PAUSE-CRON stops it
	unitOfWork                    // it changes keys: the journal shows its work as a unit
)

func (t traits) has(other traits) bool { return t&other != 0 }

// endDue does a batch of what is due. It reports whether there is more to do now.
func (t *timer) endDue() (more bool) {
	e := t.e
	e.readClock()
	t.armed = 0
	t.look()
	now := e.env.Space.Now()
	for i := range t.sources {
		s := &t.sources[i]
		if at := t.dueAt(s); at != 0 && at <= now {
			more = t.fireOne(s, now) || more
		}
	}
	e.parking.serveReady()
	return more
}

// fireOne does what is due of a source.
func (t *timer) fireOne(s *source, now int64) (more bool) {
	if s.has(unitOfWork) {
		t.e.journal.Unit(journal.UnitBegins)
		defer t.e.journal.Unit(journal.UnitEnds)
	}
	return s.Fire(now)
}

// dueAt returns when a source is due, unless it is stopped.
func (t *timer) dueAt(s *source) (at int64) {
	if t.halted && s.has(cron) {
		return 0
	}
	return s.Due()
}

// next returns when the first source is due, in Unix ms; 0: none.
func (t *timer) next() (next int64) {
	for i := range t.sources {
		if at := t.dueAt(&t.sources[i]); at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	return next
}

// expiring is the deadlines of keys and of the fields of hashes.
type expiring struct{ e *Engine }

// Due returns a lower bound: a deadline that was removed may have been the earliest.
func (x expiring) Due() int64 {
	switch space := x.e.env.Space; {
	case x.e.timer.passive:
		return 0
	case space.KeepExpired:
		return space.EarliestOwn()
	default:
		return space.Earliest()
	}
}

// Fire ends a batch of due keys and fields, and makes the bound exact.
func (x expiring) Fire(int64) (more bool) {
	e := x.e
	began := e.stopwatch.Now
	more = e.env.Space.ExpireDue(expireBatch) == expireBatch
	if e.env.Config.LatencyThreshold > 0 {
		e.measures.Spike("expire-cycle", e.stopwatch.Read()-began)
	}
	e.env.Space.NextDeadline()
	return more
}

// arm is called when a unit has ended. If a deadline may be earlier than before, it sets the timer to
// the earliest one. Changes bring a save point nearer.
func (t *timer) arm() {
	env := &t.e.env
	if t.nearer || env.Dirty != t.changes && len(env.Config.RDB.Points) > 0 {
		t.nearer, t.changes = false, env.Dirty
		t.set(t.next())
	}
}

// set sets the timer to next, in Unix ms, unless next is 0 or the timer fires earlier already.
func (t *timer) set(next int64) {
	if next != 0 {
		next = max(next, t.notBefore)
	}
	if next == 0 || t.armed != 0 && t.armed <= next {
		return
	}
	t.armed = next
	t.t.Reset(time.UnixMilli(next))
}
