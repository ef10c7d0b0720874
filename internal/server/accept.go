package server

import (
	"net"
	"strings"
	"time"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/engine"
)

// The errors that refused connections get before they are closed.
const (
	textMaxClients = "-ERR max number of clients reached\r\n"
	textProtected  = "-DENIED Redis is running in protected mode because protected mode is enabled " +
		"and no password is set for the default user. In this mode connections are only accepted " +
		"from the loopback interface. Set a password (requirepass), bind to loopback only, " +
		"or turn protected-mode off to connect from other hosts.\r\n"
)

// accept starts a new connection, or refuses it with an error. A TLS connection
// comes here twice: before and after its handshake.
func (s *Server) accept(nc net.Conn) {
	if t, ok := nc.(*tlsConn); ok && !t.ConnectionState().HandshakeComplete {
		s.startHandshake(t)
		return
	}
	s.keepAlive(nc)
	c := newConn(s, nc)
	local := c.session.Local() || network(nc.LocalAddr()) == "pipe"
	refusal, down := "", false
	s.engine.Do(&engine.Caller{}, func() {
		down = s.engine.Down()
		switch {
		case down:
		case s.engine.Connections()+s.handshakes.count() >= s.cfg.MaxClients:
			refusal = textMaxClients
			s.engine.Env().Stats.Rejected++
		case s.cfg.ProtectedMode && s.engine.Env().Users.Default().NoPassword() && !local:
			refusal = textProtected
			s.engine.Env().Stats.Rejected++
		default:
			s.engine.Join(&c.session)
		}
	})
	if refusal != "" || down {
		c.link.refuse(refusal)
		c.release()
		return
	}
	s.mu.Lock()
	draining := s.drained != nil
	if s.closing || draining && s.hasDrained() {
		s.mu.Unlock()
		c.leave()
		c.link.refuse("")
		c.release()
		return
	}
	s.conns[c] = struct{}{}
	s.done.Add(1)
	s.mu.Unlock()
	c.link.start()
	if draining {
		c.Wake()
	}
}

// keepAlive sets a TCP connection's keep-alive as the directive tcp-keepalive says.
func (s *Server) keepAlive(nc net.Conn) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	if period := s.cfg.TCPKeepAlive.Load(); period > 0 {
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable:   true,
			Idle:     time.Duration(period) * time.Second,
			Interval: time.Duration(max(period/3, 1)) * time.Second,
			Count:    3,
		})
	} else {
		tcp.SetKeepAlive(false)
	}
}

// describeAddr fills in how a session is connected: its addresses, as CLIENT LIST shows
// them, and whether it uses the Unix socket or TLS.
func describeAddr(session *command.Session, nc net.Conn) {
	_, session.TLS = nc.(*tlsConn)
	session.Addr, session.LAddr = address(nc.RemoteAddr()), address(nc.LocalAddr())
	if network(nc.LocalAddr()) == "unix" {
		session.Unix = true
		session.LAddr += ":0"
		session.Addr = session.LAddr
		return
	}
	// Redis shows IPv6 addresses in brackets and without the zone. Go shows the zone.
	zone, end := strings.IndexByte(session.Addr, '%'), strings.IndexByte(session.Addr, ']')
	if zone >= 0 && end > zone {
		session.Addr = session.Addr[:zone] + session.Addr[end:]
	}
}

// address returns the text of an address. A connection of the program's own listener
// may have none. It counts as another machine's, and has Redis's text for that.
func address(a net.Addr) string {
	if a == nil {
		return "?:0"
	}
	return a.String()
}

// network returns the network of an address, "" when there is no address.
func network(a net.Addr) string {
	if a == nil {
		return ""
	}
	return a.Network()
}
