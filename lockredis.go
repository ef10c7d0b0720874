package lockredis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/server"
)

// Config says how a server runs. The zero value is a server on a free port of
// the loopback interface, without a password, that logs nothing.
type Config struct {
	// Addr is the TCP address to listen on, "host:port". Empty means a free
	// port on 127.0.0.1; port 0 means a free port too. It is ignored when
	// Settings is given.
	Addr string

	// NoSocket has the server listen on nothing, whatever Addr and Settings
	// say. Server.Dial is the way in, and Server.Listen adds an address later.
	NoSocket bool

	// Password is what clients must AUTH with; empty means none is needed. It
	// is the directive requirepass.
	Password string

	// Directives are redis.conf directives by name, as CONFIG SET takes them:
	// {"notify-keyspace-events": "Ex"}. A value is split into words; "" is one
	// empty word. New reports none that are wrong; Start does.
	Directives map[string]string

	// Settings are all of a redis.conf, as cmd/lockredis reads it. Nil means
	// the defaults. A Settings value serves one Server. It is for the packages of
	// this module: others cannot name its type, and use Directives.
	Settings *config.Config

	// TLS, when not nil, has the server speak TLS, and nothing else, on Addr and
	// on what Server.Listen adds; with Settings, on their tls-port. It stands in
	// place of the directives that name certificates and ciphers, and is not to
	// be changed any more. Certificates or GetCertificate must be there.
	//
	// Nil with the directive tls-port means that certificates come from files, as
	// in Redis: {"tls-port": "6380", "tls-cert-file": …, "tls-key-file": …,
	// "tls-auth-clients": "no"}. Addr stays plain text then.
	TLS *tls.Config

	// Clock is where the server takes time from. Nil means the machine's.
	Clock expiry.Clock

	// Logger receives the server's log. Nil means it is dropped.
	Logger *slog.Logger
}

// Server is one server: its own databases, scripts and clients.
type Server struct {
	cfg  Config
	set  *config.Config
	err  error // of the configuration; Start returns it
	core *server.Server
	tls  atomic.Pointer[tls.Config] // what new connections with TLS are given

	mu      sync.Mutex // guards the fields below
	addrs   []net.Addr
	tlsAddr string   // the first that speaks TLS
	files   []string // sockets to remove
	state   state

	serving sync.WaitGroup
	done    chan struct{} // closed when Close has finished
}

type state int

const (
	fresh state = iota
	started
	closed
)

// New returns a server that does not listen yet. It never fails: a mistake in
// cfg is what Start returns.
func New(cfg Config) *Server {
	if cfg.Clock == nil {
		cfg.Clock = expiry.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, set: cfg.Settings, done: make(chan struct{})}
	if s.set == nil {
		s.set = config.New()
		if !cfg.NoSocket {
			s.err = listenOn(s.set, cfg.Addr, cfg.TLS != nil)
		}
	}
	if cfg.NoSocket {
		s.set.Port, s.set.PortAuto, s.set.UnixSocket = 0, false, ""
		s.set.TLS.Port, s.set.TLS.PortAuto = 0, false
	}
	if cfg.Password != "" {
		s.err = errors.Join(s.err, s.set.Load("requirepass", cfg.Password))
	}
	for name, value := range cfg.Directives {
		words := strings.Fields(value)
		if value == "" {
			words = []string{""}
		}
		if err := s.set.Load(name, words...); err != nil {
			s.err = errors.Join(s.err, fmt.Errorf("directive %s %s: %w", name, value, err))
		}
	}
	s.err = errors.Join(s.err, s.set.Check())
	s.core = server.New(server.Options{
		Config: s.set, Clock: cfg.Clock, Log: cfg.Logger, OnShutdown: func() { s.Close() },
	})
	s.err = errors.Join(s.err, s.core.Engine().Rename(s.set.Renames))
	s.tls.Store(cfg.TLS)
	s.set.OnChange(config.TLSChange, s.reloadTLS)
	return s
}

// listenOn puts "host:port" into the settings, as the port or, in its place, as
// the one that speaks TLS.
func listenOn(set *config.Config, addr string, secure bool) error {
	host, port := "127.0.0.1", "0"
	if addr != "" {
		var err error
		if host, port, err = net.SplitHostPort(addr); err != nil {
			return fmt.Errorf("address %q: %w", addr, err)
		}
		if host == "" {
			host = "*"
		}
	}
	set.Bind = []string{host}
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("address %q: invalid port", addr)
	}
	set.Port, set.PortAuto = n, n == 0
	if secure {
		set.TLS.Port, set.TLS.PortAuto = set.Port, set.PortAuto
		set.Port, set.PortAuto = 0, false
	}
	return nil
}

// Start listens and returns when clients can connect. A failed Start leaves
// nothing behind, and the Server is closed.
func (s *Server) Start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != fresh {
		return errors.New("server was started before")
	}
	listeners, err := s.listen()
	if err = errors.Join(s.err, err); err != nil {
		for _, ln := range listeners {
			ln.Close()
		}
		s.state = closed
		s.core.Close()
		close(s.done)
		return err
	}
	s.core.Start()
	for _, ln := range listeners {
		s.serve(ln)
	}
	s.state = started
	return nil
}

// serve accepts connections from ln. s.mu is held.
func (s *Server) serve(ln net.Listener) {
	s.addrs = append(s.addrs, ln.Addr())
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		s.core.Serve(ln)
	}()
}

// Addr returns the first TCP address as "host:port", or the path of the Unix
// socket when there is no other. It is "" before Start.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.addrs) == 0 {
		return ""
	}
	return s.addrs[0].String()
}

// TLSAddr returns the first TCP address that speaks TLS as "host:port", "" when
// there is none.
func (s *Server) TLSAddr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tlsAddr
}

// Addrs returns all addresses that the server listens on.
func (s *Server) Addrs() []net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]net.Addr(nil), s.addrs...)
}

// Done is closed when the server has ended, through Close or a client's
// SHUTDOWN.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close ends all connections and goroutines of the server. All data is gone.
// It always returns nil; closing twice is harmless.
func (s *Server) Close() error {
	s.mu.Lock()
	was := s.state
	s.state = closed
	s.mu.Unlock()
	if was == closed {
		<-s.done
		return nil
	}
	s.core.Close()
	s.serving.Wait()
	s.removeFiles()
	close(s.done)
	return nil
}
