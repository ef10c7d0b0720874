package lockredis_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/backdoor"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/testcert"
	"github.com/lockredis/lockredis/resp"
)

// listenLocal returns a listener on a free port of loopback.
func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// serve calls Serve in a goroutine and returns the channel of its error.
func serve(srv *lockredis.Server, ln net.Listener) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	return ended
}

// await returns the error of a call in another goroutine.
func await(t *testing.T, call string, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal(call + " does not return")
		return nil
	}
}

func dialAddr(t *testing.T, addr net.Addr) *wire.Conn {
	t.Helper()
	c, err := wire.Dial(addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetTimeout(patience)
	return c
}

// expectClosed reads until the server has closed the connection.
func expectClosed(t *testing.T, c *wire.Conn) {
	t.Helper()
	if v, err := c.Receive(); !wire.IsClosed(err) {
		t.Fatalf("received %q, %v from a connection that should be closed", v.Raw, err)
	}
}

func TestServeStartsAServerOnItsListenersAlone(t *testing.T) {
	defer goleak.VerifyNone(t)
	srv := lockredis.New(lockredis.Config{})
	first, second := listenLocal(t), listenLocal(t)
	firstEnded, secondEnded := serve(srv, first), serve(srv, second)
	for _, ln := range []net.Listener{first, second} {
		c := dialAddr(t, ln.Addr())
		expect(t, c, "PING", "+PONG\r\n")
		c.Close()
	}
	if addrs := srv.Addrs(); len(addrs) != 2 {
		t.Errorf("listens on %v", addrs)
	}
	if err := srv.Start(); err == nil {
		t.Error("Start after Serve started the server again")
	}
	srv.Close()
	for _, ended := range []<-chan error{firstEnded, secondEnded} {
		if err := await(t, "Serve", ended); err != lockredis.ErrServerClosed {
			t.Errorf("Serve returned %v", err)
		}
	}
}

func TestServeAddsAListenerToAStartedServer(t *testing.T) {
	srv := start(t, lockredis.Config{})
	ln := listenLocal(t)
	serve(srv, ln)
	expect(t, dialAddr(t, ln.Addr()), "SET k v", "+OK\r\n")
	expect(t, dial(t, srv), "GET k", "$1\r\nv\r\n")
}

func TestServeReturnsAndClosesTheListenerOfAClosedServer(t *testing.T) {
	for name, end := range map[string]func(*lockredis.Server){
		"Close":    func(srv *lockredis.Server) { srv.Close() },
		"Shutdown": func(srv *lockredis.Server) { srv.Shutdown(t.Context()) },
	} {
		srv, ln := lockredis.New(lockredis.Config{}), listenLocal(t)
		end(srv)
		if err := srv.Serve(ln); err != lockredis.ErrServerClosed {
			t.Errorf("Serve after %s: %v", name, err)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after %s the listener is open: %v", name, err)
		}
	}
}

func TestServeReturnsTheConfigsError(t *testing.T) {
	srv := lockredis.New(lockredis.Config{Directives: map[string]string{"maxclients": "many"}})
	err := srv.Serve(listenLocal(t))
	if err == nil || !strings.Contains(err.Error(), "maxclients") {
		t.Fatalf("Serve returned %v", err)
	}
	select {
	case <-srv.Done():
	default:
		t.Fatal("the server is not closed")
	}
}

func TestServeReturnsWhenItsOwnListenerIsClosed(t *testing.T) {
	srv := start(t, lockredis.Config{NoSocket: true})
	ln, other := listenLocal(t), listenLocal(t)
	ended := serve(srv, ln)
	serve(srv, other)
	expect(t, dialAddr(t, ln.Addr()), "PING", "+PONG\r\n")
	expect(t, dialAddr(t, other.Addr()), "PING", "+PONG\r\n")
	ln.Close()
	if err := await(t, "Serve", ended); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("Serve returned %v", err)
	}
	if addrs := srv.Addrs(); len(addrs) != 1 || addrs[0] != other.Addr().String() {
		t.Fatalf("listens on %v", addrs)
	}
	expect(t, dialAddr(t, other.Addr()), "PING", "+PONG\r\n")
}

