package lockredistest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/bubble"
)

// Server is the server of one test. Its embedded Keyspace is database 0. Most methods may be
// called from any goroutine. Call Addr, Host, Port, Client, Options, DB, Select, SetTime and
// Advance only from the test's goroutine, because they can end the test. In a testing/synctest
// bubble use only a server that was started in that bubble.
type Server struct {
	*Keyspace

	t      TB
	srv    *lockredis.Server
	inside any            // a *backdoor.Inside, see within
	clock  *expiry.Manual // nil: the machine's
	// bubbled says that the server was started in a synctest bubble.
	bubbled bool
	opts    options
	trust   *tls.Config // for clients; nil: the server speaks plain text
	asks    asks

	mu      sync.Mutex // guards the fields below
	addr    string
	ln      net.Listener  // nil: none, or stopped
	served  chan struct{} // closed when the server accepts no more connections from ln
	stopped bool
	closed  bool // Close was called

	ended     chan struct{} // closed when the first call of Close is over
	closeErr  error         // of that call
	clients   []io.Closer
	faults    map[int]*Fault    // in effect, by their numbers
	lastFault int               // the number of the last fault
	faulty    bool              // there was one: something may be delayed
	joined    []*joined         // lock clients of this process
	failing   map[string]*Fault // SetError's, by command; "" is every command

	sentinels *lockredis.Sentinels // nil: none

	nodes    []*Server // of the options ClusterOf, Primaries and Replicas, else s alone
	inMemory string    // the address that the node of a cluster, or of replicas, announces; "": no node

	deployment any // a *deployment.Deployment, of the option Replicas; see deployed
	links      any // a *deployment.Links, of the same option

	password string            // of the default user, "" without
	users    map[string]string // passwords of other users
	user     string            // of users, for Options; "": the default user
}

// within returns the inside of s. No field or method of Server names its type: each test package
// that names a Server would compile the engine's generic types again (Decisions in ARCHITECTURE.md).
func within(s *Server) *backdoor.Inside { return s.inside.(*backdoor.Inside) }

type options struct {
	cfg        lockredis.Config
	addr       string
	manual     bool
	tls        bool
	allowLeaks bool
	sentinel   *lockredis.SentinelConfig // nil: no Sentinels
	nodes      int                       // how many servers there are
	several    bool                      // ClusterOf or Primaries was given
	clustered  bool                      // ClusterOf was given
	replicas   int                       // of the server, or of each primary of a cluster
	replicated bool                      // Replicas was given
	lockKeys   []string
	dataKeys   []string
}

// Option changes what RunT starts.
type Option func(*options)

// AllowLeaks turns off the check for leaks at the end of the test.
func AllowLeaks() Option { return func(o *options) { o.allowLeaks = true } }

// LockKeys makes keys locks if their names match one of the patterns, as in KEYS. Such a key
// is a leak if it exists at the end of the test, whatever its value. Use it for locks that the
// package does not recognise, such as a SET with NX of a fixed value.
func LockKeys(patterns ...string) Option {
	return func(o *options) { o.lockKeys = append(o.lockKeys, patterns...) }
}

// DataKeys makes keys data if their names match one of the patterns, as in KEYS. Such a key is
// never a leak, even if it looks like a lock. For permits the name is the semaphore's.
func DataKeys(patterns ...string) Option {
	return func(o *options) { o.dataKeys = append(o.dataKeys, patterns...) }
}

// ManualClock gives the server a clock that only Server.Advance moves. It begins at the
// present time.
func ManualClock() Option { return func(o *options) { o.manual = true } }

// Listen makes the server listen on a TCP address, "host:port", when it starts. Port 0
// means a free port. With ClusterOf and Primaries the other servers have the ports behind it. Without
// this option Server.Addr opens a port when it is first called.
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

// Cluster makes the server a cluster of one node, which owns all slots. Server.ClusterClient
// and Server.ClusterOptions connect to it. Commands with keys of several slots fail, and
// there is only database 0. The test's own methods may use keys of any slot.
//
// Directive("cluster-slots", "0-8191 9000") gives the node fewer slots. A command with a key
// in another slot fails then with CLUSTERDOWN; with
// Directive("cluster-require-full-coverage", "yes"), which is the default, every command with
// a key does.
func Cluster() Option { return Directive("cluster-enabled", "yes") }

// Logger receives the server's log. Without this option the log is dropped.
func Logger(l *slog.Logger) Option { return func(o *options) { o.cfg.Logger = l } }

