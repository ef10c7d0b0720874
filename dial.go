package lockredis

import (
	"context"
	"errors"
	"net"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/server"
)

// errNotRunning is what Dial and Listen return before Start and after Close.
var errNotRunning = errors.New("server is not running")

// Dial returns the client's end of a new connection to a started server: a
// buffered pipe inside the process, with deadlines, that needs no socket. The
// connection belongs to the caller. The error is ctx's, or says that the server
// is not running.
//
// In a testing/synctest bubble the server must have been started inside it;
// then whoever waits for the pipe is durably blocked.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != started {
		return nil, errNotRunning
	}
	nc, err := s.core.Dial(ctx)
	if errors.Is(err, server.ErrClosed) {
		err = errNotRunning
	}
	return nc, err
}

// Listen has a started server accept connections on one more TCP address,
// "host:port", of which Config.Addr says what may be left out. It returns the
// address with its port. It speaks TLS when Config.TLS is given.
func (s *Server) Listen(addr string) (net.Addr, error) {
	set := config.New()
	if err := listenOn(set, addr, false); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != started {
		return nil, errNotRunning
	}
	ln, err := listenTCP(set.Bind[0], set.Port)
	if err != nil {
		return nil, err
	}
	if s.cfg.TLS != nil {
		ln = s.secure(ln)
	}
	s.serve(ln)
	return ln.Addr(), nil
}
