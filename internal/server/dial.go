package server

import (
	"context"
	"net"
)

// Dial returns the client's end of a new connection that needs no socket. The
// server serves the other end like an accepted connection. After Drain or Close the
// error is ErrClosed.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.drained != nil {
		return nil, ErrClosed
	}
	client, server := newPipe(s.pipes.Add(1))
	s.arriving++
	s.done.Add(1)
	go s.arrive(server) // Dial must not wait for a script that keeps the engine busy
	return client, nil
}

// arrive accepts the server's end of a connection that Dial has returned.
func (s *Server) arrive(nc net.Conn) {
	defer s.done.Done()
	s.accept(nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arriving--
	s.checkDrained()
}
