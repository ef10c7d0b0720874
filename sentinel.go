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
	"sync"
	"time"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/sentinel"
	"github.com/lockredis/lockredis/internal/server"
	"github.com/lockredis/lockredis/internal/tlsconf"
)

// SentinelConfig says what the Sentinels of StartSentinels monitor and where they listen.
type SentinelConfig struct {
	// Master is the name of the primary. Empty means "mymaster".
	Master string

	// Addr is the address of the primary, "host:port". The Sentinels resolve a host name and
	// give clients the IP address.
	Addr string

	// MasterPassword is the primary's password, MasterUser its user. Empty means none.
	MasterUser, MasterPassword string

	// Addrs are the addresses that the Sentinels listen on, one for each, in the form of
	// Config.Addr. Nil means three Sentinels on free ports of 127.0.0.1.
	Addrs []string

	// AnnounceIP is the IP address at which clients and the other Sentinels reach the
	// Sentinels. Empty means the address of their connection to the primary.
	AnnounceIP string

	// Quorum is how many Sentinels must agree that the primary is down, at most as many as
	// there are. 0 means the majority.
	Quorum int

	// Replicas is how many replicas of the primary StartSentinels waits for: all Sentinels know them, and
	// their links to the primary work. The Sentinels find more of them later.
	Replicas int

	// DownAfter is how long the primary may be silent before a Sentinel takes it for down. 0
	// means 30 seconds, as in Redis. It is rounded down to milliseconds.
	DownAfter time.Duration

	// Password is what clients, and the Sentinels among themselves, must AUTH with. Empty
	// means none.
	Password string

	// NoSocket makes the Sentinels listen on nothing. Addrs only name them then, by IP
	// addresses and ports; nil means 127.0.0.1:26379 and the ports behind it. Clients
	// connect with Sentinels.Dial, and so do the Sentinels among themselves.
	NoSocket bool

	// Dial is how the Sentinels connect to the primary and its replicas. Nil means TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Logger receives the Sentinels' log, see Config.Logger.
	Logger *slog.Logger
}

// Sentinels are Sentinels of one primary, in this process.
type Sentinels struct {
	servers []*Server
	addrs   []string // names of Sentinels without a socket
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	master  string // the name of the primary
}

// awaitSentinels is how long StartSentinels waits for the Sentinels to find each other.
const awaitSentinels = 20 * time.Second

// StartSentinels starts Sentinels that monitor a primary. It returns when the primary has
// answered all of them and they know each other and the replicas. They find each other through the primary, as
// Sentinels on different machines do. The primary may be a Server or a redis-server. It gives
// up after 20 seconds, when a Sentinel ends, and when ctx ends: its error then wraps
// context.Cause(ctx). After an error nothing is left running. ctx does not end the Sentinels
// later.
//
// The Sentinels find the replicas of the primary, and promote one when it is down.
func StartSentinels(ctx context.Context, cfg SentinelConfig) (*Sentinels, error) {
	if cfg.Addrs == nil {
		cfg.Addrs = make([]string, 3)
		for i := range cfg.Addrs {
			if cfg.NoSocket {
				cfg.Addrs[i] = fmt.Sprintf("127.0.0.1:%d", 26379+i)
			}
		}
	}
	switch {
	case len(cfg.Addrs) == 0:
		return nil, errors.New("start sentinels: Addrs is empty, nil means three")
	case cfg.DownAfter < 0:
		return nil, fmt.Errorf("start sentinels: DownAfter is %v", cfg.DownAfter)
	case cfg.Quorum > len(cfg.Addrs):
		return nil, fmt.Errorf("start sentinels: Quorum is %d, there are %d Sentinels",
			cfg.Quorum, len(cfg.Addrs))
	}
	// With a name that does not resolve, the Sentinels would not find each other.
	if ip := cfg.AnnounceIP; ip != "" && net.ParseIP(ip) == nil {
		if _, err := net.DefaultResolver.LookupNetIP(ctx, "ip", ip); err != nil {
			return nil, fmt.Errorf("start sentinels: AnnounceIP %q: %w", ip, err)
		}
	}
	if cfg.Master == "" {
		cfg.Master = "mymaster"
	}
	if cfg.Quorum == 0 {
		cfg.Quorum = len(cfg.Addrs)/2 + 1
	}
	s := &Sentinels{dial: cfg.Dial, master: cfg.Master}
	if cfg.NoSocket {
		s.addrs = cfg.Addrs
	}
	if s.dial == nil {
		s.dial = new(net.Dialer).DialContext
	}
	for _, addr := range cfg.Addrs {
		if err := s.add(&cfg, addr); err != nil {
			return nil, fmt.Errorf("start sentinel: %w", err)
		}
	}
	for _, srv := range s.servers {
		if err := srv.Start(); err != nil {
			s.Close()
			return nil, fmt.Errorf("start sentinel: %w", err)
		}
	}
	if err := s.awaitPeers(ctx, &cfg); err != nil {
		s.Close()
		return nil, fmt.Errorf("start sentinels: %w", err)
	}
	return s, nil
}

