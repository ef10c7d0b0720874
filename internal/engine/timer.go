package engine

import (
	"time"

	"github.com/lockredis/lockredis/expiry"
)

// timer wakes the engine at the earliest deadline there is. It is armed by
// whoever leaves the engine with an earlier deadline than it is set to; one
// that fires too early, because its deadline was taken away, costs a look.
type timer struct {
	t     expiry.Timer
	armed int64 // Unix ms it is set to, 0: stopped; guarded by the gate
	quit  chan struct{}

	notBefore int64 // Unix ms, after a panic
}

func (t *timer) init(clock expiry.Clock) {
	t.t = clock.NewTimer()
	t.quit = make(chan struct{})
}

func (t *timer) stop() { close(t.quit) }

// due reports whether the timer is to fire at now, in Unix ms, or before.
func (t *timer) due(now int64) bool { return t.armed != 0 && t.armed <= now }

// expireBatch is how many keys expire in one go before others get the lock.
const expireBatch = 128

// runTimer ends what is due whenever the timer fires, until Close.
func (e *Engine) runTimer() {
	defer e.done.Done()
	defer e.timer.t.Stop()
	self := Caller{timer: true}
	for {
		select {
		case <-e.timer.quit:
			return
		case <-e.timer.t.C():
		}
		for more := true; more; {
			e.Do(&self, func() { more = e.endDue() })
		}
	}
}

// runDue ends leases, waits and the pause whose time has come, and reports
// whether more keys are due at once.
func (e *Engine) runDue() (more bool) {
	e.tick()
	e.timer.armed = 0
	e.endPauseIfDue()
	if !e.noActive {
		more = e.env.Space.ExpireDue(expireBatch) == expireBatch
	}
	e.endOverdueWaits()
	e.serveReady()
	e.env.Space.NextDeadline()
	return more
}

// armTimer sets the timer to the earliest deadline if that is earlier than
// what it is set to.
func (e *Engine) armTimer() {
	next := int64(0)
	if !e.noActive && !e.env.Space.KeepExpired {
		next = e.env.Space.Earliest()
	}
	if at, ok := e.parking.deadlines.Next(); ok && (next == 0 || at < next) {
		next = at
	}
	if p := e.pause.until; p > 0 && (next == 0 || p < next) {
		next = p
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

// SetActiveExpire turns expiry by timer on and off; expired keys are missing
// either way. It is called inside Do.
func (e *Engine) SetActiveExpire(on bool) { e.noActive = !on }
