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

// handshakeTime is how long a client may take for the TLS handshake when the
// timeout directive does not say less. Redis waits for ever.
const handshakeTime = time.Minute

// ListenTLS returns ln with TLS on the connections that it accepts, each with
// what current returns at that moment. Closing it closes ln.
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
	w := &wire{Conn: nc, now: newNowWriter(nc)}
	return &tlsConn{Conn: tls.Server(w, l.current()), wire: w}, nil
}

// tlsConn is a connection with TLS, whose Close never waits.
type tlsConn struct {
	*tls.Conn
	wire *wire
}

// Close says that the stream has ended, if the socket takes that, and closes
// it. It is called inside the engine too, so it must not wait for a reader.
func (c *tlsConn) Close() error {
	c.wire.closing.Store(true)
	return c.Conn.Close()
}

// wire is the socket below a tlsConn.
type wire struct {
	net.Conn
	now     *nowWriter
	closing atomic.Bool // nothing may wait any more
}

// Write writes ciphertext.
func (w *wire) Write(b []byte) (int, error) {
	if w.closing.Load() {
		return w.now.Write(b)
	}
	return w.Conn.Write(b)
}

// handshakes are the connections whose TLS handshake is under way. They are no
// clients yet, but count as such for maxclients.
type handshakes struct {
	mu     sync.Mutex // guards the fields below
	open   map[*tlsConn]struct{}
	closed bool
}

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

// end closes them all and lets none begin.
func (h *handshakes) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.open {
		c.Close()
	}
}

// greet has the handshake made by a goroutine of its own, which then lets the
// client in. One that would be too many is told nothing: it could not read it.
func (s *Server) greet(c *tlsConn) {
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
	s.keepAlive(c.wire.Conn)
	s.done.Add(1)
	go func() {
		defer s.done.Done()
		err := s.shakeHands(c)
		s.handshakes.remove(c)
		if err != nil {
			s.log.Debug("a TLS handshake failed", "client", c.RemoteAddr(), "error", err)
			c.Close()
			return
		}
		s.accept(c)
	}()
}

func (s *Server) shakeHands(c *tlsConn) error {
	limit := handshakeTime
	if seconds := s.cfg.Timeout.Load(); seconds > 0 {
		limit = min(limit, time.Duration(seconds)*time.Second)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return c.HandshakeContext(ctx)
}
