package security

import (
	"crypto/tls"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/internal/redistest"
	"github.com/lockredis/lockredis/internal/stall"
)

// startTLS starts a lockredis with a TLS port and returns both addresses.
func startTLS(t *testing.T, k *keys, more ...string) (srv *lockredis.Server) {
	t.Helper()
	args := append(k.args("auto", "--port", "auto", "--bind", "127.0.0.1"), more...)
	set, err := lockredis.ParseSettings(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv = lockredis.New(lockredis.Config{Settings: set})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv
}

// silent connects and sends nothing.
func silent(t *testing.T, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(time.Minute))
	return nc
}

func TestSilentHandshakesDelayNoClientAndEndWithTheTimeout(t *testing.T) {
	redistest.SkipUnlessWhole(t) // the timeout is 5 s
	k := newKeys(t)
	srv := startTLS(t, k, "--timeout", "5") // a handshake beside them takes less on a busy machine
	var mute []net.Conn
	for range 50 {
		mute = append(mute, silent(t, srv.TLSAddr()))
	}
	half := silent(t, srv.TLSAddr())
	half.Write([]byte{22, 3, 1, 2, 0, 1}) // the beginning of a handshake's record
	if err := pings(t, srv.TLSAddr(), k.config(k.client)); err != nil {
		t.Errorf("beside silent ones: %v", err)
	}
	for _, nc := range append(mute, half) {
		if n, err := io.Copy(io.Discard, nc); n > 100 || isTimeout(err) {
			t.Fatalf("%d bytes, then %v", n, err)
		}
	}
}

func isTimeout(err error) bool {
	n, ok := err.(net.Error)
	return ok && n.Timeout()
}

func TestHandshakesUnderWayCountAsClients(t *testing.T) {
	k := newKeys(t)
	srv := startTLS(t, k, "--maxclients", "3")
	plain := redistest.Dial(t, srv.Addr())
	ask(t, plain, "PING")
	a, b := silent(t, srv.TLSAddr()), silent(t, srv.TLSAddr())
	if n, err := silent(t, srv.TLSAddr()).Read(make([]byte, 1)); n > 0 || err == nil ||
		isTimeout(err) {
		t.Errorf("one handshake too many: %d %v", n, err)
	}
	if got, err := redistest.Dial(t, srv.Addr()).Receive(); err != nil ||
		string(got.Raw) != "-ERR max number of clients reached\r\n" {
		t.Errorf("one client too many: %s %v", got, err)
	}
	if got := ask(t, plain, "INFO stats"); !has(got, "rejected_connections:2\r\n") ||
		!has(got, "total_connections_received:1\r\n") {
		t.Error(got)
	}
	a.Close()
	b.Close()
	poll(t, "that new clients are accepted again", func() bool {
		return pings(t, srv.TLSAddr(), k.config(k.client)) == nil
	})
}

func TestCloseEndsHandshakesUnderWay(t *testing.T) {
	k := newKeys(t)
	srv := startTLS(t, k)
	nc := silent(t, srv.TLSAddr())
	if err := pings(t, srv.TLSAddr(), k.config(k.client)); err != nil { // accepted behind it
		t.Fatal(err)
	}
	clock := stall.Watch(t)
	srv.Close()
	if took := clock.Running(); took > 5*time.Second {
		t.Errorf("Close took %s", took)
	}
	if _, err := nc.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the silent one: %v", err)
	}
}

// A client that does not read cannot receive the end of the TLS stream. CLIENT KILL must
// not wait for it.
func TestKillingAClientThatDoesNotReadDoesNotWait(t *testing.T) {
	k := newKeys(t)
	srv := startTLS(t, k)
	plain, deaf := redistest.Dial(t, srv.Addr()), mustDialTLS(t, k, srv.TLSAddr())
	ask(t, plain, "SET big "+string(make([]byte, 1<<20)))
	commands := slices.Repeat([][]string{{"GET", "big"}}, 8)
	commands = append([][]string{{"CLIENT", "SETNAME", "deaf"}}, commands...)
	if err := deaf.SendAll(commands...); err != nil {
		t.Fatal(err)
	}
	poll(t, "that replies pile up", func() bool {
		return has(ask(t, plain, "CLIENT LIST"), "name=deaf")
	})
	clock := stall.Watch(t)
	ask(t, plain, "CLIENT KILL LADDR "+srv.TLSAddr())
	ask(t, plain, "PING")
	if took := clock.Running(); took > 3*time.Second {
		t.Errorf("CLIENT KILL and PING took %s", took)
	}
	poll(t, "that the client is gone", func() bool {
		return !has(ask(t, plain, "CLIENT LIST"), "name=deaf")
	})
}

func TestServerSendsTheEndOfTheStream(t *testing.T) {
	withTLS(t, nil, func(t *testing.T, k *keys, _, secure string) {
		nc, err := tls.Dial("tcp", secure, k.config(k.client))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.Write([]byte("QUIT\r\n"))
		nc.SetDeadline(time.Now().Add(time.Minute))
		if got, err := io.ReadAll(nc); string(got) != "+OK\r\n" || err != nil {
			t.Errorf("%q, then %v", got, err) // without close_notify this is an unexpected EOF
		}
	})
}

func TestProgramsUseTheirOwnCertificates(t *testing.T) {
	k := newKeys(t)
	pair := issue(t, k.authority, "program")
	srv := lockredis.New(lockredis.Config{TLS: &tls.Config{Certificates: []tls.Certificate{pair.TLS}}})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	if srv.Addr() != srv.TLSAddr() || len(srv.Addrs()) != 1 {
		t.Errorf("addresses %v, TLS %s", srv.Addrs(), srv.TLSAddr())
	}
	more, err := srv.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{srv.Addr(), more} {
		c, err := dialTLS(t, addr, k.config())
		if err != nil {
			t.Fatal(err)
		}
		got := ask(t, c, "CONFIG SET tls-auth-clients optional")
		if !has(got, "Unable to update TLS configuration") {
			t.Errorf("CONFIG SET changes TLS that the program configured: %s", got)
		}
	}
}
