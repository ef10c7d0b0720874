package lockredis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/sentinel"
	"github.com/lockredis/lockredis/internal/server"
)

// Config says how a server runs. The zero value is a server on a free port of the loopback
// interface, without a password, that logs nothing.
type Config struct {
	// Addr is the TCP address to listen on, "host:port". Empty means a free port of
	// 127.0.0.1. Port 0 means a free port too. Addr is ignored when Settings is given.
	Addr string

	// NoSocket makes Start listen on nothing, whatever Addr and Settings say. Clients
	// connect with Server.Dial, or to an address that Server.Listen or Server.Serve adds.
	NoSocket bool

	// Password is the password that clients must AUTH with. Empty means none. It is the
	// directive requirepass.
	Password string

	// Directives are redis.conf directives by name, with values as CONFIG SET takes them:
	// {"notify-keyspace-events": "Ex"}. A value is split into words; "" is one empty word.
	// Start, not New, returns the error of a wrong directive. Directives that concern the
	// process (logfile, pidfile, port-file, exit-with-parent, control) act in cmd/lockredis only.
	Directives map[string]string

	// Settings are a whole redis.conf, see ParseSettings. Nil means the defaults. Password
	// and Directives override them. A Settings value serves one server.
	Settings *Settings

	// TLS, when not nil, makes the server speak TLS and no plain text: on Addr, and on
	// what Server.Listen and Server.Serve add. With Settings it applies to their tls-port
	// instead of Addr. It replaces the directives that name certificates and ciphers. It
	// must have Certificates or GetCertificate and must not be changed afterwards.
	//
	// With nil and the directive tls-port, certificates come from files, as in Redis:
	// {"tls-port": "6380", "tls-cert-file": …, "tls-key-file": …, "tls-auth-clients":
	// "no"}. Addr is plain text then.
	TLS *tls.Config

	// Clock is the server's source of time. Nil means the machine's clock.
	Clock expiry.Clock

	// Logger receives the server's log. Nil means that the log is dropped. The server calls
	// it while it runs commands: its handler must neither block nor use the server.
	Logger *slog.Logger

	// Dial is how the server connects to other servers: a replica to its primary, MIGRATE to its
	// target, a Sentinel to what it monitors. addr is "host:port", as the other server announces it.
	// Dial may connect to a server in memory with its Server.Dial. Nil means TCP. TLS between servers
	// (tls-replication) does not use it.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	member *membership // of a cluster, see NewCluster; nil: the server is alone
}

// Server is one server, with its own databases, scripts and clients. Its methods may be
// called from any goroutine.
type Server struct {
	cfg  Config
	set  *config.Config
	err  error                      // of the configuration; Start and Serve return it
	node any                        // a *node, see within
	tls  atomic.Pointer[tls.Config] // for new connections with TLS

	mu      sync.Mutex // guards the fields below
	addrs   []string   // of the listeners
	tlsAddr string     // the first address that speaks TLS
	files   []string   // socket files to remove
	state   state

	serving sync.WaitGroup
	done    chan struct{} // closed when Close has finished
	closing chan struct{} // closed when Close begins
}

// node is what answers the clients of a Server.
type node struct {
	core *server.Server
	mon  *sentinel.Sentinel // nil: the node is a server
}

// within returns the node of s. No field or method of Server names its type: each package that
// names a Server would compile the engine's generic types again (Decisions in ARCHITECTURE.md).
func within(s *Server) *node { return s.node.(*node) }

// New returns a server that does not listen yet. It never fails: Start and Serve return the
// errors of cfg.
func New(cfg Config) *Server {
	if cfg.Clock == nil {
		cfg.Clock = expiry.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, done: make(chan struct{}), closing: make(chan struct{})}
	s.configure()
	opts := server.Options{
		Config: s.set, Clock: cfg.Clock, Log: cfg.Logger, OnShutdown: func() { s.Close() },
		Bus: cfg.member.sharedBus(), Dial: cfg.dialer(),
		DialTLS: func() (dialer, error) { return dialerTLS(s.set) },
	}
	var n node
	if s.set.Sentinel {
		var err error
		n.mon, err = newSentinel(&opts)
		s.err = errors.Join(s.err, err)
	}
	n.core = server.New(opts)
	s.node = &n
	s.err = errors.Join(s.err, n.core.Engine().LoadUsers(), n.core.Engine().Rename(s.set.Renames))
	s.tls.Store(cfg.TLS)
	s.set.OnChange(config.TLSChange, s.reloadTLS)
	return s
}

// configure sets s.set from s.cfg, and s.err to the errors in s.cfg.
func (s *Server) configure() {
	cfg := &s.cfg
	if cfg.Settings != nil {
		s.set, s.err = cfg.Settings.take()
	} else {
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
	s.err = errors.Join(s.err, cfg.member.form(s.set))
	for name, value := range cfg.Directives {
		words := strings.Fields(value)
		if value == "" {
			words = []string{""}
		}
		if err := s.set.Load(name, words...); err != nil {
			s.err = errors.Join(s.err, fmt.Errorf("directive %s %s: %w", name, value, err))
		}
	}
	s.err = errors.Join(s.err, cfg.member.trust(s.set), s.set.Check())
}

// listenOn sets the port, or with secure the TLS port, and the address to bind to "host:port".
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

// Addr returns the first address that the server listens on: "host:port", or the path of a
// Unix socket if there is no TCP address. It is "" before Start and with no listener.
func (s *Server) Addr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.addrs) == 0 {
		return ""
	}
	return s.addrs[0]
}

// TLSAddr returns the first address that speaks TLS, as "host:port", "" if there is none.
func (s *Server) TLSAddr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tlsAddr
}

// Addrs returns all addresses that the server listens on, in the form of Addr.
func (s *Server) Addrs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.addrs)
}
