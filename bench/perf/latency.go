//go:build linux

package main

import (
	"syscall"
	"time"
)

// latencySpec describes steps that one connection runs one after the other. The next
// command follows the reply or, where Every is set, a clock. The time of a command that
// is late because of the previous one counts from when it was due. Otherwise a server
// that stops for 20 ms would delay only one command of thousands, and no percentile would
// show it.
type latencySpec struct {
	Addr  string
	Steps []step
	Span  time.Duration
	Every time.Duration
}

// latencyResult is how many times a second all steps ran, and the time of a single
// command, in µs.
type latencyResult struct{ Rate, P50, P99, Max float64 }

// mostCommands limits the memory for the times to a minute of commands.
const mostCommands = 4 << 20

// latencyRole waits in read, not in epoll, because nothing is faster.
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
	clear(took[:cap(took)]) // allocate the pages now, not while measuring
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
	return p.answer(latencyResult{rate, percentile(took, 0.5), percentile(took, 0.99),
		percentile(took, 1)})
}

// next waits until a command is due and returns the time from which it counts.
func (s *latencySpec) next(now, due time.Time) time.Time {
	if s.Every == 0 {
		return now
	}
	if !now.Before(due) {
		return due
	}
	pause := syscall.NsecToTimespec(int64(due.Sub(now)))
	_ = syscall.Nanosleep(&pause, nil) // a signal may end it early, and the command is then sent early
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
