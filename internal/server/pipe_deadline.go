package server

import (
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/bubble"
)

// side is one side of a stream, the reader's or the writer's: its condition and its
// deadline. The stream's mutex guards all of it.
//
// A client moves its deadlines with every command, and a deadline is hardly ever
// reached. So the timer is armed only while a goroutine waits. A timer that is already
// armed stays as it is if it fires at the deadline or earlier. When it fires, it looks at
// the deadline that is set by then.
type side struct {
	s       *stream
	cond    sync.Cond
	waiting int // goroutines in cond.Wait

	deadline time.Time   // zero: none
	expired  bool        // the deadline has passed
	timer    *time.Timer // nil until it is first needed
	armed    time.Time   // when timer fires; zero: it is not set
}

func (d *side) init(s *stream) { d.s, d.cond.L = s, &s.mu }

// wait returns after a change, or when the deadline has passed. The caller checks which. The
// error is errBubble.
func (d *side) wait() error {
	if bubble.Inside() != d.s.bubbled {
		return errBubble
	}
	if !d.arm() {
		return nil
	}
	d.waiting++
	d.cond.Wait()
	d.waiting--
	return nil
}

// arm makes the timer fire at the deadline or earlier. It reports false when the
// deadline has passed.
func (d *side) arm() bool {
	if d.deadline.IsZero() || !d.armed.IsZero() && !d.armed.After(d.deadline) {
		return true
	}
	left := time.Until(d.deadline)
	if left <= 0 {
		d.expired = true
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

// fire runs when the timer fires: it arms the timer again, or wakes the waiters.
func (d *side) fire() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.armed = time.Time{}
	if d.waiting > 0 && !d.arm() {
		d.cond.Broadcast()
	}
}

// set changes the deadline. It also applies to goroutines that wait already.
func (d *side) set(t time.Time) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.deadline = t
	d.expired = !t.IsZero() && time.Until(t) <= 0
	if d.waiting > 0 && (d.expired || !d.arm()) {
		d.cond.Broadcast()
	}
}

// stop stops the timer.
func (d *side) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.armed = time.Time{}
}

// SetReadDeadline sets when reads fail with os.ErrDeadlineExceeded, blocked reads
// included. The zero time means never.
func (p *pipeEnd) SetReadDeadline(t time.Time) error {
	p.in.reading.set(t)
	return nil
}

// SetWriteDeadline does for writes what SetReadDeadline does for reads.
func (p *pipeEnd) SetWriteDeadline(t time.Time) error {
	p.out.writing.set(t)
	return nil
}

// SetDeadline sets both deadlines.
func (p *pipeEnd) SetDeadline(t time.Time) error {
	p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}
