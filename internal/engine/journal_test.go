package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/journal"
)

// journaled returns an engine and a function that returns the journal's entries since its
// last call, in the short form of describeEntry.
func journaled(t *testing.T) (e *Engine, clock *expiry.Manual, entries func() string) {
	clock = expiry.NewManual(epoch)
	e = newTestEngine(clock)
	t.Cleanup(e.Close)
	var lines []string
	e.ReadJournal(func(entry *journal.Entry) { lines = append(lines, describeEntry(entry)) })
	return e, clock, func() string {
		defer func() { lines = nil }()
		return strings.Join(lines, " ")
	}
}

func describeEntry(entry *journal.Entry) string {
	switch entry.Kind {
	case journal.UnitBegins:
		return "["
	case journal.UnitEnds:
		return "]"
	case journal.CommandBegins:
		return entry.Ctx.Cmd.Name + "("
	case journal.CommandEnds:
		if entry.Reply.IsError() {
			return "failed)"
		}
		return ")"
	case journal.Changed:
		line := fmt.Sprintf("%s:%d:%s", entry.Change.Event, entry.DB, entry.Key)
		if ch := entry.Change; ch.ToEvent != "" {
			line += fmt.Sprintf(":%s:%d:%s", ch.ToEvent, ch.ToDB, ch.To.Key())
		}
		return line
	case journal.FieldsExpired:
		return fmt.Sprintf("fields:%d:%s", entry.DB, entry.Key)
	case journal.KeyLoaded:
		return fmt.Sprintf("loaded:%d:%s", entry.DB, entry.Key)
	case journal.KeyAdded:
		return fmt.Sprintf("added:%d:%s", entry.DB, entry.Key)
	case journal.KeyExpired:
		return fmt.Sprintf("expired:%d:%s", entry.DB, entry.Key)
	case journal.KeyEvicted:
		return fmt.Sprintf("evicted:%d:%s", entry.DB, entry.Key)
	case journal.Emptied:
		return fmt.Sprintf("emptied:%d", entry.DB)
	case journal.Swapped:
		return fmt.Sprintf("swapped:%d:%d", entry.DB, entry.Other)
	}
	return "unknown"
}