// brokenListener is not of package net, and fails.
type brokenListener struct{ net.Listener }

var errBroken = errors.New("broken")

func (brokenListener) Accept() (net.Conn, error) { return nil, errBroken }

func TestServeReturnsTheErrorOfAListenerThatIsNoSocket(t *testing.T) {
	srv := lockredis.New(lockredis.Config{})
	defer srv.Close()
	if err := srv.Serve(brokenListener{listenLocal(t)}); err != errBroken {
		t.Fatalf("Serve returned %v", err)
	}
}

func TestServeSpeaksTLSWithAConfigForIt(t *testing.T) {
	authority, err := testcert.New("authority")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("localhost")
	if err != nil {
		t.Fatal(err)
	}
	own := &tls.Config{Certificates: []tls.Certificate{pair.TLS}}
	srv, ln := lockredis.New(lockredis.Config{TLS: own}), listenLocal(t)
	defer srv.Close()
	serve(srv, ln)
	nc, err := tls.Dial("tcp", ln.Addr().String(),
		&tls.Config{RootCAs: authority.Pool, ServerName: "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c := wire.NewConn(nc)
	expect(t, c, "PING", "+PONG\r\n")
	if srv.TLSAddr() != ln.Addr().String() {
		t.Errorf("TLS on %q", srv.TLSAddr())
	}
	shutdown(t, srv)
	expectClosed(t, c)
}

// shutdown shuts a server down that no client keeps.
func shutdown(t *testing.T, srv *lockredis.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Fatalf("Shutdown returned %v", err)
	}
	select {
	case <-srv.Done():
	default:
		t.Fatal("the server is not closed after Shutdown")
	}
}

func TestShutdownClosesIdleConnections(t *testing.T) {
	defer goleak.VerifyNone(t)
	srv, ln := lockredis.New(lockredis.Config{}), listenLocal(t)
	ended := serve(srv, ln)
	idle, fresh, subscribed, multi := dialAddr(t, ln.Addr()), dialAddr(t, ln.Addr()),
		dialAddr(t, ln.Addr()), dialAddr(t, ln.Addr())
	expect(t, idle, "PING", "+PONG\r\n") // Serve has begun
	nc, err := srv.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	piped := wire.NewConn(nc)
	expect(t, piped, "PING", "+PONG\r\n")
	expect(t, subscribed, "SUBSCRIBE c", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")
	expect(t, multi, "MULTI", "+OK\r\n")
	shutdown(t, srv)
	for _, c := range []*wire.Conn{idle, fresh, subscribed, multi, piped} {
		expectClosed(t, c)
		c.Close()
	}
	if err := await(t, "Serve", ended); err != lockredis.ErrServerClosed {
		t.Fatalf("Serve returned %v", err)
	}
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Shutdown the listener is open: %v", err)
	}
}

// shutdownBegun calls Shutdown in a goroutine, and returns when the server no longer takes
// connections.
func shutdownBegun(t *testing.T, srv *lockredis.Server, ctx context.Context) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- srv.Shutdown(ctx) }()
	eventually(t, "Shutdown stops listening", func() bool {
		nc, err := srv.Dial(t.Context())
		if err == nil {
			nc.Close()
		}
		return err == lockredis.ErrServerClosed
	})
	return ended
}

// awaitKey polls until a key exists, or a script that came after it runs.
func awaitKey(t *testing.T, srv *lockredis.Server, key string) {
	t.Helper()
	probe := pipe(t, srv)
	eventually(t, key, func() bool {
		v, err := probe.Do("EXISTS", key)
		if err != nil {
			t.Fatal(err)
		}
		return string(v.Raw) == ":1\r\n" || strings.HasPrefix(string(v.Raw), "-BUSY ")
	})
}

