package server

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/testcert"
)

// newTestServer returns a running server without listeners.
func newTestServer(t *testing.T) *Server {
	s := New(Options{
		Config: config.New(), Clock: expiry.System(), Log: slog.New(slog.DiscardHandler),
	})
	s.Start()
	t.Cleanup(func() { s.Close() })
	return s
}

func TestAWakeBeforeTheIdleTimeoutIsSetStillInterruptsTheRead(t *testing.T) {
	s := newTestServer(t)
	s.cfg.Timeout.Store(3600)
	_, end := newPipe(1)
	g := newConn(s, end).link.(*ownGoroutine)
	defer g.wake.abandon()
	g.wake.set()
	g.interrupt()
	g.armIdleTimeout()
	read := make(chan error, 1)
	go func() { _, err := g.nc.Read(make([]byte, 1)); read <- err }()
	select {
	case err := <-read:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read blocks although the connection was woken")
	}
}

func TestATLSHandshakeSucceedsWithinTheTimeoutDirective(t *testing.T) {
	s := newTestServer(t)
	s.cfg.Timeout.Store(60)
	authority, err := testcert.New("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("localhost")
	if err != nil {
		t.Fatal(err)
	}
	client, end := newPipe(1)
	defer client.Close()
	go tls.Client(client, &tls.Config{InsecureSkipVerify: true}).Handshake()
	socket := &tlsSocket{Conn: end, now: newNowWriter(end)}
	server := tls.Server(socket, &tls.Config{Certificates: []tls.Certificate{pair.TLS}})
	if err := s.handshake(&tlsConn{Conn: server, socket: socket}); err != nil {
		t.Fatal(err)
	}
}

// ping sends a PING and waits for its reply.
func ping(t *testing.T, nc net.Conn) {
	t.Helper()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 16)
	if n, err := nc.Read(b); string(b[:n]) != "+PONG\r\n" {
		t.Fatalf("read %q, %v", b[:n], err)
	}
}
