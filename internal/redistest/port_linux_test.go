package redistest

import (
	"net"
	"testing"

	"github.com/lockredis/lockredis/compat_test/wire"
)

func TestFreePortIsKeptForTheServerThatAsksForIt(t *testing.T) {
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", port)
	for range 2 { // a server, and its restart
		if _, ok := reserve(number); ok {
			t.Error("another FreePort took the port")
		}
		if _, err := net.Dial("tcp", addr); err == nil {
			t.Error("connected to a port without a server")
		}
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatalf("a server of this process: %v", err)
		}
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := reserve(number); ok {
			t.Error("another FreePort took the port of a server")
		}
		nc.Close()
		ln.Close()
	}
	s := Run(t, Command{Args: []string{"--port", port}, Addr: addr})
	if c, err := wire.Dial(s.Addr); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
}
