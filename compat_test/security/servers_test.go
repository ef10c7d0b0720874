package security

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onBoth runs the body on a lockredis and on a redis-server, both started with the same
// command-line arguments. addr is the plain-text port.
func onBoth(t *testing.T, args []string, body func(t *testing.T, addr string)) {
	t.Helper()
	t.Run("lockredis", func(t *testing.T) { body(t, startLockredis(t, args...)) })
	t.Run("redis-server", func(t *testing.T) { body(t, redistest.Start(t, args...).Addr) })
}

// startLockredis starts a lockredis in this process for the length of the test.
func startLockredis(t *testing.T, args ...string) (addr string) {
	t.Helper()
	args = append([]string{"--port", "auto", "--bind", "127.0.0.1", "--dir", t.TempDir()}, args...)
	set, err := lockredis.ParseSettings(args, nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := lockredis.New(lockredis.Config{Settings: set})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv.Addr()
}

// freePort returns a port on which no server listens. It is for the TLS port, which a
// server cannot choose itself.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := redistest.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// ask sends a command, given as one line, and returns the reply's bytes.
func ask(t *testing.T, c *wire.Conn, command string) string {
	t.Helper()
	words, err := wire.Split(command)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Do(words...)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return string(v.Raw)
}

// poll waits until done returns true.
func poll(t *testing.T, what string, done func() bool) {
	t.Helper()
	if !redistest.Poll(time.Minute, done) {
		t.Fatal("did not happen within a minute: " + what)
	}
}

// has reports whether a reply has the text.
func has(reply, text string) bool { return strings.Contains(reply, text) }
