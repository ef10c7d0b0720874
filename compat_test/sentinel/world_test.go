package sentinel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/sentinel"
	"github.com/lockredis/lockredis/internal/server"
)

// world is where a scenario happens: on the machine's network with redis-sentinel, or inside
// the process with lockredis's Sentinel.
type world interface {
	// port returns a port that nothing listens on.
	port() string
	listen(addr string) (net.Listener, error)
	// start runs a Sentinel with a configuration file, and returns how to end it.
	start(path, port string) (stop func(), err error)
	// refusal returns what a Sentinel says about a configuration that it does not take.
	refusal(path string) string
	// dial connects to the Sentinel.
	dial(port string) (net.Conn, error)
	// settle waits until what is under way without a pause is done. In real time nothing can tell.
	settle()
}

// redisWorld runs redis-sentinel.
type redisWorld struct{ t *testing.T }

func (w redisWorld) port() string {
	port, err := redistest.FreePort()
	if err != nil {
		w.t.Fatal(err)
	}
	return port
}

func (w redisWorld) settle() {}

func (w redisWorld) listen(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }

func (w redisWorld) start(path, port string) (func(), error) {
	s, err := redistest.Command{
		Addr: "127.0.0.1:" + port, Args: []string{path, "--sentinel"},
	}.Start()
	if err != nil {
		return nil, err
	}
	return s.Stop, s.Await()
}

func (w redisWorld) refusal(path string) string {
	program, err := redistest.Program()
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, path, "--sentinel")
	var text strings.Builder
	command.Stderr = &text
	err = command.Run()
	return fmt.Sprintf("%s(%v)", text.String(), err)
}

func (w redisWorld) dial(port string) (net.Conn, error) {
	return net.Dial("tcp", "127.0.0.1:"+port)
}

// ownWorld runs lockredis's Sentinel. Its network has no sockets, so it works in a bubble of
// testing/synctest.
type ownWorld struct {
	t         *testing.T
	mu        sync.Mutex // guards the fields below
	listeners map[string]*listener
	last      int // port
	server    *server.Server
}

func newOwnWorld(t *testing.T) *ownWorld {
	return &ownWorld{t: t, listeners: map[string]*listener{}, last: 40000}
}

func (w *ownWorld) port() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	return fmt.Sprint(w.last)
}

func (w *ownWorld) settle() { synctest.Wait() }

func (w *ownWorld) listen(addr string) (net.Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	w.listeners[addr] = l
	return l, nil
}

// connect is the Sentinel's way to the fakes.
func (w *ownWorld) connect(ctx context.Context, addr string) (net.Conn, error) {
	w.mu.Lock()
	l := w.listeners[addr]
	w.mu.Unlock()
	if l == nil {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return conn{near}, nil
	case <-l.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *ownWorld) start(path, port string) (func(), error) {
	set, err := config.Parse([]string{path, "--sentinel"}, nil)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	mon, err := sentinel.New(sentinel.Options{
		Config: set, Clock: expiry.System(), Log: log, Dial: w.connect, Resolve: lookUp,
	})
	if err != nil {
		return nil, err
	}
	srv := server.New(server.Options{
		Config: set, Clock: expiry.System(), Log: log, Table: mon.Table(),
	})
	srv.Start()
	mon.Start(srv.Engine(), set.Port)
	w.server = srv
	return func() {
		mon.Close()
		srv.Close()
	}, nil
}

// lookUp knows one name.
func lookUp(_ context.Context, host string) (netip.Addr, error) {
	if host != "localhost" {
		return netip.Addr{}, errors.New("no such host")
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
}

func (w *ownWorld) refusal(path string) string {
	stop, err := w.start(path, "")
	if err == nil {
		stop()
		return "(no error)"
	}
	return err.Error() + "\n(exit status 1)"
}

func (w *ownWorld) dial(string) (net.Conn, error) { return w.server.Dial(context.Background()) }

// listener accepts connections of an ownWorld.
type listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case nc := <-l.conns:
		return nc, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// conn is a pipe with the address that a socket would have.
type conn struct{ net.Conn }

func (conn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// writeConf writes a configuration file for a Sentinel.
func writeConf(t *testing.T, dir, port, text string) string {
	t.Helper()
	path := filepath.Join(dir, "sentinel.conf")
	head := "port " + port + "\nbind 127.0.0.1\ndir " + dir + "\n"
	if err := os.WriteFile(path, []byte(head+text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
