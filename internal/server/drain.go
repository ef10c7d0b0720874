package server

import "context"

// Drain closes the listeners and then each connection as soon as it is idle. It returns nil
// when all connections have ended, or else ctx's error when ctx ends. Close still has to be
// called. Several goroutines may call Drain.
//
// A connection that Dial has returned, or that Serve has accepted, is served even if it did
// not come further before Drain was called. What the listeners have not accepted is lost.
//
// A connection is idle when all commands that its client sent have run and it waits neither
// in a blocking command nor for the end of CLIENT PAUSE. A subscription or an open MULTI
// does not make it busy. The output queue of an idle connection is written before the
// connection is closed.
func (s *Server) Drain(ctx context.Context) error {
	select {
	case <-s.drain():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drain starts the draining, once. It returns the channel that is closed when no
// connection is left.
func (s *Server) drain() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drained != nil {
		return s.drained
	}
	s.drained = make(chan struct{})
	s.draining.Store(true)
	s.endSleep()
	for _, ln := range s.listeners {
		ln.Close()
	}
	s.listeners = nil
	s.handshakes.end()
	for c := range s.conns {
		c.Wake() // interrupts the read of an idle connection
	}
	s.checkDrained()
	return s.drained
}

// checkDrained closes drained when no connection is left. s.mu is held.
func (s *Server) checkDrained() {
	if s.drained == nil || len(s.conns)+s.arriving > 0 || s.hasDrained() {
		return
	}
	close(s.drained)
}

// hasDrained reports whether drained is closed.
func (s *Server) hasDrained() bool {
	select {
	case <-s.drained:
		return true
	default:
		return false
	}
}
