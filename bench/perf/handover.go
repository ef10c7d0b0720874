//go:build linux

package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// handOverSpec asks for Grants hand-overs of a lock among Waiters that are
// subscribed to its channel.
type handOverSpec struct {
	Addr        string
	Waiters     int
	Grants      int
	Lock, SHA   string // its name, and lock.lua
	UnlockSHA   string
	Channel     string
	OwnerPrefix string
}

// handOverResult is the time from an unlock's sending to the next grant, in µs.
type handOverResult struct{ P50, P99 float64 }

// crowd is the waiters. Waiter i has two connections, as a process with Redisson
// has: number 2i is subscribed, 2i+1 sends commands. A connection of nobody's
// unlocks for whoever holds the lock.
type crowd struct {
	handOverSpec
	poll     *poller
	fds      []int
	unlocker int
	lock     [][]byte // a waiter's command
	unlock   [][]byte
	message  int // its length
	got      []int
	buf      []byte
}

const unlockerNumber = -1

func handOverRole(p *parent) error {
	becomeSingle()
	c := &crowd{buf: make([]byte, 4096)}
	if err := p.in.Decode(&c.handOverSpec); err != nil {
		return err
	}
	if err := c.gather(); err != nil {
		return err
	}
	if err := p.ready(); err != nil {
		return err
	}
	took := make([]time.Duration, 0, c.Grants)
	holder, err := c.first()
	for range c.Grants {
		if err != nil {
			break
		}
		var d time.Duration
		if holder, d, err = c.next(holder); err == nil {
			took = append(took, d)
		}
	}
	if err != nil {
		return err
	}
	return p.answer(handOverResult{percentile(took, 0.5), percentile(took, 0.99)})
}

// gather connects all and subscribes.
func (c *crowd) gather() error {
	var err error
	if c.poll, err = newPoller(); err != nil {
		return err
	}
	if c.unlocker, err = c.poll.dial(c.Addr, unlockerNumber); err != nil {
		return err
	}
	c.fds, c.got = make([]int, 2*c.Waiters), make([]int, c.Waiters)
	c.message = len(wire.AppendCommand(nil, "message", c.Channel, "0"))
	for i := range c.fds {
		if c.fds[i], err = c.poll.dial(c.Addr, i); err != nil {
			return err
		}
		if i%2 == 1 {
			owner := c.OwnerPrefix + strconv.Itoa(i/2)
			c.lock = append(c.lock, wire.AppendCommand(nil, "EVALSHA", c.SHA, "1", c.Lock, "30000", owner))
			c.unlock = append(c.unlock, wire.AppendCommand(nil, "EVALSHA", c.UnlockSHA, "2", c.Lock, c.Channel, "30000", owner))
			continue
		}
		if err := rawWrite(c.fds[i], wire.AppendCommand(nil, "SUBSCRIBE", c.Channel)); err != nil {
			return err
		}
		if _, err := rawRead(c.fds[i], c.buf); err != nil {
			return err
		}
	}
	return nil
}

// first has waiter 0 take the lock.
func (c *crowd) first() (int, error) {
	if err := rawWrite(c.fds[1], c.lock[0]); err != nil {
		return 0, err
	}
	n, err := rawRead(c.fds[1], c.buf)
	if err == nil && string(c.buf[:n]) != granted {
		err = fmt.Errorf("the lock was not granted: %q", c.buf[:n])
	}
	return 0, err
}

const granted = "$-1\r\n"

// next unlocks for the holder. All waiters are told and ask for the lock; it returns
// who got it when the others have been refused too, so that each hand-over begins
// with everybody waiting.
func (c *crowd) next(holder int) (winner int, took time.Duration, err error) {
	began := time.Now()
	if err := rawWrite(c.unlocker, c.unlock[holder]); err != nil {
		return 0, 0, err
	}
	winner = -1
	for missing := c.Waiters + 1; missing > 0; {
		events, err := c.poll.wait()
		if err != nil {
			return 0, 0, err
		}
		for i := range events {
			number := int(events[i].Fd)
			replied, won, err := c.serve(number)
			if err != nil {
				return 0, 0, err
			}
			if replied {
				missing--
			}
			if won {
				winner, took = number/2, time.Since(began)
			}
		}
	}
	if winner < 0 {
		err = fmt.Errorf("nobody was granted the lock")
	}
	return winner, took, err
}

// serve reads from a connection that has something, and lets a waiter that has
// been told ask for the lock.
func (c *crowd) serve(number int) (replied, won bool, err error) {
	fd := c.unlocker
	if number != unlockerNumber {
		fd = c.fds[number]
	}
	n, err := rawRead(fd, c.buf)
	if err != nil || c.buf[0] == '-' {
		return false, false, fmt.Errorf("%q, %w", c.buf[:n], err)
	}
	waiter := number / 2
	switch {
	case number == unlockerNumber:
		return true, false, nil
	case number%2 == 1:
		return true, string(c.buf[:n]) == granted, nil
	}
	if c.got[waiter] += n; c.got[waiter] < c.message {
		return false, false, nil
	}
	c.got[waiter] = 0
	return false, false, rawWrite(c.fds[number+1], c.lock[waiter])
}