// awaitPeers waits until the primary has answered all Sentinels and they know each other.
func (s *Sentinels) awaitPeers(ctx context.Context, cfg *SentinelConfig) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(awaitSentinels, func() {
		cancel(fmt.Errorf("the primary at %s does not let them in within %v: "+
			"is the address right, and the password?", cfg.Addr, awaitSentinels))
	})
	defer limit.Stop()
	for _, srv := range s.servers {
		go func() {
			select {
			case <-srv.Done():
				cancel(errors.New("one of the Sentinels has ended"))
			case <-ctx.Done():
			}
		}()
	}
	var met sync.WaitGroup
	errs := make([]error, len(s.servers))
	for i, srv := range s.servers { // together: each hurries while it is waited for
		met.Go(func() {
			errs[i] = within(srv).mon.AwaitPeers(ctx, cfg.Master, len(s.servers)-1, cfg.Replicas)
		})
	}
	met.Wait()
	if errors.Join(errs...) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// add adds a Sentinel that is not started.
func (s *Sentinels) add(cfg *SentinelConfig, addr string) error {
	set := config.NewSentinel()
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return fmt.Errorf("address of the primary %q: %w", cfg.Addr, err)
	}
	lines := [][]string{{"resolve-hostnames", "yes"},
		{"monitor", cfg.Master, host, port, strconv.Itoa(cfg.Quorum)}}
	option := func(name, value string) {
		if value != "" {
			lines = append(lines, []string{name, cfg.Master, value})
		}
	}
	option("auth-user", cfg.MasterUser)
	option("auth-pass", cfg.MasterPassword)
	if cfg.DownAfter > 0 {
		option("down-after-milliseconds", strconv.FormatInt(cfg.DownAfter.Milliseconds(), 10))
	}
	if cfg.NoSocket {
		ip, port, err := net.SplitHostPort(addr)
		if err != nil {
			return fmt.Errorf("address %q: %w", addr, err)
		}
		lines = append(lines, []string{"announce-ip", ip}, []string{"announce-port", port})
	} else if cfg.AnnounceIP != "" {
		lines = append(lines, []string{"announce-ip", cfg.AnnounceIP})
	}
	err = listenOn(set, addr, false)
	for _, line := range lines {
		err = errors.Join(err, set.Load("sentinel", line...))
	}
	if err != nil {
		return err
	}
	srv := New(Config{
		Settings: &Settings{config: set}, Password: cfg.Password, Logger: cfg.Logger,
		NoSocket: cfg.NoSocket, Dial: s.connect,
	})
	s.servers = append(s.servers, srv)
	return nil
}

// connect is how a Sentinel connects to the primary and to the other Sentinels.
func (s *Sentinels) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	if slices.Contains(s.addrs, addr) {
		return s.Dial(ctx, network, addr)
	}
	return s.dial(ctx, network, addr)
}

// Dial returns the client's end of a new connection to the Sentinel of that address, in
// memory, see Server.Dial. It can be a part of the Dialer of redis.FailoverOptions. It ignores
// network. The error says it when an address is not in Addrs.
func (s *Sentinels) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	i := slices.Index(s.Addrs(), addr)
	if i < 0 {
		return nil, fmt.Errorf("lockredis: no Sentinel has the address %s", addr)
	}
	return s.servers[i].Dial(ctx)
}

// Addrs returns the addresses of the Sentinels, "host:port".
func (s *Sentinels) Addrs() []string {
	if s.addrs != nil {
		return slices.Clone(s.addrs)
	}
	addrs := make([]string, len(s.servers))
	for i, srv := range s.servers {
		addrs[i] = srv.Addr()
	}
	return addrs
}

// Servers returns the Sentinels, in the order of their addresses. Each may be closed by
// itself, as if its machine had failed.
func (s *Sentinels) Servers() []*Server { return slices.Clone(s.servers) }

// Done returns a channel that is closed when all Sentinels have ended.
func (s *Sentinels) Done() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for _, srv := range s.servers {
			<-srv.Done()
		}
		close(done)
	}()
	return done
}

// Close closes all Sentinels. It always returns nil.
func (s *Sentinels) Close() error {
	for _, srv := range s.servers {
		srv.Close()
	}
	return nil
}

// dialerTLS returns a dialer with the TLS of the present directives.
func dialerTLS(cfg *config.Config) (dialer, error) {
	conf, err := tlsconf.NewClient(cfg)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return func(ctx context.Context, addr string) (net.Conn, error) {
		return (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", addr)
	}, nil
}

// newSentinel returns a Sentinel for a node with these options. It puts its command table into them.
func newSentinel(opts *server.Options) (*sentinel.Sentinel, error) {
	dial := opts.Dial
	if opts.Config.TLS.Links {
		var err error
		if dial, err = dialerTLS(opts.Config); err != nil {
			return nil, err
		}
	}
	mon, err := sentinel.New(sentinel.Options{
		Config: opts.Config, Clock: opts.Clock, Log: opts.Log, Dial: dial, Crash: opts.OnShutdown,
	})
	if err != nil {
		return nil, err
	}
	opts.Table = mon.Table()
	return mon, nil
}

// closeCore ends the Sentinel, if the node is one, and then the server.
func (s *Server) closeCore() {
	n := within(s)
	if n.mon != nil {
		n.mon.Close()
	}
	n.core.Close()
}

// announcedPort returns the port that a Sentinel tells other Sentinels: the TLS port when they
// speak TLS, else the first TCP port, 0 if there is none. s.mu is held.
func (s *Server) announcedPort(listeners []net.Listener) int {
	if _, port, err := net.SplitHostPort(s.tlsAddr); err == nil && s.set.TLS.Links {
		n, _ := strconv.Atoi(port)
		return n
	}
	for _, ln := range listeners {
		if addr, ok := ln.Addr().(*net.TCPAddr); ok {
			return addr.Port
		}
	}
	return 0
}
