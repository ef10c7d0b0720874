package server

import (
	"sync"
	"time"
)

// side is where one side of a stream, its reader or its writer, waits, and the
// deadline of that. All of it is guarded by the stream's mutex.
//
// A client moves its deadlines with every command and hardly ever meets one. So
// the timer is only armed when somebody waits, and one that is armed already is
// left alone while it fires no later than it has to: when it fires it looks at
// the deadline that is set by then.
type side struct {
	s       *stream
	cond    sync.Cond
	waiting int

	deadline time.Time // zero: none
	passed   bool      // the deadline has come
	timer    *time.Timer
	armed    time.Time // when timer fires; zero: it is not set
}

func (d *side) init(s *stream) { d.s, d.cond.L = s, &s.mu }

// wait returns after a change, or when the deadline has come.
func (d *side) wait() {
	if !d.arm() {
		return
	}
	d.waiting++
	d.cond.Wait()
	d.waiting--
}

// arm makes sure that the timer fires at the deadline or before. It reports
// false when that has passed.
func (d *side) arm() bool {
	if d.deadline.IsZero() || !d.armed.IsZero() && !d.armed.After(d.deadline) {
		return true
	}
	left := time.Until(d.deadline)
	if left <= 0 {
		d.passed = true
		return false
	}
	d.armed = d.deadline
	if d.timer == nil {
		d.timer = time.AfterFunc(left, d.fire)
	} else {
		d.timer.Reset(left)
	}
	return true
}

// fire is the timer's.
func (d *side) fire() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.armed = time.Time{}
	if d.waiting > 0 && !d.arm() {
		d.cond.Broadcast()
	}
}

// set changes the deadline, for those who wait already, too.
func (d *side) set(t time.Time) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.deadline = t
	d.passed = !t.IsZero() && time.Until(t) <= 0
	if d.waiting > 0 && (d.passed || !d.arm()) {
		d.cond.Broadcast()
	}
}

func (d *side) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.armed = time.Time{}
}

// SetReadDeadline sets when reads fail with os.ErrDeadlineExceeded, those that
// wait included. The zero time means never.
func (p *pipeEnd) SetReadDeadline(t time.Time) error {
	p.in.reading.set(t)
	return nil
}

// SetWriteDeadline is SetReadDeadline for writes.
func (p *pipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.writing.set(t)
	return nil
}

// SetDeadline sets both deadlines.
func (p *pipeEnd) SetDeadline(t time.Time) error {
	p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}
