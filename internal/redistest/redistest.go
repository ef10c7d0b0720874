package redistest

import "testing"

// Version is the redis-server that replies are compared with: config.RedisVersion, which
// is not imported because bench/rlock has no other need of that package.
const Version = "7.0.15"

// Start starts a redis-server of Version on a TCP port for the length of the test and
// waits until it answers. Arguments are directives as a command line has them:
// "--hz", "500". A missing redis-server skips the test, see Missing.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return startVersion(tb, Command{Args: args})
}

// StartSocket is Start with a Unix socket in place of the TCP port.
func StartSocket(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return startVersion(tb, Command{Args: args, Socket: true})
}

func startVersion(tb testing.TB, c Command) *Server {
	tb.Helper()
	s := Run(tb, c)
	if err := s.CheckVersion(); err != nil {
		tb.Fatal(err)
	}
	return s
}

// Run starts any server for the length of the test and waits until it answers. It
// checks no version. When the test fails, the end of the server's log is in the
// test's output.
func Run(tb testing.TB, c Command) *Server {
	tb.Helper()
	if c.Program == "" {
		c.Program = Find(tb)
	}
	s, err := c.Start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("log of %s on %s:\n%s", s.program, s.Addr, s.Log())
		}
		s.Stop()
	})
	if err := s.Await(); err != nil {
		tb.Fatal(err)
	}
	return s
}
