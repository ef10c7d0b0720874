package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
)

// pushConn keeps its output.
type pushConn struct {
	discardConn
	text strings.Builder
	fail bool // Write panics
}

func (c *pushConn) Write(b []byte) bool {
	if c.fail {
		panic("broken")
	}
	c.text.Write(b)
	return true
}

// take returns the output since the last call, with spaces in place of line ends.
func (c *pushConn) take() string {
	defer c.text.Reset()
	return strings.TrimSpace(strings.ReplaceAll(c.text.String(), "\r\n", " "))
}

// cacher is a client of the tests below.
type cacher struct {
	t    *testing.T
	e    *Engine
	s    *command.Session
	conn *pushConn
}

func newCacher(t *testing.T, e *Engine, lines ...string) *cacher {
	c := &cacher{t: t, e: e, conn: &pushConn{}}
	c.s = &command.Session{Conn: c.conn}
	e.Do(&Caller{}, func() { e.Join(c.s) })
	for _, line := range append([]string{"HELLO 3"}, lines...) {
		c.run(line)
	}
	c.conn.take()
	return c
}

// run runs command lines in one unit and returns the output of the client.
func (c *cacher) run(lines ...string) string {
	c.t.Helper()
	c.e.Do(&Caller{}, func() {
		for _, line := range lines {
			c.e.Execute(c.s, words(strings.Fields(line)...))
		}
	})
	return c.conn.take()
}

// counts checks the state of e and returns the figures of INFO.
func counts(t *testing.T, e *Engine) (c command.TrackingCounts) {
	t.Helper()
	e.Do(&Caller{}, func() {
		if err := e.Check(); err != nil {
			t.Error(err)
		}
		c = e.tracking.Counts()
	})
	return c
}

func pushed(key string) string {
	return fmt.Sprintf(">2 $10 invalidate *1 $%d %s", len(key), key)
}

func TestAnInvalidationIsNeverInsideTheArrayOfExec(t *testing.T) {
	e := newTestEngine(expiry.System())
	target := newCacher(t, e)
	reader := newCacher(t, e, fmt.Sprintf("CLIENT TRACKING ON REDIRECT %d", target.s.ID), "MGET a b")
	got := target.run("MULTI", "SET a 1", "SET b 2", "FLUSHALL", "EXEC")
	queued := "+OK +QUEUED +QUEUED +QUEUED "
	if want := queued + "*3 +OK +OK +OK " + pushed("a") + " " + pushed("b") + " >2 $10 invalidate _"; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := reader.conn.take(); got != "" {
		t.Errorf("the reader got %q", got)
	}
	counts(t, e)
}

func TestTrackingThatBeginsInATransactionWaitsForItsEnd(t *testing.T) {
	e := newTestEngine(expiry.System())
	c := newCacher(t, e)
	got := c.run("MULTI", "CLIENT TRACKING ON", "GET a", "SET a 1", "EXEC")
	if want := "*3 +OK _ +OK " + pushed("a"); !strings.HasSuffix(got, want) {
		t.Errorf("%q\nwant at the end %q", got, want)
	}
	counts(t, e)
}

func TestABrokenTrackingClientDoesNotDisturbTheWriter(t *testing.T) {
	e := newTestEngine(expiry.System())
	reader := newCacher(t, e, "CLIENT TRACKING ON", "GET a")
	all := newCacher(t, e, "CLIENT TRACKING ON BCAST")
	other := newCacher(t, e, "CLIENT TRACKING ON", "GET a")
	reader.conn.fail, all.conn.fail = true, true
	if got := newCacher(t, e).run("SET a 1"); got != "+OK" {
		t.Errorf("the writer got %q", got)
	}
	if got := other.conn.take(); got != pushed("a") {
		t.Errorf("the other reader got %q", got)
	}
	if reader.s.State() != command.Failed || all.s.State() != command.Failed {
		t.Error("the broken clients are not disconnected")
	}
}

func TestAFieldThatExpiresIsNotTheChangeOfTheClientThatFindsIt(t *testing.T) {
	clock := expiry.NewManual(time.UnixMilli(1000))
	e := newTestEngine(clock)
	e.env.Space.FieldDeadlines = true
	commands.EmulateValkey(e.env.Table)
	c := newCacher(t, e, "CLIENT TRACKING ON BCAST NOLOOP", "HSET h f 1 g 2", "HPEXPIRE h 5 FIELDS 1 f")
	clock.Advance(5 * time.Millisecond)
	if got, want := c.run("HGET h f"), "_ "+pushed("h"); got != want {
		t.Errorf("the client got %q, want %q", got, want)
	}
}

func TestKeysOfAFileAreNoChanges(t *testing.T) {
	e := newTestEngine(expiry.System())
	c := newCacher(t, e, "CLIENT TRACKING ON BCAST")
	e.Do(&Caller{}, func() {
		(&quiet{e.effects}).Added(0, "a")
	})
	if got := c.conn.take(); got != "" {
		t.Errorf("the client got %q", got)
	}
	e.Do(&Caller{}, func() { e.effects.touched(0, "a") })
	if got := c.conn.take(); got != pushed("a") {
		t.Errorf("the client got %q", got)
	}
}

// BenchmarkTrackedWrite has 1,000 clients that read a key and one that writes it.
func BenchmarkTrackedWrite(b *testing.B) {
	e := newTestEngine(expiry.System())
	read, write := words("GET", "k"), words("SET", "k", "1")
	var readers []*command.Session
	for range 1000 {
		s, _ := newTestSession(e)
		e.Do(&Caller{}, func() {
			e.Execute(s, words("HELLO", "3"))
			e.Execute(s, words("CLIENT", "TRACKING", "ON"))
		})
		readers = append(readers, s)
	}
	writer, _ := newTestSession(e)
	b.ReportAllocs()
	for b.Loop() {
		e.Do(&Caller{}, func() {
			for _, s := range readers {
				e.Execute(s, read)
			}
			e.Execute(writer, write)
		})
	}
}

func TestTheTimerShrinksATableThatConfigSetHasMadeTooLarge(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	reader := newCacher(t, e, "CLIENT TRACKING ON")
	for i := range 1000 {
		reader.run(fmt.Sprintf("GET key%d", i))
	}
	other := newCacher(t, e)
	reader.conn.take()
	other.run("CONFIG SET tracking-table-max-keys 7")
	if !e.timer.due(e.env.Space.Now()) {
		t.Fatal("the timer is not armed")
	}
	for more := true; more; {
		e.Do(&Caller{}, func() { more = e.timer.fire() })
	}
	if n := counts(t, e).Keys; n != 7 || strings.Count(reader.conn.take(), "invalidate") != 993 {
		t.Errorf("%d keys are left in the table", n)
	}
	if e.timer.due(e.env.Space.Now()) {
		t.Error("the timer is armed, and nothing is to be done")
	}
}
