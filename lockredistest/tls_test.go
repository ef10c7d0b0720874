package lockredistest_test

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockredis/lockredis/lockredistest"
	"github.com/lockredis/lockredis/rlock"
)

func TestAClientLocksOverTLS(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.TLS(), lockredistest.Password("sesame"))
	c := rlock.New(srv.Client(), rlock.Options{})
	defer c.Close(t.Context())
	h, err := c.Lock("orders").Acquire(t.Context(), rlock.Wait(time.Second), rlock.Lease(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestATLSPortTakesAURLAndNoPlainText(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.TLS())
	opts, err := redis.ParseURL("rediss://" + srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	opts.TLSConfig = srv.TLSConfig()
	rdb := redis.NewClient(opts)
	defer rdb.Close()
	if err := rdb.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	plain, err := net.Dial("tcp", srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	plain.Write([]byte("PING\r\n"))
	answer := make([]byte, 100)
	if n, _ := plain.Read(answer); n > 0 && answer[0] == '+' {
		t.Fatalf("the TLS port answers %q in plain text", answer[:n])
	}
	if stranger, err := tls.Dial("tcp", srv.Addr(), &tls.Config{}); err == nil {
		stranger.Close()
		t.Fatal("a client without the authority trusts the server")
	}
	if lockredistest.RunT(t).TLSConfig() != nil {
		t.Fatal("a server without TLS returned a TLSConfig")
	}
}

func TestRestartServesTLSOnTheSamePort(t *testing.T) {
	srv := lockredistest.RunT(t, lockredistest.TLS())
	addr, rdb := srv.Addr(), srv.Client()
	rdb.Set(t.Context(), "k", "v", 0)
	srv.LoseReply(lockredistest.Match{Command: "get"})
	for range 2 {
		if err := srv.Restart(); err != nil || srv.Addr() != addr {
			t.Fatal(srv.Addr(), err)
		}
		if v, err := rdb.Get(t.Context(), "k").Result(); v != "v" || err != nil {
			t.Error(v, err)
		}
	}
}
