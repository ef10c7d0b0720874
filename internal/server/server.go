package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/bubble"
	"github.com/lockredis/lockredis/internal/cluster"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/engine"
)

// Options are the settings and dependencies of a server.
type Options struct {
	Config *config.Config
	Clock  expiry.Clock
	Log    *slog.Logger
	Table  *command.Table // nil: the table of a server
	Bus    *cluster.Bus   // of the nodes of a cluster; nil: there are no other nodes
	// Dial connects MIGRATE, and a replica, to a server at an address, "host:port". Nil means TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// DialTLS returns what connects a replica with the TLS of the present directives.
	DialTLS func() (dial func(ctx context.Context, addr string) (net.Conn, error), err error)
	// OnShutdown is called in a goroutine of its own when a client sends SHUTDOWN, once.
	// It must call Close. It may be nil.
	OnShutdown func()
}

// Server is a running server: one engine and its connections.
type Server struct {
	cfg     *config.Config
	log     *slog.Logger
	clock   expiry.Clock
	engine  *engine.Engine
	started time.Time
	runID   string
	onQuit  func()
	dial    func(ctx context.Context, addr string) (net.Conn, error) // see Options
	dialTLS func() (func(ctx context.Context, addr string) (net.Conn, error), error)
	traffic [maxLoops + 1]traffic // of connections with goroutines of their own, and of each loop

	leastOutput uint64 // see leastLimit; guarded by the engine's lock

	mu        sync.Mutex // guards the fields below
	listeners []net.Listener
	conns     map[*conn]struct{}
	arriving  int           // connections that Dial has returned and that are not yet in conns
	closing   bool          // Close was called
	ending    chan struct{} // closed by Close or Drain: DEBUG SLEEP ends
	timers    timers        // of faults
	awake     chan struct{} // EndSleep sends to it: DEBUG SLEEP ends
	bubbled   bool          // Start was called in a synctest bubble
	drained   chan struct{} // closed when draining and no connection is left; nil: not draining
	loops     []*loop
	assigned  int // connections given to loops so far

	// Atomic: connections and the engine use these without mu.
	quitting atomic.Bool  // OnShutdown was called
	draining atomic.Bool  // a connection ends when it is idle, see Drain
	port     atomic.Int64 // of the first TCP listener without TLS; 0: none yet
	tlsPort  atomic.Int64 // of the first TCP listener with TLS; 0: none yet
	pipes    atomic.Int64 // connections by Dial so far

	wakes      pendingWakes
	handshakes handshakes
	numbers    numbers        // of connections without a socket
	done       sync.WaitGroup // accept loops and connections
	loopsDone  sync.WaitGroup // goroutines of loops
}

// New returns a server without listeners.
func New(opts Options) *Server {
	s := &Server{
		cfg: opts.Config, log: opts.Log, onQuit: opts.OnShutdown, dial: opts.Dial, dialTLS: opts.DialTLS,
		conns: map[*conn]struct{}{}, ending: make(chan struct{}), awake: make(chan struct{}),
		started: opts.Clock.Now(), leastOutput: leastLimit(opts.Config),
	}
	if s.dial == nil {
		s.dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
	}
	s.wakes.init()
	var seed [32]byte
	rand.Read(seed[:])
	s.runID = hex.EncodeToString(seed[:20])
	s.engine = engine.New(engine.Options{
		Config: opts.Config,
		Clock:  opts.Clock,
		Rand:   mathrand.New(mathrand.NewChaCha8(seed)),
		Log:    opts.Log,
		Server: (*host)(s),
		Table:  opts.Table,
		Bus:    opts.Bus,
		Memory: processMemory(),
	})
	s.clock = s.engine.Clock()
	opts.Config.OnChange(config.IdleChange, s.rearm)
	opts.Config.OnChange(config.OutputChange, s.enforceOutputLimits)
	return s
}

