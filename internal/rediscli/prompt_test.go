package rediscli

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/lockredis/lockredis"
)

func TestATerminalGetsAPromptWithAddressAndDatabase(t *testing.T) {
	srv := lockredis.New(lockredis.Config{})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	s := &session{prompting: true,
		Process: Process{Stdout: &stdout, Stderr: &stderr,
			Stdin: strings.NewReader("ping\nselect 3\nclient kill type normal skipme no\n" +
				"get a\nshutdown nosave\nquit\n")},
		options: &options{host: "127.0.0.1", port: number, repeat: 1, standard: true}}
	s.connect()
	if status := s.lines(); status != 0 {
		t.Errorf("status %d", status)
	}
	at := "127.0.0.1:" + port
	want := at + "> PONG\n" + at + "> OK\n" + at + "[3]> (integer) 1\n" +
		at + "[3]> " + "not connected> not connected> "
	if got := stdout.String(); got != want {
		t.Errorf("stdout %q, want %q", got, want)
	}
	// The next command finds the connection closed before or after it was written.
	switch got := stderr.String(); got {
	case "Error: Server closed the connection\n", "Error: Connection reset by peer\n",
		"Error: Broken pipe\n":
	default:
		t.Errorf("stderr %q", got)
	}
}