// dialers connect to a server over each kind of connection that has a link of its own.
var dialers = map[string]func(*testing.T, *lockredis.Server) *wire.Conn{
	"socket": dial,
	"pipe":   func(t *testing.T, srv *lockredis.Server) *wire.Conn { return pipe(t, srv) },
}

// still fails the test if a call has returned.
func still(t *testing.T, call string, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		t.Fatalf("%s returned %v too early", call, err)
	default:
	}
}

func TestShutdownLetsBlockedClientsFinish(t *testing.T) {
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			clock := expiry.NewManual(time.Now())
			srv := start(t, lockredis.Config{Clock: clock})
			waiter, pusher := dial(t, srv), dial(t, srv)
			waiter.SendAll([]string{"BLPOP", "q", "0"}, []string{"ECHO", "after"})
			awaitBlocked(t, pusher, 1)
			pusher.SendAll([]string{"BLPOP", "r", "1"}, []string{"RPUSH", "q", "e"})
			awaitBlocked(t, pipe(t, srv), 2)
			ended := shutdownBegun(t, srv, t.Context())
			clock.Advance(time.Second)
			receive(t, pusher, "*-1\r\n")
			receive(t, pusher, ":1\r\n")
			receive(t, waiter, "*2\r\n$1\r\nq\r\n$1\r\ne\r\n")
			receive(t, waiter, "$5\r\nafter\r\n")
			expectClosed(t, waiter)
			expectClosed(t, pusher)
			if err := await(t, "Shutdown", ended); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The push serves the waiter at the moment when Shutdown looks at its connection.
func TestShutdownRunsThePipelineBehindABlockingCommandThatEndsMeanwhile(t *testing.T) {
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			rounds := 200
			if redistest.Quick() {
				rounds = 40
			}
			for range rounds {
				srv := start(t, lockredis.Config{})
				inside := backdoor.Open(srv)
				waiter := dial(t, srv)
				waiter.SendAll([]string{"BLPOP", "q", "0"}, []string{"ECHO", "after"})
				awaitBlocked(t, pipe(t, srv), 1)
				ended := make(chan error, 1)
				go func() { ended <- srv.Shutdown(t.Context()) }()
				push := resp.Args{[]byte("RPUSH"), []byte("q"), []byte("e")}
				inside.Call(0, push, func(resp.Reply) {})
				receive(t, waiter, "*2\r\n$1\r\nq\r\n$1\r\ne\r\n")
				receive(t, waiter, "$5\r\nafter\r\n")
				if err := await(t, "Shutdown", ended); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestShutdownAnswersWhatAClientHasPipelined(t *testing.T) {
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			srv := start(t, lockredis.Config{})
			c := dial(t, srv)
			expect(t, c, "SET k "+strings.Repeat("v", 1000), "+OK\r\n")
			const n = 3000 // 3 MB of replies, which the client reads only after Shutdown began
			var all strings.Builder
			all.WriteString("SET arrived yes\r\n")
			for range n {
				all.WriteString("GET k\r\n")
			}
			if err := c.WriteRaw([]byte(all.String())); err != nil {
				t.Fatal(err)
			}
			awaitKey(t, srv, "arrived") // Shutdown closes a connection without input
			ended := shutdownBegun(t, srv, t.Context())
			receive(t, c, "+OK\r\n")
			for i := range n {
				if _, err := c.Receive(); err != nil {
					t.Fatalf("reply %d: %v", i, err)
				}
			}
			expectClosed(t, c)
			if err := await(t, "Shutdown", ended); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestShutdownUnderLoadBreaksOffNoReply(t *testing.T) {
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			srv := start(t, lockredis.Config{})
			const clients = 20
			ends := make(chan error, clients)
			for i := range clients {
				c := dial(t, srv)
				go func() {
					for n := 1; ; n++ {
						v, err := c.Do("INCR", fmt.Sprint("n", i))
						if got, _ := v.Int(); err == nil && got != int64(n) {
							err = fmt.Errorf("reply %d is %q", n, v.Raw)
						}
						if err != nil {
							ends <- err
							return
						}
					}
				}()
			}
			probe := pipe(t, srv)
			eventually(t, "all clients run", func() bool {
				v, err := probe.Do("DBSIZE")
				n, _ := v.Int()
				return err == nil && n == clients
			})
			shutdown(t, srv)
			for range clients {
				err := <-ends
				closed := wire.IsClosed(err) || errors.Is(err, io.ErrClosedPipe)
				if !closed || strings.Contains(err.Error(), "inside a reply") {
					t.Errorf("a client ended with %v", err)
				}
			}
		})
	}
}

func TestShutdownClosesHungClientsWhenItsContextEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, hang := range map[string][]string{
		"blocked": {"BLPOP", "q", "0"},
		"busy":    {"EVAL", endless, "0"},
		"held":    {"CLIENT", "PAUSE", "1000000"},
	} {
		srv := lockredis.New(lockredis.Config{
			Directives: map[string]string{"busy-reply-threshold": "20"},
		})
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		c, err := wire.Dial(srv.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		expect(t, c, "PING", "+PONG\r\n")
		c.SendAll([]string{"SET", "arrived", "yes"}, hang, []string{"SET", "k", "v"})
		if name == "held" {
			receive(t, c, "+OK\r\n")
			receive(t, c, "+OK\r\n")
		} else {
			awaitKey(t, srv, "arrived") // Shutdown closes a connection without input
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := shutdownBegun(t, srv, ctx)
		for range 100 {
			still(t, "Shutdown with a client that is "+name, ended)
			time.Sleep(time.Millisecond) // Shutdown must not return in this time
		}
		cancel()
		if err := await(t, "Shutdown", ended); err != context.Canceled {
			t.Errorf("Shutdown with a client that is %s: %v", name, err)
		}
		if _, closed, err := c.ReadQuiet(patience); !closed {
			t.Errorf("a client that was %s is still connected: %v", name, err)
		}
	}
}

func TestShutdownGivesAClientThatDoesNotReadUntilTheContextEnds(t *testing.T) {
	srv := startBusy(t)
	deaf := dialClient(t, srv)
	deaf.send("SET k " + strings.Repeat("v", 60_000))
	deaf.want("+OK")
	// The replies are more than socket buffers hold.
	io.WriteString(deaf, "SET arrived yes\r\n"+strings.Repeat("GET k\r\n", 500))
	awaitKey(t, srv, "arrived")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := srv.Shutdown(ctx); err != context.DeadlineExceeded {
		t.Fatalf("Shutdown returned %v", err)
	}
}

func TestShutdownAndCloseMayBeCalledTogetherAndAgain(t *testing.T) {
	defer goleak.VerifyNone(t)
	for round := range 20 {
		srv := lockredis.New(lockredis.Config{})
		if err := srv.Start(); err != nil {
			t.Fatal(err)
		}
		c, err := wire.Dial(srv.Addr())
		if err != nil {
			t.Fatal(err)
		}
		expect(t, c, "PING", "+PONG\r\n")
		c.Send("BLPOP", "q", "0")
		ends := make(chan error, 4)
		for i := range 4 {
			go func() {
				if i == round%4 {
					ends <- srv.Close()
				} else {
					ends <- srv.Shutdown(context.Background())
				}
			}()
		}
		for range 4 {
			if err := await(t, "Shutdown or Close", ends); err != nil {
				t.Fatal(err)
			}
		}
		shutdown(t, srv)
		srv.Close()
		c.Close()
	}
}

func TestShutdownOfAServerThatWasNotStartedClosesIt(t *testing.T) {
	srv := lockredis.New(lockredis.Config{})
	shutdown(t, srv)
	if err := srv.Start(); err == nil {
		t.Fatal("started after Shutdown")
	}
}

func TestSettingsOfARedisConf(t *testing.T) {
	settings, err := lockredis.ParseSettings([]string{"-", "--maxclients", "7"},
		strings.NewReader("port auto\nbind 127.0.0.1\nmaxclients 5\ntimeout 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	srv := start(t, lockredis.Config{
		Settings: settings, Directives: map[string]string{"timeout": "11"},
	})
	c := dial(t, srv)
	expect(t, c, "CONFIG GET maxclients", "*2\r\n$10\r\nmaxclients\r\n$1\r\n7\r\n")
	if got, want := ask(t, c, "CONFIG", "GET", "PORT"), "PORT\n"+portOf(t, srv.Addr()); got != want {
		t.Errorf("with port auto CONFIG GET replies %q, want %q", got, want)
	}
	expect(t, c, "CONFIG GET timeout", "*2\r\n$7\r\ntimeout\r\n$2\r\n11\r\n")
	err = lockredis.New(lockredis.Config{Settings: settings}).Start()
	if err == nil || !strings.Contains(err.Error(), "another server") {
		t.Fatalf("one Settings for two servers: %v", err)
	}
	if _, err := lockredis.ParseSettings([]string{"--nonsense", "1"}, nil); err == nil {
		t.Fatal("a wrong directive was accepted")
	}
}

func ExampleServer_Shutdown() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	srv := lockredis.New(lockredis.Config{})
	ended := make(chan error)
	go func() { ended <- srv.Serve(ln) }()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fmt.Println(srv.Shutdown(ctx), <-ended)
	// Output: <nil> lockredis: server closed
}

// noAddr is a listener of a program's own without addresses.
type noAddr struct{ net.Listener }

func (noAddr) Addr() net.Addr { return nil }

func (l noAddr) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return noAddrConn{nc}, err
}