// rearm wakes every connection, so that its next read uses the new value of the timeout
// directive. It is called inside the engine.
func (s *Server) rearm() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.rearmed.Store(true)
		c.Wake()
	}
	return nil
}

// enforceOutputLimits closes the clients whose unread output exceeds a new
// client-output-buffer-limit, and begins the time of its soft limit for others. It is called
// inside the engine.
func (s *Server) enforceOutputLimits() error {
	s.leastOutput = leastLimit(s.cfg)
	s.mu.Lock()
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.enforceOutputLimit()
	}
	return nil
}

// Start starts the engine's timer. It is called once, before Serve and Dial.
func (s *Server) Start() {
	s.mu.Lock()
	s.bubbled = bubble.Inside()
	s.mu.Unlock()
	s.engine.Start()
}

// Engine returns the engine. The root package and the test kit use it.
func (s *Server) Engine() *engine.Engine { return s.engine }

// ErrClosed is returned by Serve and Dial after Drain or Close.
var ErrClosed = errors.New("server closed")

// Serve accepts connections from ln until Drain, Close, or a permanent error of ln. It
// closes ln. It always returns an error: ErrClosed after Drain and Close. An error of the
// system, such as too many open files, is logged and Serve tries again.
func (s *Server) Serve(ln net.Listener) error {
	if !s.track(ln) {
		ln.Close()
		return ErrClosed
	}
	defer s.done.Done()
	s.startLoops()
	for delay := time.Duration(0); ; {
		nc, err := ln.Accept()
		if err == nil {
			delay = 0
			s.accept(nc)
			continue
		}
		if s.isClosing() {
			return ErrClosed
		}
		if system := (*net.OpError)(nil); errors.Is(err, net.ErrClosed) || !errors.As(err, &system) {
			s.untrack(ln)
			return err
		}
		// Most likely the process has no file descriptors left. A connection that ends
		// gives one back.
		delay = min(max(2*delay, 5*time.Millisecond), time.Second)
		s.log.Warn("accepting a connection failed", "error", err, "retry", delay)
		time.Sleep(delay)
	}
}

// track adds ln to the listeners. It reports false when no more connections are accepted.
func (s *Server) track(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.drained != nil {
		return false
	}
	s.listeners = append(s.listeners, ln)
	s.done.Add(1)
	return true
}

// Announce makes ln's port one that INFO and CLUSTER SLOTS show, if it is the first of its
// kind. Serve does not call it.
func (s *Server) Announce(ln net.Listener) {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return
	}
	port := &s.port
	if _, secure := ln.(*tlsListener); secure {
		port = &s.tlsPort
	}
	port.CompareAndSwap(0, int64(addr.Port))
}

// untrack removes ln from the listeners and closes it.
func (s *Server) untrack(ln net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = slices.DeleteFunc(s.listeners, func(l net.Listener) bool { return l == ln })
	ln.Close()
}

// isClosing reports whether no more connections are accepted.
func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing || s.drained != nil
}

// stopListening closes the listeners. No connection is accepted after it.
func (s *Server) stopListening() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	s.endSleep()
	for _, ln := range s.listeners {
		ln.Close()
	}
	s.listeners = nil
}

// endSleep ends DEBUG SLEEP, now and later. s.mu is held.
func (s *Server) endSleep() {
	select {
	case <-s.ending: // closed before
	default:
		close(s.ending)
	}
}

// Close closes the listeners and connections and interrupts a running script. It returns
// when all goroutines have ended. A second call does nothing.
func (s *Server) Close() error {
	s.stopListening()
	s.mu.Lock()
	for c := range s.conns {
		c.out.Flush() // the replies of commands that have run, as far as the socket takes them
		c.Kill()
	}
	s.mu.Unlock()
	s.handshakes.end()
	s.engine.Interrupt()
	s.done.Wait()
	s.stopLoops()
	s.timers.close()
	s.engine.Close()
	return nil
}