// RunT starts a fresh server, which is closed when the test ends. The test then fails if it
// left a leak: a lock, a permit, a position in a fair lock's queue, a blocked client or a
// subscription. The package's documentation says more about leaks; AllowLeaks turns the check
// off. If the server does not start, the test ends.
func RunT(t TB, opts ...Option) *Server {
	if t == nil {
		panic("lockredistest: RunT needs a test; Run starts a server without one")
	}
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

func start(t TB, opts []Option) (*Server, error) {
	first, err := newServer(t, opts)
	if err != nil {
		return nil, fmt.Errorf("lockredistest: %w", err)
	}
	nodes := []*Server{first}
	for len(nodes) < first.opts.nodes {
		s, err := newServer(t, opts)
		if err != nil {
			return nil, fmt.Errorf("lockredistest: %w", err)
		}
		if s.clock != nil {
			s.clock.SetBack(first.clock.Now()) // all begin at the same time
		}
		nodes = append(nodes, s)
	}
	makeServers(nodes)
	for i, s := range nodes {
		s.nodes = nodes
		if err = s.begin(i); err != nil {
			break
		}
	}
	if err == nil && first.opts.replicated {
		err = replicate(nodes)
	}
	if err == nil && first.opts.sentinel != nil {
		err = first.startSentinels()
	}
	if err != nil {
		for _, s := range nodes {
			s.srv.Close()
		}
		return nil, fmt.Errorf("lockredistest: starting the server: %w", err)
	}
	return first, nil
}

// newServer returns a Server with its options.
func newServer(t TB, opts []Option) (*Server, error) {
	cfg := lockredis.Config{NoSocket: true, Directives: map[string]string{}}
	s := &Server{t: t, opts: options{cfg: cfg}, bubbled: bubble.Inside(), ended: make(chan struct{})}
	for _, o := range opts {
		if o != nil {
			o(&s.opts)
		}
	}
	if err := s.opts.checkNodes(); err != nil {
		return nil, err
	}
	if s.bubbled && (s.opts.tls || s.opts.addr != "") {
		return nil, errors.New(bubbleSocket)
	}
	if s.opts.manual {
		s.clock = expiry.NewManual(time.Now())
		s.opts.cfg.Clock = s.clock
	}
	if s.opts.tls {
		if err := s.certify(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// begin starts the server, the i-th of the nodes.
func (s *Server) begin(i int) error {
	inside := backdoor.Open(s.srv)
	s.inside = &inside
	within(s).RecordScriptKeys()
	s.knowLocks()
	within(s).Faults() // counts requests from the start
	s.Keyspace = s.db(0)
	s.password = s.opts.cfg.Password
	err := s.srv.Start()
	if err == nil && s.opts.addr != "" {
		err = s.openPort(s.opts.listenAddr(i))
	}
	return err
}

// Addr returns the server's TCP address, "127.0.0.1:port". The first call opens a free port,
// unless the option Listen has opened one. Addr panics in a synctest bubble: use Client,
// Options or Dial there.
func (s *Server) Addr() string {
	s.t.Helper()
	s.stayPut()
	if s.bubbled {
		panic(bubbleAddr)
	}
	if err := s.openPorts(); err != nil {
		s.t.Fatal(fmt.Errorf("lockredistest: opening a port: %w", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// Dial returns a new connection in memory: a buffered pipe with deadlines. It can be the
// Dialer of redis.Options; it ignores network and addr. The error is ctx's, or says that
// the server is closed, or that a synctest bubble does not have both the server and the caller.
// After Stop it is syscall.ECONNREFUSED.
func (s *Server) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := s.refused(); err != nil {
		return nil, err
	}
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

// DB returns database n, 0 to 15 unless the directive databases says otherwise. It ends the test
// if there is no database n.
func (s *Server) DB(n int) *Keyspace {
	s.t.Helper()
	s.mustHave("DB", n)
	return s.db(n)
}

// db is DB for a database that exists.
func (s *Server) db(n int) *Keyspace {
	k := &Keyspace{server: s}
	k.number.Store(int64(n))
	return k
}

// mustHave ends the test unless there is a database n. method is the caller.
func (s *Server) mustHave(method string, n int) {
	s.t.Helper()
	switch last := within(s).Databases - 1; {
	case n >= 0 && n <= last:
	case last == 0:
		s.t.Fatal(fmt.Sprintf("lockredistest: %s(%d): the server has only database 0", method, n))
	default:
		s.t.Fatal(fmt.Sprintf("lockredistest: %s(%d): the server has the databases 0 to %d, "+
			"unless the directive databases says otherwise", method, n, last))
	}
}

// Select makes the server's own Keyspace methods, such as srv.Get, use database n. Clients, and
// Keyspaces that DB returned, keep their databases. It ends the test if there is no database n.
func (s *Server) Select(n int) {
	s.t.Helper()
	s.mustHave("Select", n)
	s.number.Store(int64(n))
}

// SwapDB exchanges two databases for all clients and returns true. It returns false, without an
// effect, if one of them does not exist.
func (s *Server) SwapDB(i, j int) bool {
	_, err := s.Do("SWAPDB", strconv.Itoa(i), strconv.Itoa(j))
	return err == nil
}

// Host returns the host of Addr: "127.0.0.1", unless the option Listen names another.
func (s *Server) Host() string {
	s.t.Helper()
	host, _, _ := net.SplitHostPort(s.Addr())
	return host
}

// Port returns the port of Addr.
func (s *Server) Port() string {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.Addr())
	return port
}

// Seed makes the random choices of commands (RANDOMKEY, SPOP, SRANDMEMBER and the like) depend
// only on seed and on the commands since. A script's math.random begins with the same seed in
// each run, as in Redis.
func (s *Server) Seed(seed int) { door(s).Reseed(uint64(seed)) }
