package engine

import (
	"testing"
	"time"
)

func TestMonitorShowsTimeDatabaseClientAndArguments(t *testing.T) {
	w := newWatched(t)
	w.e.env.Config.UnixSocket = "/tmp/s"
	m, s, local := w.client("1.2.3.4:5"), w.client("1.2.3.4:6"), w.client("/tmp/s:0")
	local.Unix = true
	w.run(m, "monitor")
	w.clock.Advance(1500 * time.Microsecond)
	w.run(s, "set k 'a\tb'")
	w.run(local, "select 3")
	w.run(s, "eval 'return redis.call(\"get\",\"k\")' 0")
	want := "+1700000000.001500 [0 1.2.3.4:6] \"set\" \"k\" \"a\\tb\"\r\n" +
		"+1700000000.001500 [3 unix:/tmp/s] \"select\" \"3\"\r\n" +
		"+1700000000.001500 [0 1.2.3.4:6] \"eval\" \"return redis.call(\\\"get\\\",\\\"k\\\")\" \"0\"\r\n" +
		"+1700000000.001500 [0 lua] \"get\" \"k\"\r\n"
	if got := w.received(m); got != want {
		t.Errorf("the monitor sees\n%s\nnot\n%s", got, want)
	}
}

func TestAMonitorThatLeavesOrResetsIsNone(t *testing.T) {
	w := newWatched(t)
	first, second, s := w.client("1.2.3.4:5"), w.client("1.2.3.4:6"), w.client("1.2.3.4:7")
	w.run(first, "monitor")
	w.run(second, "monitor")
	w.e.Do(&Caller{}, func() { w.e.Leave(first) })
	if got := w.run(second, "reset"); got != "+RESET\r\n" {
		t.Errorf("RESET is answered by %q", got)
	}
	w.run(s, "ping")
	if got := w.received(first) + w.received(second); got != "" || w.e.monitors.Any() {
		t.Errorf("there are monitors: %q", got)
	}
}

func TestAMonitorIsNotPaused(t *testing.T) {
	w := newWatched(t)
	m, s := w.client("1.2.3.4:5"), w.client("1.2.3.4:6")
	w.run(m, "monitor")
	w.run(s, "client pause 1000")
	if got := w.run(m, "echo x"); got != "$1\r\nx\r\n+1700000000.000000 [0 1.2.3.4:5] \"echo\" \"x\"\r\n" {
		t.Errorf("a paused server sends a monitor %q", got)
	}
}
