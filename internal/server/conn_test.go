package server

import (
	"bytes"
	"testing"
	"time"
)

func TestAClientThatLeavesMuchInputCallsFreed(t *testing.T) {
	s := newTestServer(t)
	calls := make(chan struct{}, 10)
	s.cfg.Freed = func() { calls <- struct{}{} }
	leave := func(input []byte) {
		t.Helper()
		nc, err := s.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ping(t, nc)
		nc.Write(input)
		nc.Close()
	}
	leave([]byte("SET k"))
	value := bytes.Repeat([]byte("x"), largeBuffer)
	leave(append([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9000000\r\n"), value...))
	select {
	case <-calls:
	case <-time.After(10 * time.Second):
		t.Fatal("no call")
	}
	s.Close()
	if n := len(calls); n != 0 {
		t.Errorf("%d calls more", n)
	}
}
