package expiry

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock gives the engine the time.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// NewTimer returns a stopped timer that follows this clock.
	NewTimer() Timer
}

// Stopwatch is a Clock that measures a duration at a lower cost than by Now.
type Stopwatch interface {
	// Since returns the time since t, which Now has returned.
	Since(t time.Time) time.Duration
}

// Turnable is a Clock that can be turned.
type Turnable interface {
	Clock
	// Shift moves the clock by d, back if d is negative. A timer keeps the time that it is armed
	// for, but may notice a shift only at its next Reset.
	Shift(d time.Duration)
	// Real returns the time of a clock that was never turned: the time of the clients.
	Real() time.Time
}

// End is the first time that a server's clock does not have. The engine counts nanoseconds in 64
// bits, which end in April 2262.
var End = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)

// Timer sends on a channel once, when its clock reaches a point in time. One
// goroutine receives; any goroutine may call Reset and Stop.
type Timer interface {
	// C returns the channel. A value that was sent before a Reset or Stop may
	// still be received after it, so the receiver checks the clock.
	C() <-chan time.Time
	// Reset arms the timer for at. It fires at once when at is past.
	Reset(at time.Time)
	// Stop disarms the timer.
	Stop()
}

// System returns the machine's clock.
func System() Clock { return systemClock{} }

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Since(t time.Time) time.Duration { return time.Since(t) }

func (systemClock) NewTimer() Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return systemTimer{t}
}

type systemTimer struct{ t *time.Timer }

func (s systemTimer) C() <-chan time.Time { return s.t.C }
func (s systemTimer) Reset(at time.Time)  { s.t.Reset(time.Until(at)) }
func (s systemTimer) Stop()               { s.t.Stop() }

// offset is another clock that is some time ahead, or behind if the time is negative. It is safe for
// concurrent use.
type offset struct {
	Clock              // the other one
	by    atomic.Int64 // ns
}

// Now returns the clock's time.
func (o *offset) Now() time.Time { return o.Clock.Now().Add(time.Duration(o.by.Load())) }

// Real returns the other clock's time.
func (o *offset) Real() time.Time { return o.Clock.Now() }

// Shift moves the clock by d.
func (o *offset) Shift(d time.Duration) { o.by.Add(int64(d)) }

// NewTimer returns a stopped timer.
func (o *offset) NewTimer() Timer { return offsetTimer{o.Clock.NewTimer(), o} }

type offsetTimer struct {
	Timer
	clock *offset
}

func (t offsetTimer) Reset(at time.Time) {
	t.Timer.Reset(at.Add(-time.Duration(t.clock.by.Load())))
}

// offsetStopwatch is an offset of a clock that is a Stopwatch. A turn does not change what it
// measures.
type offsetStopwatch struct {
	*offset
	Stopwatch
}

// Turn returns c if it is Turnable, else a clock that is turned beside c.
func Turn(c Clock) Turnable {
	if t, ok := c.(Turnable); ok {
		return t
	}
	o := &offset{Clock: c}
	if s, ok := c.(Stopwatch); ok {
		return offsetStopwatch{o, s}
	}
	return o
}

// Manual is a clock that stands still until Set or Advance moves it. It is safe
// for concurrent use.
type Manual struct {
	mu     sync.Mutex // guards the fields below
	now    time.Time
	timers map[*manualTimer]struct{} // the armed timers
}

// NewManual returns a clock that reads start. No timer is armed.
func NewManual(start time.Time) *Manual {
	return &Manual{now: start, timers: map[*manualTimer]struct{}{}}
}

// Now returns the clock's time.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Set moves the clock to t and fires the timers that are due. A t in the past
// leaves the clock where it is. Set does not wait for the timers' receivers.
func (m *Manual) Set(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t.After(m.now) {
		m.now = t
	}
	for timer := range m.timers {
		m.fireIfDue(timer)
	}
}

// SetBack moves the clock to t, also when t is in the past. Timers keep their times.
func (m *Manual) SetBack(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = t
	for timer := range m.timers {
		m.fireIfDue(timer)
	}
}

// Advance moves the clock forward by d.
func (m *Manual) Advance(d time.Duration) { m.Set(m.Now().Add(d)) }

// Shift moves the clock by d, back if d is negative. Timers keep their times.
func (m *Manual) Shift(d time.Duration) { m.SetBack(m.Now().Add(d)) }

// Real returns the machine's time.
func (m *Manual) Real() time.Time { return time.Now() }

// NewTimer returns a stopped timer.
func (m *Manual) NewTimer() Timer {
	return &manualTimer{clock: m, c: make(chan time.Time, 1)}
}

// fireIfDue fires and disarms t when its time has come. m.mu must be held.
func (m *Manual) fireIfDue(t *manualTimer) {
	if t.at.After(m.now) {
		return
	}
	delete(m.timers, t)
	select {
	case t.c <- m.now:
	default:
	}
}

type manualTimer struct {
	clock *Manual
	c     chan time.Time
	at    time.Time // guarded by clock.mu
}

func (t *manualTimer) C() <-chan time.Time { return t.c }

func (t *manualTimer) Reset(at time.Time) {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.at = at
	t.clock.timers[t] = struct{}{}
	t.clock.fireIfDue(t)
}

func (t *manualTimer) Stop() {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	delete(t.clock.timers, t)
}
