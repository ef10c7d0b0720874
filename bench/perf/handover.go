//go:build linux

package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// handOverSpec describes Grants hand-overs of a lock among Waiters, which are subscribed
// to its channel.
type handOverSpec struct {
	Addr        string
	Waiters     int
	Grants      int
	Lock, SHA   string // the lock's name, and the SHA of lock.lua
	UnlockSHA   string
	Channel     string
	OwnerPrefix string
}

// handOverResult is the time from sending an unlock to the next grant, in µs.
type handOverResult struct{ P50, P99 float64 }

// crowd is the waiters. Each waiter has two connections, as a process with Redisson has.
// Connection 2i of waiter i is subscribed, connection 2i+1 sends commands. One more
// connection, unlocker, unlocks for every holder.
type crowd struct {
	handOverSpec
	poll     *poller
	fds      []int
	unlocker int
	lock     [][]byte // the lock command of each waiter
	unlock   [][]byte
	message  int // the length of a message on the channel
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

// gather connects all waiters and subscribes.
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
			c.unlock = append(c.unlock, wire.AppendCommand(nil, "EVALSHA", c.UnlockSHA, "2", c.Lock,
				c.Channel, "30000", owner))
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

// first makes waiter 0 acquire the lock.
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

// next unlocks for the holder. All waiters get the message and try to lock. next returns
// the new holder after the server has refused all others, so that every hand-over begins
// with all of them waiting.
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
		err = fmt.Errorf("no waiter was granted the lock")
	}
	return winner, took, err
}

// serve reads from a readable connection. After a message it sends the waiter's lock
// command.
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
