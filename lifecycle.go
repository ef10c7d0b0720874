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
	starting       // clients may connect; the RDB file is read
	started
	stopping // Shutdown waits for clients
	closed   // Close was called
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
	case fresh:
		return errNotStarted
	case starting, started:
		return nil
	}
	return ErrServerClosed
}

func (s *Server) isRunning() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running()
}

// Start listens on the addresses of the Config and returns when the data is loaded. While it reads
// an RDB file, clients connect and get -LOADING. If it fails, nothing is left open, and the server is
// closed. A server starts once: a second Start returns an error and changes nothing. Close, Shutdown
// and a client's SHUTDOWN end a Start that reads a large file: it returns ErrServerClosed.
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
	if err = errors.Join(s.err, err); err != nil {
		for _, ln := range listeners {
			ln.Close()
		}
		s.abort()
		return err
	}
	s.begin(listeners...)
	if listening := s.set.Listening; listening != nil {
		listening()
	}
	return s.load(func() {
		for _, ln := range listeners {
			s.accept(ln)
		}
	})
}

// begin starts the engine, and the Sentinel if the node is one. s.mu is held.
func (s *Server) begin(listeners ...net.Listener) {
	n := within(s)
	for _, ln := range listeners { // all of them, before the first client comes
		n.core.Announce(ln)
	}
	n.core.Start()
	if n.mon != nil {
		n.mon.Start(n.core.Engine(), s.announcedPort(listeners))
	}
	s.state = starting
}

// load calls accept, which accepts connections, and reads the RDB file, if the server has one. The replica
// of a cluster is linked with its primary then. After an error the server is closed. s.mu is held, but not
// while the file is read or the link is awaited.
func (s *Server) load(accept func()) (err error) {
	n := within(s)
	if n.mon != nil {
		accept()
		s.state = started
		return nil
	}
	err = n.core.Engine().Files().Open(func() {
		accept()
		s.mu.Unlock()
	})
	s.mu.Lock()
	switch {
	case s.state != starting:
		return ErrServerClosed
	case err != nil:
		s.abort()
		return err
	}
	s.state = started
	return s.awaitLink(n.core.Engine().BeginReplication())
}

// abort closes a server that could not start, unless Close did. s.mu is held, but not while the
// clients of the server leave.
func (s *Server) abort() {
	if s.state == closed {
		return
	}
	s.state = closed
	s.mu.Unlock()
	defer s.mu.Lock()
	s.end()
}

// accept serves a listener in a goroutine of its own. s.mu is held.
func (s *Server) accept(ln net.Listener) {
	s.track(ln)
	go s.serve(ln)
}

// track adds a listener to the listeners that Close waits for. s.mu is held.
func (s *Server) track(ln net.Listener) {
	within(s).core.Announce(ln)
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
	err := within(s).core.Serve(ln)
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
	serve, err := s.beginServe(ln)
	if err != nil {
		ln.Close()
		return err
	}
	return serve()
}

// beginServe starts the server, if it is not started, and tracks ln. serve accepts connections
// from ln.
func (s *Server) beginServe(ln net.Listener) (serve func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == fresh {
		if s.err != nil {
			s.abort()
			return nil, s.err
		}
		s.begin(ln)
		served := make(chan error, 1)
		err := s.load(func() {
			secured := s.secureOwn(ln)
			s.track(secured)
			go func() { served <- s.serve(secured) }()
		})
		return func() error { return <-served }, err
	}
	if err := s.running(); err != nil {
		return nil, err
	}
	ln = s.secureOwn(ln)
	s.track(ln)
	return func() error { return s.serve(ln) }, nil
}

// secureOwn returns ln with TLS on its connections if Config.TLS is given. s.mu is held.
func (s *Server) secureOwn(ln net.Listener) net.Listener {
	if s.cfg.TLS != nil {
		ln = s.secure(ln)
	}
	return ln
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
		err = within(s).core.Drain(ctx)
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
	s.end()
	return nil
}

// end ends what a closed server runs.
func (s *Server) end() {
	close(s.closing)
	s.closeCore()
	s.serving.Wait()
	s.removeFiles()
	close(s.done)
}

// Done returns a channel that is closed when the server has ended, through Shutdown, Close
// or a client's SHUTDOWN.
func (s *Server) Done() <-chan struct{} { return s.done }
