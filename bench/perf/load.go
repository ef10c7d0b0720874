//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// step is a command and its only correct reply, as bytes. In the command's words {slot}
// is a number that no other connection uses at the same time, and {conn} is the
// connection's number.
type step struct {
	Args  []string
	Reply string
}

// loadSpec describes load: each connection runs the steps for its slots one after the
// other, over and over. Pipeline commands are sent before a reply is read.
type loadSpec struct {
	Addr        string
	Connections int
	Pipeline    int
	Slots       int    // number of slots of a connection; times the steps a multiple of Pipeline
	Before      []step // run once for each slot, before the measurement
	Steps       []step
	Span        time.Duration
}

// batch is the bytes to send at once and the bytes of the replies.
type batch struct{ out, want []byte }

// warmUp is how long the load runs before commands count.
const warmUp = 150 * time.Millisecond

// ring returns the batches of a connection.
func (s *loadSpec) ring(connection int) ([]batch, error) {
	var ring []batch
	var b batch
	commands := 0
	for slot := range s.Slots {
		words := strings.NewReplacer("{slot}", strconv.Itoa(connection*s.Slots+slot), "{conn}",
			strconv.Itoa(connection))
		for _, st := range s.Steps {
			args := make([]string, len(st.Args))
			for i, a := range st.Args {
				args[i] = words.Replace(a)
			}
			b.out, b.want = wire.AppendCommand(b.out, args...), append(b.want, st.Reply...)
			if commands++; commands%s.Pipeline == 0 {
				ring, b = append(ring, b), batch{}
			}
		}
	}
	if len(b.out) > 0 {
		return nil, fmt.Errorf("%d commands cannot be sent %d at a time", commands, s.Pipeline)
	}
	return ring, nil
}

// loader is one connection.
type loader struct {
	fd   int
	ring []batch
	at   int
	got  int // bytes of the current batch's replies that have arrived
}

func (l *loader) send() error { return rawWrite(l.fd, l.ring[l.at].out) }

// take compares replies and returns true when the batch is complete.
func (l *loader) take(b []byte) (bool, error) {
	want := l.ring[l.at].want[l.got:]
	if len(b) > len(want) || !bytes.Equal(b, want[:len(b)]) {
		return false, fmt.Errorf("wrong replies: %q instead of %q", head(b), head(want))
	}
	if l.got += len(b); len(b) < len(want) {
		return false, nil
	}
	l.got, l.at = 0, (l.at+1)%len(l.ring)
	return true, nil
}

func head(b []byte) []byte { return b[:min(len(b), 120)] }

// loadRole returns the commands per second.
func loadRole(p *parent) error {
	becomeSingle()
	var s loadSpec
	if err := p.in.Decode(&s); err != nil {
		return err
	}
	poll, err := newPoller()
	if err != nil {
		return err
	}
	loaders := make([]loader, s.Connections)
	buf := make([]byte, 64<<10)
	for i := range loaders {
		l := &loaders[i]
		if l.ring, err = s.ring(i); err != nil {
			return err
		}
		if l.fd, err = poll.dial(s.Addr, i); err != nil {
			return err
		}
		if err := greet(l.fd, buf); err != nil {
			return err
		}
		if err := s.runBefore(*l, i, buf); err != nil {
			return err
		}
	}
	if err := p.ready(); err != nil {
		return err
	}
	for i := range loaders {
		if err := loaders[i].send(); err != nil {
			return err
		}
	}
	rate, err := drive(poll, loaders, buf, s)
	if err != nil {
		return err
	}
	return p.answer(rate)
}

// runBefore runs the steps in Before on a loader's connection.
func (s loadSpec) runBefore(l loader, connection int, buf []byte) error {
	var err error
	s.Steps, s.Pipeline = s.Before, 1
	if l.ring, err = s.ring(connection); err != nil {
		return err
	}
	for range l.ring {
		if err := l.roundTrip(buf); err != nil {
			return err
		}
	}
	return nil
}

// greet sends one PING, so that the server has used the connection.
func greet(fd int, buf []byte) error {
	if err := rawWrite(fd, wire.AppendCommand(nil, "PING")); err != nil {
		return err
	}
	n, err := rawRead(fd, buf)
	if err == nil && string(buf[:n]) != "+PONG\r\n" {
		err = fmt.Errorf("%q instead of a PONG", head(buf[:n]))
	}
	return err
}

// drive counts the commands that are answered in the span after the warm-up. It then
// waits for all outstanding replies. Otherwise the work of a slow server would disturb
// the next measurement.
func drive(poll *poller, loaders []loader, buf []byte, s loadSpec) (float64, error) {
	batches, counting, rate := 0, false, 0.0
	from := time.Now().Add(warmUp)
	for underWay := len(loaders); underWay > 0; {
		events, err := poll.wait()
		if err != nil {
			return 0, err
		}
		for i := range events {
			l := &loaders[events[i].Fd]
			n, err := rawRead(l.fd, buf)
			if err != nil {
				return 0, err
			}
			done, err := l.take(buf[:n])
			if err != nil {
				return 0, err
			}
			switch {
			case !done:
			case rate > 0:
				underWay--
			default:
				batches++
				if err := l.send(); err != nil {
					return 0, err
				}
			}
		}
		now := time.Now()
		switch {
		case !counting && now.After(from):
			batches, counting, from = 0, true, now
		case counting && rate == 0 && now.Sub(from) >= s.Span:
			rate = float64(batches*s.Pipeline) / now.Sub(from).Seconds()
		}
	}
	return rate, nil
}
