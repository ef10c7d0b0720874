package server

import (
	"context"
	"errors"
	"net"

	"github.com/lockredis/lockredis/internal/bubble"
)

// errBubble is the error of Dial, of a client's write, and of a read that would wait, on the
// other side of a synctest bubble's border. The runtime would end the process.
var errBubble = errors.New("lockredis: the connection or its server was made on the other side of " +
	"a synctest bubble's border: start the server and connect inside the bubble")

// Dial returns the client's end of a new connection that needs no socket. The
// server serves the other end like an accepted connection. After Drain or Close the
// error is ErrClosed. It is errBubble if the caller is in a synctest bubble and the server is
// not, or the other way round.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.drained != nil {
		return nil, ErrClosed
	}
	if bubble.Inside() != s.bubbled {
		return nil, errBubble
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
