package lockredis

import (
	"context"
	"errors"
	"net"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/server"
)

// Dial returns the client's end of a new connection to a started server. The connection is a
// buffered pipe inside the process, with deadlines, and needs no socket. The caller closes
// it. The error is ctx's, ErrServerClosed, or says that the server is not started.
//
// In a testing/synctest bubble the server must have been started inside the bubble. Then a
// goroutine that waits for the pipe is durably blocked. Otherwise Dial returns an error.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.running(); err != nil {
		return nil, err
	}
	nc, err := within(s).core.Dial(ctx)
	if errors.Is(err, server.ErrClosed) {
		err = ErrServerClosed
	}
	return nc, err
}

// dialer connects a server to another one: a replica to its primary, MIGRATE to its target, a Sentinel
// to a primary or another Sentinel.
type dialer = func(ctx context.Context, addr string) (net.Conn, error)

// dialer returns how the server connects to others. Nil means TCP.
func (c *Config) dialer() dialer {
	if c.Dial == nil {
		return c.member.dialer()
	}
	return func(ctx context.Context, addr string) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) }
}

// Listen makes a started server listen on one more TCP address, in the form of Config.Addr.
// It returns the address with its port. When Config.TLS is given, the server speaks TLS
// there.
func (s *Server) Listen(addr string) (string, error) {
	set := config.New()
	if err := listenOn(set, addr, false); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.running(); err != nil {
		return "", err
	}
	ln, err := listenTCP(set.Bind[0], set.Port)
	if err != nil {
		return "", err
	}
	ln = s.secureOwn(ln)
	s.accept(ln)
	return ln.Addr().String(), nil
}