type noAddrConn struct{ net.Conn }

func (noAddrConn) LocalAddr() net.Addr  { return nil }
func (noAddrConn) RemoteAddr() net.Addr { return nil }

func TestServeTakesAListenerWithoutAnAddress(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := lockredis.New(lockredis.Config{
		Directives: map[string]string{"protected-mode": "no"}, // it cannot tell that the client is local
	})
	served := make(chan error)
	go func() { served <- srv.Serve(noAddr{ln}) }()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write([]byte("PING\r\n"))
	reply := make([]byte, 7)
	if _, err := io.ReadFull(nc, reply); err != nil || string(reply) != "+PONG\r\n" {
		t.Errorf("%q %v", reply, err)
	}
	srv.Close()
	if err := <-served; !errors.Is(err, lockredis.ErrServerClosed) {
		t.Errorf("Serve returned %v", err)
	}
}

func TestTheZeroSettingsHaveTheDefaults(t *testing.T) {
	srv := lockredis.New(lockredis.Config{Settings: &lockredis.Settings{}, NoSocket: true})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	srv.Close()
}

// The server may not have seen the connection when Shutdown is called.
func TestShutdownAnswersWhatAFreshConnectionHasSent(t *testing.T) {
	for range 100 {
		srv := start(t, lockredis.Config{})
		c := pipe(t, srv)
		const n = 20
		if err := c.WriteRaw([]byte(strings.Repeat("INCR k\r\n", n))); err != nil {
			t.Fatal(err)
		}
		shutdown(t, srv)
		for i := range n {
			receive(t, c, fmt.Sprintf(":%d\r\n", i+1))
		}
		expectClosed(t, c)
	}
}

func TestShutdownWaitsForAFreshConnectionThatBlocks(t *testing.T) {
	srv := start(t, lockredis.Config{})
	c := pipe(t, srv)
	c.SendAll([]string{"BLPOP", "q", "0"})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := srv.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Shutdown returned %v", err)
	}
}
