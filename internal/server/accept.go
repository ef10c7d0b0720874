package server

import (
	"net"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
)

// What a connection that is not let in is told before it is closed.
const (
	textMaxClients = "-ERR max number of clients reached\r\n"
	textProtected  = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. " +
		"In this mode connections are only accepted from the loopback interface. Set a password (requirepass), bind to loopback only, " +
		"or turn protected-mode off to connect from other hosts.\r\n"
)

// accept lets a connection in, or tells it why not.
func (s *Server) accept(nc net.Conn) {
	if t, ok := nc.(*tlsConn); ok && !t.ConnectionState().HandshakeComplete {
		s.greet(t)
		return
	}
	s.keepAlive(nc)
	c := newConn(s, nc)
	local := c.session.Local() || nc.LocalAddr().Network() == "pipe"
	refusal := ""
	s.engine.Do(&engine.Caller{}, func() {
		switch {
		case s.engine.Connections()+s.handshakes.count() >= s.cfg.MaxClients:
			refusal = textMaxClients
			s.engine.Env().Stats.Rejected++
		case s.cfg.ProtectedMode && s.cfg.RequirePass == "" && !local:
			refusal = textProtected
			s.engine.Env().Stats.Rejected++
		default:
			s.engine.Join(&c.session)
		}
	})
	if refusal != "" {
		c.link.refuse(refusal)
		return
	}
	s.mu.Lock()
	if s.closing || s.drained != nil {
		s.mu.Unlock()
		c.leave()
		c.link.refuse("")
		return
	}
	s.conns[c] = struct{}{}
	s.done.Add(1)
	s.mu.Unlock()
	c.link.start()
}

func (s *Server) keepAlive(nc net.Conn) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	if period := s.cfg.TCPKeepAlive.Load(); period > 0 {
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: time.Duration(period) * time.Second,
			Interval: time.Duration(max(period/3, 1)) * time.Second, Count: 3})
	} else {
		tcp.SetKeepAlive(false)
	}
}

// describeAddr fills in a session's addresses as CLIENT LIST shows them.
func describeAddr(session *command.Session, nc net.Conn) {
	session.Addr, session.LAddr = nc.RemoteAddr().String(), nc.LocalAddr().String()
	if nc.LocalAddr().Network() == "unix" {
		session.Unix = true
		session.LAddr = nc.LocalAddr().String() + ":0"
		session.Addr = session.LAddr
		return
	}
	// Redis shows IPv6 addresses in brackets and without zones, as Go does but
	// for the zone.
	if i, j := strings.IndexByte(session.Addr, '%'), strings.IndexByte(session.Addr, ']'); i >= 0 && j > i {
		session.Addr = session.Addr[:i] + session.Addr[j:]
	}
}
