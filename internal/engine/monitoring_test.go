package engine

import (
	"testing"
	"time"

	"github.com/lockredis/lockredis/internal/command"
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
	if got := w.received(first) + w.received(second); got != "" || w.e.monitors.any() {
		t.Errorf("there are monitors: %q", got)
	}
}

// failing is a connection whose session leaves at the first line.
type failing struct {
	textConn
	leave func()
}

func (f *failing) Write(b []byte) bool {
	if f.leave != nil {
		f.leave()
	}
	return f.textConn.Write(b)
}

func TestAMonitorMayLeaveWhileALineIsWritten(t *testing.T) {
	w := newWatched(t)
	conn := &failing{}
	first := &command.Session{Conn: conn}
	w.e.Do(&Caller{}, func() { w.e.Join(first) })
	second, s := w.client("1.2.3.4:6"), w.client("1.2.3.4:7")
	w.e.Do(&Caller{}, func() { w.e.Execute(first, words("monitor")) })
	w.run(second, "monitor")
	conn.leave = func() { w.e.Leave(first) }
	w.run(s, "ping")
	if got := w.received(second); got != "+1700000000.000000 [0 1.2.3.4:7] \"ping\"\r\n" {
		t.Errorf("the second monitor sees %q", got)
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
