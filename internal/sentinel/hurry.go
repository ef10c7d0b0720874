package sentinel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// A Sentinel hurries while a caller of this process waits for it: its timer ticks each hurriedTick, and
// it asks for INFO as soon as the last reply is there. What it decides, and the order of its events, stay
// the same.
const hurriedTick = time.Millisecond

// hurriedReconnect is how often a Sentinel that hurries opens connections that have ended, in ms.
const hurriedReconnect = 5

// hurriedEnd is how long a failover that a caller of this process has asked for waits for replicas that
// do not follow the promoted one, in ms: there may be no connection to them.
const hurriedEnd = 1000

// hurry makes the Sentinel hurry until end is called. Both are called inside the engine.
func (s *Sentinel) hurry() (end func()) {
	s.hurried++
	select {
	case s.woken <- struct{}{}:
	default:
	}
	return func() { s.hurried-- }
}

// meeting is what a caller of this process waits for.
type meeting struct {
	is   func() bool // it is called inside the engine
	done chan struct{}
}

// await waits until is returns true in a tick, and hurries meanwhile. It returns ctx's error if that
// takes too long.
func (s *Sentinel) await(ctx context.Context, is func() bool) error {
	m := &meeting{is, make(chan struct{})}
	var end func()
	s.engine.Outside(func() {
		end = s.hurry()
		s.met = append(s.met, m)
		s.announceMeetings()
	})
	defer s.engine.Outside(func() {
		end()
		s.met = slices.DeleteFunc(s.met, func(other *meeting) bool { return other == m })
	})
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announceMeetings ends the waits whose condition is true by now.
func (s *Sentinel) announceMeetings() {
	left := s.met[:0]
	for _, m := range s.met {
		if m.is() {
			close(m.done)
		} else {
			left = append(left, m)
		}
	}
	clear(s.met[len(left):])
	s.met = left
}

// AwaitPeers waits until the primary has answered INFO, and this Sentinel knows a number of other
// Sentinels and of replicas whose links work. It returns ctx's error if that takes too long.
func (s *Sentinel) AwaitPeers(ctx context.Context, master string, peers, replicas int) error {
	return s.await(ctx, func() bool {
		m := s.find(master)
		if m == nil || m.infoAt == 0 || len(m.peers) < peers {
			return false
		}
		linked := 0
		for _, r := range m.replicas {
			if r.linkUp {
				linked++
			}
		}
		return linked >= replicas
	})
}

// Addr returns the address of a primary, "host:port", as clients are told it; "" if there is none of
// that name.
func (s *Sentinel) Addr(master string) (addr string) {
	s.engine.Outside(func() {
		if m := s.find(master); m != nil {
			addr = s.addrOf(m)
		}
	})
	return addr
}

func (s *Sentinel) addrOf(m *master) string {
	to := m.currentAddr()
	return net.JoinHostPort(s.shown(to), strconv.Itoa(to.port))
}

// AwaitAddr waits until a primary has an address, "host:port", and its failover is over.
func (s *Sentinel) AwaitAddr(ctx context.Context, master, addr string) error {
	return s.await(ctx, func() bool {
		m := s.find(master)
		return m != nil && !m.has(failoverInProgress) && s.addrOf(m) == addr
	})
}

// Failover promotes the replica at an address, "host:port", as SENTINEL FAILOVER promotes the best one:
// without votes of other Sentinels. It returns when the failover has ended, or ctx.
func (s *Sentinel) Failover(ctx context.Context, master, addr string) error {
	host, digits, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	port, _ := strconv.Atoi(digits)
	known := func() *replica {
		if m := s.find(master); m != nil {
			return m.replicaAt(host, port)
		}
		return nil
	}
	err = s.await(ctx, func() bool { // after an earlier failover it has to connect again
		r := known()
		return r != nil && !r.link.disconnected && r.infoAt != 0
	})
	if err != nil {
		return fmt.Errorf("the Sentinel has no connection to the replica %s: %w", addr, err)
	}
	s.engine.Outside(func() {
		r := known()
		switch {
		case r == nil:
			err = errors.New("the replica " + addr + " is gone")
		case r.master.has(failoverInProgress):
			err = errors.New("a failover is in progress")
		default:
			s.startFailover(r.master)
			r.master.set(forced)
			r.master.failover.wanted = r
		}
	})
	if err != nil {
		return err
	}
	return s.AwaitAddr(ctx, master, addr)
}
