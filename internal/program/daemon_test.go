//go:build unix

package program

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockredis/lockredis/internal/config"
)

// daemon FILE COMMAND… runs a command that starts a daemon, and checks that the daemon has
// written its process id and has a session of its own. FILE is the pidfile or the logfile. If it
// is there at the end of the script, the daemon is killed. "! daemon" runs a command that fails.
func daemonOf(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Defer(func() {
		if pid, err := processID(path); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	if err := ts.Exec(args[1], args[2:]...); (err != nil) != neg {
		ts.Fatalf("%v: %v", args[1:], err)
	}
	pid, err := processID(path)
	if neg {
		if err == nil {
			ts.Fatalf("the daemon has failed and left its pidfile")
		}
		return
	}
	ts.Check(err)
	group, err := syscall.Getpgid(pid)
	ts.Check(err)
	if group != pid {
		ts.Fatalf("the daemon %d is in the process group %d", pid, group)
	}
}

// systemd sets NOTIFY_SOCKET to a socket that takes messages.
func systemd(ts *testscript.TestScript, _ bool, _ []string) {
	dir, err := os.MkdirTemp("", "notify") // a short path: the name of a socket has 100 bytes
	ts.Check(err)
	ts.Defer(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	ts.Check(err)
	ts.Defer(func() { conn.Close() })
	ts.Setenv("NOTIFY_SOCKET", path)
}

func TestADaemonHasAPidfileByDefault(t *testing.T) {
	for given, want := range map[string]string{"": "/var/run/redis.pid", "my.pid": "my.pid"} {
		set, err := config.Parse([]string{"-"}, strings.NewReader("pidfile \""+given+"\""))
		if err != nil {
			t.Fatal(err)
		}
		d := &daemon{sum: sumOf(set), input: io.NopCloser(strings.NewReader(""))}
		if err := d.adopt(set); err != nil || set.PIDFile != want || set.Get("pidfile") != want {
			t.Errorf("pidfile %q becomes %q, error %v", given, set.PIDFile, err)
		}
	}
}

// The launcher has read a pipe to its end, so the daemon reads another configuration.
func TestADaemonWithAnotherConfigurationFails(t *testing.T) {
	sum := func(text string) string {
		set, err := config.Parse([]string{"-", "--port", "0"}, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return sumOf(set)
	}
	given := sum("databases 3")
	if given == sum("") || given != sum("databases 3") {
		t.Error("the checksum does not follow the configuration")
	}
	d := &daemon{sum: given, input: io.NopCloser(strings.NewReader(""))}
	if err := d.adopt(config.New()); !errors.Is(err, errReadOnce) {
		t.Error(err)
	}
}
