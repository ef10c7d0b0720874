package lockredistest

import (
	"fmt"
	"net"
	"syscall"

	"github.com/lockredis/lockredis"
)

// Stop stops serving, as if the server's process had been killed. All connections are closed,
// and new ones are refused, until Restart or RestartEmpty. The test's own methods still work,
// and leases still end. Requests that a fault holds up are lost. A second call does nothing.
//
// The replicas of a primary of the option Replicas have got what was written before, except what Lag
// holds back from them.
func (s *Server) Stop() {
	s.stayPut()
	s.settleReplicas()
	s.mu.Lock()
	s.stopped = true
	ln, served := s.ln, s.served
	s.ln = nil
	s.mu.Unlock()
	if ln != nil {
		ln.Close()
		<-served
	}
	door(s).Stop()
}

// Restart stops the server, unless Stop was called, and serves again. Clients lose their
// connections, and the script cache is empty: EVALSHA answers NOSCRIPT. All keys
// and libraries of functions are kept. Addr is the same, and Dial works again. So do clients
// that connect again by themselves. The time between Stop and Restart counts for leases.
//
// Restart waits until no script runs. Faults stay in effect. The error says that Addr's port
// could not be opened again; in memory the server then works nevertheless. After Close, or
// after SHUTDOWN, the error is lockredis.ErrServerClosed.
func (s *Server) Restart() error { return s.restart(true) }

// RestartEmpty is Restart of a server without persistence: all keys and libraries are gone.
func (s *Server) RestartEmpty() error { return s.restart(false) }

func (s *Server) restart(keep bool) error {
	s.stayPut()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed || door(s).Running() != nil { // after Close, or a client's SHUTDOWN
		return fmt.Errorf("lockredistest: restart: %w", lockredis.ErrServerClosed)
	}
	s.Stop()
	door(s).Serve(keep)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = false
	if s.addr == "" {
		return nil
	}
	if err := s.listen(s.addr); err != nil {
		return fmt.Errorf("lockredistest: restart on %s: %w", s.addr, err)
	}
	return nil
}

// listen opens a port and serves it. s.mu is held, or s is not shared yet.
func (s *Server) listen(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.ln, s.served, s.addr = ln, make(chan struct{}), ln.Addr().String()
	go func(served chan struct{}) {
		defer close(served)
		s.srv.Serve(ln)
	}(s.served)
	return nil
}

// refused returns the error of a connection to a stopped server, nil if it is not stopped.
func (s *Server) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		return nil
	}
	return &net.OpError{Op: "dial", Net: "pipe", Err: syscall.ECONNREFUSED}
}