func TestTheJournalSeesEachUnitCommandAndEffect(t *testing.T) {
	e, _, entries := journaled(t)
	s, _ := connect(e)
	for _, c := range []struct{ line, want string }{
		{"SET k v", "[ set( added:0:k set:0:k ) ]"},
		{"GET k", "[ get( ) ]"},
		{"INCR k", "[ incr( failed) ]"},
		{"SET k", "[ ]"},
		{"DEL k", "[ del( del:0:k ) ]"},
		{"MULTI", "[ multi( ) ]"},
		{"SET a v", "[ ]"},
		{"RPUSH l v", "[ ]"},
		{"EXEC", "[ exec( set( added:0:a set:0:a ) rpush( added:0:l rpush:0:l ) ) ]"},
		{"RENAME a l", "[ rename( added:0:l rename_from:0:a:rename_to:0:l ) ]"},
		{"SWAPDB 0 1", "[ swapdb( swapped:0:1 swapdb:0: ) ]"},
		{"SELECT 1", "[ select( ) ]"},
		{"FLUSHDB", "[ flushdb( emptied:1 flush:1: ) ]"},
	} {
		send(e, s, strings.Fields(c.line)...)
		if got := entries(); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestTheJournalSeesACommandOfAScriptInsideTheScript(t *testing.T) {
	e, _, entries := journaled(t)
	s, _ := connect(e)
	send(e, s, "EVAL", "redis.call('set', KEYS[1], 'v') redis.pcall('set') return 1", "1", "k")
	if got, want := entries(), "[ eval( set( added:0:k set:0:k ) ) ]"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestTheJournalSeesAServedCommandAsAUnit(t *testing.T) {
	e, _, entries := journaled(t)
	s, _ := connect(e)
	waiter, _ := connect(e)
	send(e, waiter, "BLPOP", "q", "0")
	entries()
	send(e, s, "RPUSH", "q", "x")
	want := "[ rpush( added:0:q rpush:0:q ) ] [ blpop( lpop:0:q del:0:q ) ]"
	if got := entries(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestTheJournalSeesExpiryByTimerAndAtAccess(t *testing.T) {
	e, clock, entries := journaled(t) // its timer does not run
	s, _ := connect(e)
	send(e, s, "SET", "timed", "v", "PX", "1")
	entries()
	clock.Advance(time.Millisecond)
	e.Outside(e.EndDue)
	if got, want := entries(), "[ expired:0:timed ]"; !strings.Contains(got, want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	e.Outside(func() { e.timer.SetActive(false) })
	send(e, s, "SET", "met", "v", "PX", "1")
	entries()
	clock.Advance(time.Millisecond)
	send(e, s, "GET", "met")
	if got, want := entries(), "[ get( expired:0:met ) ]"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestAJournalWithoutReadersAllocatesNothing(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	s, _ := newTestSession(e)
	do := words("GET", "k")
	var caller Caller
	unit := func() { e.Execute(s, do) }
	if got := testing.AllocsPerRun(100, func() { e.Do(&caller, unit) }); got != 0 {
		t.Errorf("a GET allocates %v times", got)
	}
}

func TestEveryReaderGetsEveryEntry(t *testing.T) {
	e := newTestEngine(expiry.NewManual(epoch))
	t.Cleanup(e.Close)
	var first, second []journal.Kind
	e.ReadJournal(func(entry *journal.Entry) { first = append(first, entry.Kind) })
	e.ReadJournal(func(entry *journal.Entry) { second = append(second, entry.Kind) })
	s, _ := connect(e)
	send(e, s, "PING")
	if len(first) != 4 || !slices.Equal(first, second) {
		t.Errorf("%v and %v", first, second)
	}
}

var reasons = [...]string{"timer", "command", "eviction", "load", "MIGRATE", "kit"}

// causes returns an engine and a function that returns the changes since its last call, each with
// its cause.
func causes(t *testing.T) (e *Engine, clock *expiry.Manual, changes func() string) {
	clock = expiry.NewManual(epoch)
	e = newTestEngine(clock)
	t.Cleanup(e.Close)
	var lines []string
	e.ReadJournal(func(entry *journal.Entry) {
		cause := entry.Cause
		line := describeEntry(entry) + " by " + reasons[cause.Reason]
		if cause.Ctx != nil {
			line += fmt.Sprintf(" of %s: %s", cause.Ctx.Session.Name, cause.Args)
		}
		if s := cause.Script; s != nil {
			line += fmt.Sprintf(" in %.4s%s %s %s", s.SHA, s.Function, s.Keys, s.Args)
		}
		lines = append(lines, line)
	}, journal.Changed, journal.KeyExpired, journal.KeyEvicted, journal.KeyLoaded, journal.Emptied)
	return e, clock, func() string {
		defer func() { lines = nil }()
		return strings.Join(lines, "; ")
	}
}

func TestAChangeCarriesItsCause(t *testing.T) {
	e, clock, changes := causes(t)
	s, _ := connect(e)
	waiter, _ := connect(e)
	s.Name, waiter.Name = "one", "two"
	const eval = "redis.call('set', KEYS[1], ARGV[1])"
	for _, c := range []struct {
		what string
		do   func()
		want string
	}{
		{"a command", func() { send(e, s, "SET", "k", "v") }, "set:0:k by command of one: [SET k v]"},
		{"a script", func() { send(e, s, "EVAL", eval, "1", "k", "v") },
			"set:0:k by command of one: [set k v] in 27d4 [k] [v]"},
		{"the command after a script", func() { send(e, s, "DEL", "k") }, "del:0:k by command of one: [DEL k]"},
		{"a transaction", func() {
			send(e, s, "MULTI")
			send(e, s, "SET", "k", "v", "PX", "1")
			send(e, s, "EXEC")
		}, "set:0:k by command of one: [SET k v PX 1]; expire:0:k by command of one: [SET k v PX 1]"},
		{"the timer", func() {
			clock.Advance(time.Millisecond)
			e.Outside(e.EndDue)
		}, "expired:0:k by timer"},
		{"a client that waits", func() {
			send(e, waiter, "BLPOP", "q", "0")
			send(e, s, "RPUSH", "q", "x")
		}, "rpush:0:q by command of one: [RPUSH q x]; lpop:0:q by command of two: [BLPOP q 0]; " +
			"del:0:q by command of two: [BLPOP q 0]"},
		{"groups of a stream", func() {
			send(e, s, "XADD", "x", "1-1", "f", "v")
			send(e, s, "XGROUP", "CREATE", "x", "g", "0")
		}, "xadd:0:x by command of one: [XADD x 1-1 f v]; " +
			"xgroup-create:0:x by command of one: [XGROUP CREATE x g 0]"},
		{"eviction", func() {
			send(e, s, "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1")
			send(e, s, "GET", "k")
			send(e, s, "CONFIG", "SET", "maxmemory", "0")
		}, "evicted:0:x by eviction"},
		{"a new key", func() { send(e, s, "SET", "k", "v") }, "set:0:k by command of one: [SET k v]"},
		{"the test kit", func() { e.Kit().Restart(false) }, "emptied:0 by kit"},
	} {
		c.do()
		if got := changes(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}
