package persistence

import (
	"testing"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
	"github.com/lockredis/lockredis/internal/redistest"
)

// client is a connection whose commands must succeed.
type client struct {
	*wire.Conn
	t    *testing.T
	name string
}

func dial(t *testing.T, name, addr string) *client {
	t.Helper()
	return &client{redistest.Dial(t, addr), t, name}
}

// ask sends a command and returns its reply, which may be an error reply.
func (c *client) ask(args ...string) wire.Value {
	c.t.Helper()
	v, err := c.Do(args...)
	if err != nil {
		c.t.Fatalf("%s: %.200q: %v", c.name, args, err)
	}
	return v
}

// do sends a command, which must succeed, and returns the text of its reply.
func (c *client) do(args ...string) string {
	c.t.Helper()
	v := c.ask(args...)
	if v.IsError() {
		c.t.Fatalf("%s: %.200q: %s", c.name, args, v)
	}
	return string(v.Str)
}

// startOracle starts a redis-server for the test. Without redis-server the test skips.
func startOracle(t *testing.T, args ...string) *client {
	t.Helper()
	args = append([]string{"--enable-debug-command", "yes"}, args...)
	return dial(t, "redis-server", redistest.Start(t, args...).Addr)
}

// startLockredis starts a lockredis in the test's process.
func startLockredis(t *testing.T, directives map[string]string) *client {
	t.Helper()
	all := map[string]string{"enable-debug-command": "yes"}
	for name, value := range directives {
		all[name] = value
	}
	srv := lockredis.New(lockredis.Config{Directives: all})
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return dial(t, "lockredis", srv.Addr())
}
