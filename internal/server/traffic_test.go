package server

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

func TestTheBuffersOfAllConnectionsAreCounted(t *testing.T) {
	s := newTestServer(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(ln)
	for kind, dial := range map[string]func() (net.Conn, error){
		"socket": func() (net.Conn, error) { return net.Dial("tcp", ln.Addr().String()) },
		"pipe":   func() (net.Conn, error) { return s.Dial(context.Background()) },
	} {
		t.Run(kind, func(t *testing.T) { countedFor(t, s, dial) })
	}
}

func countedFor(t *testing.T, s *Server, dial func() (net.Conn, error)) {
	buffers := func(least, most int64) {
		t.Helper()
		end := time.Now().Add(10 * time.Second)
		for {
			n := (*host)(s).Buffers()
			if least <= n && n <= most {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d bytes are counted, want %d to %d", n, least, most)
			}
			<-time.After(time.Millisecond)
		}
	}
	const large, small = 1 << 20, 64 << 10
	value := strings.Repeat("x", large)
	buffers(0, 0)
	nc, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	ping(t, nc)
	set := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n", len(value), value)
	nc.Write([]byte(set[:len(set)-2]))
	buffers(large, large+small) // the frame's end is known
	nc.Write([]byte("\r\n"))
	reply(t, nc, "+OK\r\n")
	buffers(0, small)
	const gets = 20
	nc.Write([]byte(strings.Repeat("GET k\r\n", gets)))
	buffers(large, 2*gets*large) // what neither end's socket holds
	reply(t, nc, strings.Repeat(fmt.Sprintf("$%d\r\n%s\r\n", len(value), value), gets))
	buffers(0, small)
	nc.Write([]byte("MGET k k k\r\n"))
	nc.Close()
	buffers(0, 0)
}

// reply reads a reply.
func reply(t *testing.T, nc net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	for n := 0; n < len(got); {
		m, err := nc.Read(got[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if string(got) != want {
		t.Fatalf("read %.50q", got)
	}
}
