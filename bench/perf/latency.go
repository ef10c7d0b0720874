//go:build linux

package main

import (
	"syscall"
	"time"
)

// latencySpec asks one connection to run steps one after the other: the next
// command follows the reply or, where Every is set, a clock. A command that is
// late because the one before was not answered counts from when it was due:
// otherwise a server that stands still for 20 ms would spoil a single command of
// thousands, and no percentile would tell.
type latencySpec struct {
	Addr  string
	Steps []step
	Span  time.Duration
	Every time.Duration
}

// latencyResult is how many times a second all steps were run, and how long a
// single command took, in µs.
type latencyResult struct{ Rate, P50, P99, Max float64 }

// mostCommands bounds the memory for their times: a minute of them.
const mostCommands = 4 << 20

// latencyRole waits in read instead of epoll: nothing is faster.
func latencyRole(p *parent) error {
	becomeSingle()
	var s latencySpec
	if err := p.in.Decode(&s); err != nil {
		return err
	}
	l := loader{}
	var err error
	if l.ring, err = (&loadSpec{Pipeline: 1, Slots: 1, Steps: s.Steps}).ring(0); err != nil {
		return err
	}
	if l.fd, err = rawDial(s.Addr); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	if err := greet(l.fd, buf); err != nil {
		return err
	}
	if err := p.ready(); err != nil {
		return err
	}
	took := make([]time.Duration, 0, mostCommands)
	clear(took[:cap(took)]) // the pages come now, not while measuring
	began := time.Now()
	for before := began; before.Sub(began) < s.Span && len(took) < cap(took); {
		if err := l.roundTrip(buf); err != nil {
			return err
		}
		now := time.Now()
		took = append(took, now.Sub(before))
		before = s.next(now, began.Add(time.Duration(len(took))*s.Every))
	}
	rate := float64(len(took)) / float64(len(s.Steps)) / time.Since(began).Seconds()
	return p.answer(latencyResult{rate, percentile(took, 0.5), percentile(took, 0.99), percentile(took, 1)})
}

// next waits until a command is due and returns from when on it counts.
func (s *latencySpec) next(now, due time.Time) time.Time {
	if s.Every == 0 {
		return now
	}
	if !now.Before(due) {
		return due
	}
	pause := syscall.NsecToTimespec(int64(due.Sub(now)))
	_ = syscall.Nanosleep(&pause, nil) // cut short by a signal, the command is sent a little early
	return time.Now()
}

func (l *loader) roundTrip(buf []byte) error {
	if err := l.send(); err != nil {
		return err
	}
	for {
		n, err := rawRead(l.fd, buf)
		if err != nil {
			return err
		}
		if done, err := l.take(buf[:n]); done || err != nil {
			return err
		}
	}
}
