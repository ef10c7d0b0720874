package server

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/internal/engine"
)

// handshakeTime is how long a TLS handshake may take, unless the timeout directive is
// shorter. Redis waits without limit.
const handshakeTime = time.Minute

// ListenTLS returns a listener that accepts from ln and adds TLS. It calls current for
// each connection's configuration. Closing it closes ln.
func ListenTLS(ln net.Listener, current func() *tls.Config) net.Listener {
	return &tlsListener{Listener: ln, current: current}
}

type tlsListener struct {
	net.Listener
	current func() *tls.Config
}

// Accept does not wait for the handshake.
func (l *tlsListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	s := &tlsSocket{Conn: nc, now: newNowWriter(nc)}
	return &tlsConn{Conn: tls.Server(s, l.current()), socket: s}, nil
}

// tlsConn is a connection with TLS. Its Close does not block.
type tlsConn struct {
	*tls.Conn
	socket *tlsSocket
}

// Close sends the TLS close notification, if the socket takes it without blocking, and
// closes the socket. It is also called inside the engine, so it must not wait for the
// client.
func (c *tlsConn) Close() error {
	c.socket.closing.Store(true)
	return c.Conn.Close()
}

// tlsSocket is the socket of a tlsConn.
type tlsSocket struct {
	net.Conn
	now     *nowWriter
	closing atomic.Bool // Write must not block any more; Close may run beside Write
}

// Write writes ciphertext. During Close it does not block.
func (s *tlsSocket) Write(b []byte) (int, error) {
	if s.closing.Load() {
		return s.now.Write(b)
	}
	return s.Conn.Write(b)
}

// handshakes are the connections in their TLS handshake. They have no session yet, but
// count as clients for maxclients.
type handshakes struct {
	mu     sync.Mutex // guards the fields below
	open   map[*tlsConn]struct{}
	closed bool
}

// add reports false after end: no handshake may begin.
func (h *handshakes) add(c *tlsConn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if h.open == nil {
		h.open = map[*tlsConn]struct{}{}
	}
	h.open[c] = struct{}{}
	return true
}

func (h *handshakes) remove(c *tlsConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, c)
}

func (h *handshakes) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

// end closes these connections. No other handshake begins.
func (h *handshakes) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.open {
		c.Close()
	}
}

// startHandshake starts a goroutine that makes the handshake and then accepts the
// connection. Above maxclients it closes the connection without a reply, because the
// client cannot read one before the handshake.
func (s *Server) startHandshake(c *tlsConn) {
	full := false
	s.engine.Do(&engine.Caller{}, func() {
		if full = s.engine.Connections()+s.handshakes.count() >= s.cfg.MaxClients; full {
			s.engine.Env().Stats.Rejected++
		}
	})
	if full || !s.handshakes.add(c) {
		c.Close()
		return
	}
	s.keepAlive(c.socket.Conn)
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		err := s.handshake(c)
		s.handshakes.remove(c)
		if err != nil {
			s.log.Debug("a TLS handshake failed", "client", c.RemoteAddr(), "error", err)
			c.Close()
			return
		}
		s.accept(c)
	}()
}

// handshake makes the handshake within its time limit.
func (s *Server) handshake(c *tlsConn) error {
	limit := handshakeTime
	if seconds := s.cfg.Timeout.Load(); seconds > 0 {
		limit = min(limit, time.Duration(seconds)*time.Second)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return c.HandshakeContext(ctx)
}
