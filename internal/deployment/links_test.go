package deployment

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
)

func TestACutLinkBreaksItsConnectionsAndRefusesNewOnes(t *testing.T) {
	var links Links
	links.Add(1, "one:1", func(context.Context) (net.Conn, error) { here, _ := net.Pipe(); return here, nil })
	links.Add(2, "two:2", func(context.Context) (net.Conn, error) { here, _ := net.Pipe(); return here, nil })
	dial := func(from int, addr string) (net.Conn, error) {
		return links.Dialer(from)(t.Context(), "tcp", addr)
	}
	one, err := dial(2, "one:1")
	if err != nil {
		t.Fatal(err)
	}
	other, err := dial(Sentinels, "one:1")
	if err != nil {
		t.Fatal(err)
	}
	links.Cut(1, 2)
	if _, err := one.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	for from, addr := range map[int]string{2: "one:1", 1: "two:2"} {
		if _, err := dial(from, addr); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("%d dials %s: %v", from, addr, err)
		}
	}
	if len(links.open) != 1 {
		t.Errorf("%d connections are open, want that of the Sentinels", len(links.open))
	}
	other.Close()
	links.Heal(2, 1)
	again, err := dial(1, "two:2")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if len(links.open) != 0 {
		t.Errorf("%d connections are open, want none", len(links.open))
	}
}

func TestAnUnknownAddressIsDialedByTCP(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var links Links
	c, err := links.Dialer(0)(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
