package lockredis

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/lockredis/lockredis/internal/server"
)

// state is where a server is in its life. It only grows:
//
//	fresh → starting → started → stopping → closed
//
// Start and the first Serve lead to starting and started, Shutdown to stopping, Close and a
// failed Start from any state to closed.
type state int

const (
	fresh    state = iota
	starting       // the RDB file is read
	started        // clients may connect
	stopping       // Shutdown waits for clients
	closed         // Close was called
)

// ErrServerClosed is what Start, Serve, Dial and Listen return after Shutdown, Close, or a client's
// SHUTDOWN.
var ErrServerClosed = errors.New("lockredis: server closed")

// errNotStarted is what Dial and Listen return before Start or Serve.
var errNotStarted = errors.New("lockredis: server is not started")

// errStarted is what a second Start returns.
var errStarted = errors.New("server was started before")

// running returns nil while clients may connect. s.mu is held.
func (s *Server) running() error {
	switch s.state {
	case fresh, starting:
		return errNotStarted
	case started:
		return nil
	}
	return ErrServerClosed
}

// Start listens on the addresses of the Config and returns when clients can connect. If it
// fails, nothing is left open, and the server is closed. A server starts once: a second Start
// returns an error and changes nothing. Close and Shutdown end a Start that reads a large RDB
// file: it returns ErrServerClosed.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case fresh:
	case starting, started:
		return errStarted
	default:
		return ErrServerClosed
	}
	listeners, err := s.listen()
	if err = errors.Join(s.err, err); err == nil {
		defer close(s.loaded)
		err = s.load()
	}
	if err != nil {
		for _, ln := range listeners {
			ln.Close()
		}
		s.abort()
		return err
	}
	s.begin(listeners...)
	for _, ln := range listeners {
		s.accept(ln)
	}
	return nil
}

// load reads the RDB file, if the server has one. Clients that connect meanwhile wait. s.mu is
// held, but not while the file is read. The caller then closes s.loaded.
func (s *Server) load() (err error) {
	s.state = starting
	if s.mon != nil {
		return nil
	}
	s.mu.Unlock()
	err = s.core.Engine().LoadFile()
	s.mu.Lock()
	if s.state != starting {
		return ErrServerClosed
	}
	return err
}

// begin starts the engine, and the Sentinel if the node is one. s.mu is held.
func (s *Server) begin(listeners ...net.Listener) {
	for _, ln := range listeners { // all of them, before the first client comes
		s.core.Announce(ln)
	}
	s.core.Start()
	if s.mon != nil {
		s.mon.Start(s.core.Engine(), s.announcedPort(listeners))
	}
	s.state = started
}

// abort closes a server that never started, unless Close did. s.mu is held.
func (s *Server) abort() {
	if s.state == closed {
		return
	}
	s.state = closed
	s.closeCore()
	close(s.done)
}

// accept serves a listener in a goroutine of its own. s.mu is held.
func (s *Server) accept(ln net.Listener) {
	s.track(ln)
	go s.serve(ln)
}

// track adds a listener to the listeners that Close waits for. s.mu is held.
func (s *Server) track(ln net.Listener) {
	s.core.Announce(ln)
	s.addrs = append(s.addrs, addrOf(ln))
	s.serving.Add(1)
}

// addrOf returns the listener's address, "" when a listener of the program's own has none.
func addrOf(ln net.Listener) string {
	if addr := ln.Addr(); addr != nil {
		return addr.String()
	}
	return ""
}

// serve accepts connections from a listener that track has added.
func (s *Server) serve(ln net.Listener) error {
	defer s.serving.Done()
	err := s.core.Serve(ln)
	if errors.Is(err, server.ErrClosed) {
		return ErrServerClosed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.addrs, addrOf(ln)); i >= 0 {
		s.addrs = slices.Delete(s.addrs, i, i+1)
	}
	return err
}

// Serve accepts connections from ln until Shutdown or Close, and closes ln. It always
// returns an error: ErrServerClosed after Shutdown and Close, otherwise the error of ln or
// of the Config.
//
// A server that was not started needs no Start: Serve starts it without listening on the
// addresses of the Config. Several goroutines may call Serve, each with another listener.
// When Config.TLS is given, the server speaks TLS on ln's connections.
//
// After an error of ln the server runs on: Dial and other listeners still work, and Close is
// still needed. ln's Accept must return when ln is closed.
//
// When Shutdown is called, Serve returns at once. The program must not end before Shutdown
// has returned.
func (s *Server) Serve(ln net.Listener) error {
	tracked, err := s.beginServe(ln)
	if err != nil {
		ln.Close()
		return err
	}
	return s.serve(tracked)
}

// beginServe starts the server, if it is not started, and tracks ln. It returns the listener
// to accept from.
func (s *Server) beginServe(ln net.Listener) (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.state == starting { // in another goroutine
		s.mu.Unlock()
		<-s.loaded
		s.mu.Lock()
	}
	if s.state == fresh {
		defer close(s.loaded)
		err := s.err
		if err == nil {
			err = s.load()
		}
		if err != nil {
			s.abort()
			return nil, err
		}
		s.begin(ln)
	}
	if err := s.running(); err != nil {
		return nil, err
	}
	if s.cfg.TLS != nil {
		ln = s.secure(ln)
	}
	s.track(ln)
	return ln, nil
}

// Shutdown closes the server gracefully. It stops listening at once and closes each
// connection as soon as it is idle. Then it closes the server, as Close does, and returns
// nil. If ctx ends first, Shutdown closes the server with its open connections and returns
// ctx's error.
//
// A connection is idle when every command that its client has sent has run and its reply is
// written. A client that waits in a blocking command, or for the end of CLIENT PAUSE, is not
// idle. A subscription or an open MULTI does not keep a connection open. A client that does
// not read its last replies is closed after ten seconds. A socket that the server has not
// accepted yet is no connection: its client gets an error of the network.
//
// Shutdown of a server that was not started closes it. On a closed server, Shutdown waits
// until Close has finished and returns nil. Several goroutines may call Shutdown and Close.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	if s.state == started {
		s.state = stopping
	}
	drain := s.state == stopping
	s.mu.Unlock()
	var err error
	if drain {
		err = s.core.Drain(ctx)
	}
	s.Close()
	return err
}

// Close closes all listeners and connections and ends all goroutines of the server. It saves
// nothing: data that was not saved before is gone. Close may be called more than once. It always
// returns nil.
func (s *Server) Close() error {
	s.mu.Lock()
	was := s.state
	s.state = closed
	s.mu.Unlock()
	if was == closed {
		<-s.done
		return nil
	}
	s.closeCore()
	if was == starting {
		<-s.loaded // Start has closed its listeners
	}
	s.serving.Wait()
	s.removeFiles()
	close(s.done)
	return nil
}

// Done returns a channel that is closed when the server has ended, through Shutdown, Close
// or a client's SHUTDOWN.
func (s *Server) Done() <-chan struct{} { return s.done }
