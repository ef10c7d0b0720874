//go:build linux

package main

import (
	"fmt"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// publishSpec describes messages to many subscribers of one channel.
type publishSpec struct {
	Addr        string
	Subscribers int
	Publishers  int
	Span        time.Duration
}

const (
	publishChannel = "redisson_lock__channel:{orders}"
	publishMessage = "0"
)

// broadcast is the connections: first the subscribers, then the publishers.
type broadcast struct {
	publishSpec
	poll     *poller
	fds      []int
	publish  []byte
	reply    string
	message  int // the length of a message
	idle     []int
	bytes    int // delivered to subscribers
	sent     int // messages published
	answered int // bytes of replies
	buf      []byte
}

// publishRole returns the messages delivered per second.
func publishRole(p *parent) error {
	becomeSingle()
	b := &broadcast{buf: make([]byte, 64<<10)}
	if err := p.in.Decode(&b.publishSpec); err != nil {
		return err
	}
	if err := b.gather(); err != nil {
		return err
	}
	if err := p.ready(); err != nil {
		return err
	}
	rate, err := b.run()
	if err != nil {
		return err
	}
	return p.answer(rate)
}

func (b *broadcast) gather() error {
	var err error
	if b.poll, err = newPoller(); err != nil {
		return err
	}
	b.publish = wire.AppendCommand(nil, "PUBLISH", publishChannel, publishMessage)
	b.reply = fmt.Sprintf(":%d\r\n", b.Subscribers)
	b.message = len(wire.AppendCommand(nil, "message", publishChannel, publishMessage))
	b.fds = make([]int, b.Subscribers+b.Publishers)
	for i := range b.fds {
		if b.fds[i], err = b.poll.dial(b.Addr, i); err != nil {
			return err
		}
		if i >= b.Subscribers {
			b.idle = append(b.idle, b.fds[i])
			continue
		}
		if err := rawWrite(b.fds[i], wire.AppendCommand(nil, "SUBSCRIBE", publishChannel)); err != nil {
			return err
		}
		if _, err := rawRead(b.fds[i], b.buf); err != nil {
			return err
		}
	}
	return nil
}

// run publishes from every publisher that has its last reply, as long as the subscribers
// keep up: each lacks at most as many messages as there are publishers. Otherwise the run
// would measure the server's output buffers.
func (b *broadcast) run() (float64, error) {
	from, counting := time.Now().Add(warmUp), false
	for {
		for len(b.idle) > 0 && b.sent*b.Subscribers-b.bytes/b.message < b.Publishers*b.Subscribers {
			if err := rawWrite(b.idle[0], b.publish); err != nil {
				return 0, err
			}
			b.idle, b.sent = b.idle[1:], b.sent+1
		}
		if err := b.receive(); err != nil {
			return 0, err
		}
		now := time.Now()
		switch {
		case !counting && now.After(from):
			counting, from = true, now
			b.sent -= b.bytes / b.message / b.Subscribers
			b.bytes %= b.message * b.Subscribers
		case counting && now.Sub(from) >= b.Span:
			return float64(b.bytes/b.message) / now.Sub(from).Seconds(), nil
		}
	}
}

func (b *broadcast) receive() error {
	events, err := b.poll.wait()
	if err != nil {
		return err
	}
	for i := range events {
		number := int(events[i].Fd)
		n, err := rawRead(b.fds[number], b.buf)
		switch {
		case err != nil:
			return err
		case number < b.Subscribers:
			b.bytes += n
		case string(b.buf[:n]) != b.reply:
			return fmt.Errorf("%q instead of %q", head(b.buf[:n]), b.reply)
		default:
			b.idle = append(b.idle, b.fds[number])
		}
	}
	return nil
}
