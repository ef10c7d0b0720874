package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"
)

// serve returns a Conn to a server that answers the first bytes that arrive with reply,
// and then closes.
func serve(t *testing.T, reply string) *Conn {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer server.Close()
		buf := make([]byte, 4096)
		if _, err := server.Read(buf); err != nil {
			return
		}
		io.WriteString(server, reply)
	}()
	c := NewConn(client)
	t.Cleanup(func() { c.Close(); <-done })
	return c
}

func TestRepliesRenderWithoutLoss(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{"+OK\r\n", `+OK`},
		{"-ERR a\tb\r\n", `-ERR a\tb`},
		{":-12\r\n", `:-12`},
		{"$3\r\na\x00\"\r\n", `"a\x00\""`},
		{"$0\r\n\r\n", `""`},
		{"$-1\r\n", `(nil)`},
		{"*-1\r\n", `(nil array)`},
		{"*0\r\n", `[]`},
		{"*2\r\n$1\r\na\r\n*1\r\n:1\r\n", `["a" [:1]]`},
		{"_\r\n", `(null)`},
		{",1.5\r\n", `,1.5`},
		{"#t\r\n", `#t`},
		{"(123\r\n", `(123`},
		{"=7\r\ntxt:abc\r\n", `="txt:abc"`},
		{"!5\r\nERR x\r\n", `!"ERR x"`},
		{"%1\r\n+k\r\n:1\r\n", `%{+k => :1}`},
		{"~2\r\n:1\r\n:2\r\n", `~{:1 :2}`},
		{">2\r\n+a\r\n+b\r\n", `>[+a +b]`},
		{"*3\r\n-ERR a b\r\n+OK\r\n+\r\n", `[-"ERR a b" +OK +""]`},
		{"|1\r\n+k\r\n+v\r\n:9\r\n", `|{+k => +v} :9`},
	} {
		v, err := serve(t, tc.raw).Do("PING")
		if err != nil {
			t.Errorf("%q: %v", tc.raw, err)
			continue
		}
		if v.String() != tc.want || string(v.Raw) != tc.raw {
			t.Errorf("%q renders as %s (raw %q), want %s", tc.raw, v, v.Raw, tc.want)
		}
	}
}

func TestWideReplyBreaksIntoLines(t *testing.T) {
	v, err := serve(t, "%2\r\n$1\r\na\r\n*2\r\n:1\r\n:2\r\n$1\r\nb\r\n$3\r\nxyz\r\n").Do("X")
	if err != nil {
		t.Fatal(err)
	}
	want := "%{\n  \"a\" => [:1 :2]\n  \"b\" => \"xyz\"}"
	if got := v.Pretty(16); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMalformedRepliesAreErrors(t *testing.T) {
	for _, raw := range []string{"?\r\n", "\r\n", "+OK\n", "$x\r\n",
		"$2\r\nabc\r\n", "*1\r\n", "$5\r\nab", "*-2\r\n"} {
		if v, err := serve(t, raw).Do("PING"); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q gave %s, %v", raw, v, err)
		}
	}
}

func TestDeadlineBetweenRepliesLeavesTheConnectionUsable(t *testing.T) {
	client, server := net.Pipe()
	defer server.Close()
	c := NewConn(client)
	defer c.Close()
	if _, err := c.ReceiveWithin(time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	go io.WriteString(server, "+late\r\n")
	if v, err := c.Receive(); err != nil || v.String() != "+late" {
		t.Fatalf("got %s, %v", v, err)
	}
}

func TestReadQuietReportsAClosedConnection(t *testing.T) {
	c := serve(t, "-ERR x\r\n")
	if err := c.WriteRaw([]byte("?")); err != nil {
		t.Fatal(err)
	}
	got, closed, err := c.ReadQuiet(time.Second)
	if string(got) != "-ERR x\r\n" || !closed || err != nil {
		t.Fatalf("got %q, %v, %v", got, closed, err)
	}
}

func TestSplitReadsWhatQuoteWrites(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	got, err := Split("SET " + Quote(every) + ` 'it\'s \n' ""`)
	if want := []string{"SET", string(every), `it's \n`, ""}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %q, %v", got, err)
	}
	for _, bad := range []string{`"a`, `'a`, `"a"b`} {
		if got, err := Split(bad); !errors.Is(err, ErrQuotes) {
			t.Errorf("%s gave %q, %v", bad, got, err)
		}
	}
}
