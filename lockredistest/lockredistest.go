package lockredistest

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/engine"
)

// Server is the server of one test. Its own Keyspace is database 0. All methods
// may be called from any goroutine, but for those that can end the test (Addr,
// Client, Advance): they belong to the test's.
type Server struct {
	*Keyspace

	t      testing.TB
	srv    *lockredis.Server
	engine *engine.Engine
	clock  *expiry.Manual // nil: the machine's
	opts   options
	trust  *tls.Config // what clients of a server with TLS are given, nil: plain text

	mu      sync.Mutex // guards the fields below
	addr    string
	clients []*redis.Client
}

type options struct {
	cfg        lockredis.Config
	addr       string
	manual     bool
	tls        bool
	allowLeaks bool
}

// Option changes what RunT starts.
type Option func(*options)

// AllowLeaks turns the check off that RunT makes when the test ends.
func AllowLeaks() Option { return func(o *options) { o.allowLeaks = true } }

// ManualClock gives the server a clock that stands still but for
// Server.Advance. It starts at the present time.
func ManualClock() Option { return func(o *options) { o.manual = true } }

// Listen has the server listen on a TCP address, "host:port", from the start;
// port 0 is a free one. Without it Server.Addr opens a port when it is called.
func Listen(addr string) Option { return func(o *options) { o.addr = addr } }

// TLS has the server speak TLS on Addr, with a certificate for this machine made
// at the start. Server.Options, and so Client, trust it and go through that port;
// Server.TLSConfig is for other clients. Dial stays plain. Because of the socket
// it is not for synctest bubbles.
func TLS() Option { return func(o *options) { o.tls = true } }

// Password is what clients must AUTH with. Server.Options knows it.
func Password(password string) Option { return func(o *options) { o.cfg.Password = password } }

// Directive sets a directive of redis.conf, as in
// Directive("notify-keyspace-events", "Ex"). A wrong one fails the test.
func Directive(name, value string) Option {
	return func(o *options) { o.cfg.Directives[name] = value }
}

// Logger receives the server's log, which is dropped otherwise.
func Logger(l *slog.Logger) Option { return func(o *options) { o.cfg.Logger = l } }

// RunT starts a fresh server, which ends with the test. It then fails the test
// if a lock, a place in a fair lock's queue, a waiter or a subscription is left
// over; see the package's documentation and AllowLeaks. A server that does not
// start ends the test.
func RunT(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := start(t, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Helper()
		s.end()
	})
	return s
}

// Run is RunT where there is no test: in TestMain, in an example. The caller
// closes the server. What would end a test, panics.
func Run(opts ...Option) (*Server, error) { return start(noTest{}, opts) }

func start(t testing.TB, opts []Option) (*Server, error) {
	s := &Server{t: t, opts: options{cfg: lockredis.Config{NoSocket: true, Directives: map[string]string{}}}}
	for _, o := range opts {
		o(&s.opts)
	}
	if s.opts.manual {
		s.clock = expiry.NewManual(time.Now())
		s.opts.cfg.Clock = s.clock
	}
	if s.opts.tls {
		if err := s.certify(); err != nil {
			return nil, fmt.Errorf("lockredistest: %w", err)
		}
	}
	s.srv = lockredis.New(s.opts.cfg)
	s.engine = s.srv.Core().Engine()
	s.Keyspace = &Keyspace{engine: s.engine}
	s.engine.WatchScripts()
	err := s.srv.Start()
	if err == nil && s.opts.addr != "" {
		err = s.listen(s.opts.addr)
	}
	if err != nil {
		s.srv.Close()
		return nil, fmt.Errorf("lockredistest: starting the server: %w", err)
	}
	return s, nil
}

// Close closes the clients that Client returned, looks for leaks, and ends the
// server. The error names the leaks; AllowLeaks has it always be nil. It is for
// servers of Run: those of RunT end with their test.
func (s *Server) Close() error {
	s.mu.Lock()
	clients := s.clients
	s.clients = nil
	s.mu.Unlock()
	for _, rdb := range clients {
		rdb.Close()
	}
	var err error
	if !s.opts.allowLeaks {
		err = s.checkLeaks()
	}
	s.srv.Close()
	return err
}

// end is the end of the test.
func (s *Server) end() {
	s.t.Helper()
	err := s.Close()
	switch {
	case err == nil:
	case s.t.Failed():
		s.t.Log(err) // most likely because of what made the test fail
	default:
		s.t.Error(err)
	}
}

// noTest is the test of a server that has none.
type noTest struct{ testing.TB }

func (noTest) Helper()           {}
func (noTest) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Addr returns the server's TCP address, "127.0.0.1:port". The first call opens
// a free port. It is not for synctest bubbles: use Options or Dial there.
func (s *Server) Addr() string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.addr == "" {
		if err := s.listen("127.0.0.1:0"); err != nil {
			s.t.Fatal("lockredistest: opening a port: ", err)
		}
	}
	return s.addr
}

// listen opens a port. s.mu is held, or nobody else knows s yet.
func (s *Server) listen(addr string) error {
	ln, err := s.srv.Listen(addr)
	if err == nil {
		s.addr = ln.String()
	}
	return err
}

// Dial returns a new connection in memory: a buffered pipe with deadlines. It is
// what redis.Options.Dialer takes; network and addr are ignored. The error is
// ctx's, or says that the server has ended.
func (s *Server) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return s.srv.Dial(ctx)
}

// Now returns the time on the server's clock.
func (s *Server) Now() time.Time {
	if s.clock != nil {
		return s.clock.Now()
	}
	return time.Now()
}

// FlushAll deletes all keys of all databases.
func (s *Server) FlushAll() { s.Do("FLUSHALL") }

// DB returns database n, 0 to 15 unless the directive databases says otherwise.
func (s *Server) DB(n int) *Keyspace { return &Keyspace{engine: s.engine, db: n} }
