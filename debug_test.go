package lockredis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/compat_test/wire"
)

// dialDebug returns a client of a server that allows DEBUG.
func dialDebug(t *testing.T) *wire.Conn {
	t.Helper()
	return dial(t, start(t, lockredis.Config{Directives: map[string]string{"enable-debug-command": "yes"}}))
}

// answer returns the bytes of the reply to a command.
func answer(t *testing.T, c *wire.Conn, line string) string {
	t.Helper()
	v, err := c.Do(strings.Fields(line)...)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Raw)
}

func TestDebugRefusesWhatWouldEndTheProcess(t *testing.T) {
	c := dialDebug(t)
	for _, sub := range []string{"PANIC", "SEGFAULT", "ASSERT", "OOM", "panic now"} {
		if got := answer(t, c, "DEBUG "+sub); !strings.HasPrefix(got, "-ERR DEBUG "+strings.ToUpper(sub[:3])) {
			t.Errorf("DEBUG %s: %q", sub, got)
		}
	}
	for _, sub := range []string{"RESTART", "RESTART 10", "CRASH-AND-RECOVER", "CRASH-AND-RECOVER -1"} {
		expect(t, c, "DEBUG "+sub, "-ERR failed to restart the server. Check server logs.\r\n")
	}
	expect(t, c, "PING", "+PONG\r\n")
}

func TestDebugPopulateRefusesMoreThanTheMemory(t *testing.T) {
	c := dialDebug(t)
	for _, line := range []string{"9223372036854775807", "1000000000000 k", "1 k 9223372036854775807", "100 k 2147483647"} {
		if got := answer(t, c, "DEBUG POPULATE "+line); !strings.Contains(got, "more memory than there is") {
			t.Errorf("POPULATE %s: %q", line, got)
		}
	}
	expect(t, c, "DBSIZE", ":0\r\n")
	expect(t, c, "DEBUG POPULATE 10000", "+OK\r\n")
	expect(t, c, "DBSIZE", ":10000\r\n")
}

func TestDebugHTStatsCountsEveryItemOnce(t *testing.T) {
	c := dialDebug(t)
	expect(t, c, "DEBUG POPULATE 5000", "+OK\r\n")
	expect(t, c, "PEXPIRE key:0 1000000", ":1\r\n")
	got := answer(t, c, "DEBUG HTSTATS 0")
	if !strings.Contains(got, "[Dictionary HT]\nHash table 0 stats (main hash table):\n table size: ") ||
		!strings.Contains(got, "\n number of elements: 5000\n") ||
		!strings.Contains(got, "[Expires HT]\nHash table 0 stats (main hash table):\n table size: 1\n number of elements: 1\n") {
		t.Errorf("HTSTATS: %s", got)
	}
	expect(t, c, "SADD set m1 m2", ":2\r\n")
	if got := answer(t, c, "DEBUG HTSTATS-KEY set"); !strings.Contains(got, "\n number of elements: 2\n") {
		t.Errorf("HTSTATS-KEY: %s", got)
	}
}

func TestDebugChangeReplIDChangesTheIDInInfo(t *testing.T) {
	c := dialDebug(t)
	id := func() string {
		_, rest, _ := strings.Cut(answer(t, c, "INFO replication"), "master_replid:")
		line, _, _ := strings.Cut(rest, "\r\n")
		return line
	}
	before := id()
	expect(t, c, "DEBUG CHANGE-REPL-ID", "+OK\r\n")
	if after := id(); len(after) != 40 || after == before {
		t.Errorf("was %q and is %q", before, after)
	}
}

func TestDebugStringmatchTestAndHelpAnswer(t *testing.T) {
	c := dialDebug(t)
	expect(t, c, "DEBUG STRINGMATCH-TEST", "+Apparently Redis did not crash: test passed\r\n")
	expect(t, c, "DEBUG CONFIG-REWRITE-FORCE-ALL",
		"-ERR CONFIG-REWRITE-FORCE-ALL failed: The server is running without a config file\r\n")
	if got := answer(t, c, "DEBUG HELP"); !strings.Contains(got, "POPULATE <count> [<prefix>] [<size>]") {
		t.Error(got)
	}
}

func TestCloseAndShutdownEndDebugSleep(t *testing.T) {
	for name, end := range map[string]func(*lockredis.Server){
		"Close": func(s *lockredis.Server) { _ = s.Close() },
		"Shutdown": func(s *lockredis.Server) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			if err := s.Shutdown(ctx); err != nil {
				t.Errorf("Shutdown: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, lockredis.Config{Directives: map[string]string{"enable-debug-command": "yes"}})
			c := dial(t, srv)
			if err := c.Send("DEBUG", "SLEEP", "1e30"); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { end(srv); close(ended) }()
			select {
			case <-ended:
			case <-time.After(60 * time.Second):
				t.Fatal("the server still sleeps")
			}
		})
	}
}
