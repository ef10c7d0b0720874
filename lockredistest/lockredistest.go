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
	"github.com/lockredis/lockredis/internal/backdoor"
)

// Server is the server of one test. Its embedded Keyspace is database 0. All methods may be
// called from any goroutine, except Addr, Client, Options and Advance: they can end the
// test, and testing.TB allows that only in the test's goroutine.
type Server struct {
	*Keyspace

	t      testing.TB
	srv    *lockredis.Server
	inside backdoor.Inside
	clock  *expiry.Manual // nil: the machine's
	opts   options
	trust  *tls.Config // for clients; nil: the server speaks plain text

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

// AllowLeaks turns off the check for leaks at the end of the test.
func AllowLeaks() Option { return func(o *options) { o.allowLeaks = true } }

// ManualClock gives the server a clock that only Server.Advance moves. It begins at the
// present time.
func ManualClock() Option { return func(o *options) { o.manual = true } }

// Listen makes the server listen on a TCP address, "host:port", when it starts. Port 0
// means a free port. Without this option Server.Addr opens a port when it is first called.
func Listen(addr string) Option { return func(o *options) { o.addr = addr } }

// TLS makes the server speak TLS on Addr, with a certificate for localhost that is made at
// the start. Server.Client and Server.Options connect to that port and trust the
// certificate. For other clients there is Server.TLSConfig. Dial stays plain text. The
// option needs a socket, so it does not work in synctest bubbles.
func TLS() Option { return func(o *options) { o.tls = true } }

// Password makes clients AUTH with the password. Server.Client and Server.Options send it.
func Password(password string) Option { return func(o *options) { o.cfg.Password = password } }

// Directive sets a directive of redis.conf, as in
// Directive("notify-keyspace-events", "Ex"). A wrong directive ends the test.
func Directive(name, value string) Option {
	return func(o *options) { o.cfg.Directives[name] = value }
}

// Logger receives the server's log. Without this option the log is dropped.
func Logger(l *slog.Logger) Option { return func(o *options) { o.cfg.Logger = l } }

// RunT starts a fresh server, which is closed when the test ends. The test then fails if a
// lock, a place in a fair lock's queue, a blocked client or a subscription is left over.
// The package's documentation says more about leaks; AllowLeaks turns the check off. If the
// server does not start, the test ends.
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

// Run starts a server where there is no test, as in TestMain or in an example. The caller
// closes it. Methods that would end a test panic.
func Run(opts ...Option) (*Server, error) { return start(noTest{}, opts) }

func start(t testing.TB, opts []Option) (*Server, error) {
	cfg := lockredis.Config{NoSocket: true, Directives: map[string]string{}}
	s := &Server{t: t, opts: options{cfg: cfg}}
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
	s.inside = backdoor.Open(s.srv)
	s.inside.RecordScriptKeys()
	s.Keyspace = s.DB(0)
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

// Close closes the clients that Client returned, looks for leaks, and closes the server.
// The error names the leaks; with AllowLeaks it is nil. Close is for a server that Run
// started. A server that RunT started is closed when its test ends.
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

// end closes the server at the end of the test and reports leaks. After a failure it only
// logs them: most likely the failed test could not clean up.
func (s *Server) end() {
	s.t.Helper()
	err := s.Close()
	switch {
	case err == nil:
	case s.t.Failed():
		s.t.Log(err)
	default:
		s.t.Error(err)
	}
}

// noTest is the testing.TB of a server that Run started.
type noTest struct{ testing.TB }

func (noTest) Helper()           {}
func (noTest) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Addr returns the server's TCP address, "127.0.0.1:port". The first call opens a free port,
// unless the option Listen has opened one. Addr is not for synctest bubbles: use Client,
// Options or Dial there.
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

// listen opens a port. s.mu is held, or s is not shared yet.
func (s *Server) listen(addr string) error {
	addr, err := s.srv.Listen(addr)
	if err == nil {
		s.addr = addr
	}
	return err
}

// Dial returns a new connection in memory: a buffered pipe with deadlines. It can be the
// Dialer of redis.Options; it ignores network and addr. The error is ctx's, or says that
// the server is closed.
func (s *Server) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return s.srv.Dial(ctx)
}

// Now returns the time of the server's clock.
func (s *Server) Now() time.Time {
	if s.clock != nil {
		return s.clock.Now()
	}
	return time.Now()
}

// FlushAll deletes all keys of all databases.
func (s *Server) FlushAll() { s.Do("FLUSHALL") }

// DB returns database n, 0 to 15 unless the directive databases says otherwise.
func (s *Server) DB(n int) *Keyspace { return &Keyspace{inside: &s.inside, db: n} }
