// Package stall measures for how long a test's process did not run: it was stopped, or the
// machine had no processor for it. A test that must use real time, because other programs
// do, calls it to tell a stall from a fault: a lease of a second ends in a stall of two.
//
// It is test code in ordinary files, because the tests of several packages call it. No
// product package imports it.
package stall

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

const (
	// pulse is how often a Meter looks at the clock.
	pulse = 5 * time.Millisecond

	// tolerance is how late a pulse may come without a stall.
	tolerance = 5 * time.Millisecond
)

// Meter notes the stalls since its Start.
type Meter struct {
	stop, stopped chan struct{}

	start time.Time

	mu     sync.Mutex // guards the fields below
	last   time.Time  // the last pulse
	stalls []span
	lost   time.Duration // all stalls together
}

// span is a stall.
type span struct{ from, to time.Time }

// Start starts a Meter. Stop ends it.
func Start() *Meter {
	now := time.Now()
	m := &Meter{stop: make(chan struct{}), stopped: make(chan struct{}), start: now, last: now}
	go m.run()
	return m
}

// Watch starts a Meter for the length of a test.
func Watch(tb testing.TB) *Meter {
	m := Start()
	tb.Cleanup(m.Stop)
	return m
}

// Stop ends the Meter. It must be called once.
func (m *Meter) Stop() {
	close(m.stop)
	<-m.stopped
}

func (m *Meter) run() {
	defer close(m.stopped)
	tick := time.NewTicker(pulse)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			m.mu.Lock()
			m.note(time.Now())
			m.mu.Unlock()
		}
	}
}

// note records a pulse. m.mu is held.
func (m *Meter) note(now time.Time) {
	latest := m.last.Add(pulse + tolerance)
	if now.After(latest) {
		m.stalls = append(m.stalls, span{latest, now})
		m.lost += now.Sub(latest)
	}
	m.last = now
}

// Running returns for how long the process has run since the Meter's Start: a clock that
// stands still in a stall.
func (m *Meter) Running() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.note(now)
	return now.Sub(m.start) - m.lost
}

// Since returns how long the process did not run since a time.
func (m *Meter) Since(from time.Time) (total time.Duration) {
	for _, s := range m.all() {
		if s.from.Before(from) {
			s.from = from
		}
		total += max(0, s.to.Sub(s.from))
	}
	return total
}

// Longest returns the longest stall that ended after a time.
func (m *Meter) Longest(after time.Time) (longest time.Duration) {
	for _, s := range m.all() {
		if s.to.After(after) {
			longest = max(longest, s.to.Sub(s.from))
		}
	}
	return longest
}

// all returns the stalls, and one that has not ended: the caller may run before the Meter.
func (m *Meter) all() []span {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.note(time.Now())
	return m.stalls[:len(m.stalls):len(m.stalls)]
}

// Undisturbed runs a part of a test that fails if the process stalls for limit: because a
// lease ends, for example. On a busy machine many short stalls delay it as one long does. When f
// returns an error after such stalls, Undisturbed runs it again. Any other error ends the test.
func Undisturbed(tb testing.TB, limit time.Duration, f func() error) {
	tb.Helper()
	m := Start()
	defer m.Stop()
	if err := m.retry(limit, f); err != nil {
		tb.Fatal(err)
	}
}

func (m *Meter) retry(limit time.Duration, f func() error) error {
	const attempts = 50
	for i := 1; ; i++ {
		begin := time.Now()
		err := f()
		if err == nil {
			return nil
		}
		if stalled := m.Since(begin); stalled < limit || i == attempts {
			return fmt.Errorf("%w (the process stalled for %v)", err, stalled)
		}
	}
}
