//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/lockredis/lockredis/compat_test/wire"
)

// expiredSpec tells a subscriber to measure how late the expired events of Leases keys
// arrive. A key's name is leasePrefix, its deadline in ms (13 digits), a colon and a
// number.
type expiredSpec struct {
	Addr   string
	Leases int
}

// expiredResult is the lateness of the events, in µs.
type expiredResult struct{ P50, P99, Max float64 }

const (
	leasePrefix  = "lease:"
	expiredEvent = "__keyevent@0__:expired"
	digits       = 13
)

func expiredRole(p *parent) error {
	becomeSingle()
	var s expiredSpec
	if err := p.in.Decode(&s); err != nil {
		return err
	}
	poll, err := newPoller() // its wait has a timeout
	if err != nil {
		return err
	}
	fd, err := poll.dial(s.Addr, 0)
	if err != nil {
		return err
	}
	buf := make([]byte, 256<<10)
	if err := rawWrite(fd, wire.AppendCommand(nil, "SUBSCRIBE", expiredEvent)); err != nil {
		return err
	}
	if _, err := rawRead(fd, buf); err != nil {
		return err
	}
	if err := p.ready(); err != nil {
		return err
	}
	late := make([]time.Duration, 0, s.Leases)
	for held := 0; len(late) < s.Leases; {
		if _, err := poll.wait(); err != nil {
			return fmt.Errorf("after %d of %d events: %w", len(late), s.Leases, err)
		}
		n, err := rawRead(fd, buf[held:])
		if err != nil {
			return err
		}
		var rest []byte
		if late, rest, err = appendLateness(late, buf[:held+n], time.Now()); err != nil {
			return err
		}
		held = copy(buf, rest)
	}
	return p.answer(expiredResult{percentile(late, 0.5), percentile(late, 0.99), percentile(late, 1)})
}

// appendLateness appends the lateness of each key whose name is in b. It returns the
// bytes after the last name.
func appendLateness(late []time.Duration, b []byte, now time.Time) ([]time.Duration, []byte,
	error) {
	for {
		i := bytes.Index(b, []byte(leasePrefix))
		if i < 0 {
			return late, b[max(0, len(b)-len(leasePrefix)+1):], nil
		}
		if len(b) < i+len(leasePrefix)+digits {
			return late, b[i:], nil
		}
		b = b[i+len(leasePrefix):]
		ms, err := strconv.ParseInt(string(b[:digits]), 10, 64)
		if err != nil {
			return nil, nil, err
		}
		late, b = append(late, now.Sub(time.UnixMilli(ms))), b[digits:]
	}
}
