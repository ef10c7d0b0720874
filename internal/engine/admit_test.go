package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
)

// logged returns an engine, and a function that returns the log's lines since its last call.
func logged(t *testing.T) (e *Engine, lines func() []string) {
	var log bytes.Buffer
	e = New(Options{
		Config: config.New(), Clock: expiry.NewManual(epoch), Rand: rand.New(rand.NewPCG(1, 2)),
		Log: slog.New(slog.NewTextHandler(&log, nil)), Server: nohost.Host{},
	})
	t.Cleanup(e.Close)
	return e, func() []string {
		defer log.Reset()
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
}

func TestAnUnknownCommandIsLoggedOnceForAClientsName(t *testing.T) {
	e, lines := logged(t)
	for range 3 {
		s, _ := connect(e)
		send(e, s, "CLIENT", "SETNAME", "orders")
		send(e, s, "VADD", "k", "*", "f", "v")
		if got := send(e, s, "vadd"); !strings.HasPrefix(got, "-ERR unknown command 'vadd'") {
			t.Errorf("%q", got)
		}
	}
	const want = `msg="unknown command" command=VADD`
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], want) ||
		!strings.Contains(got[0], "name=orders") || strings.Contains(got[0], "hint") {
		t.Errorf("%q", got)
	}
	s, _ := connect(e)
	send(e, s, "VADD")
	send(e, s, "NOPE")
	send(e, s, "CONFIG", "NOPE")
	send(e, s, "CONFIG", "NONE")
	send(e, s, "CONFIG", "nope")
	if got := lines(); len(got) != 4 {
		t.Errorf("of a client without a name: %q", got)
	}
}

// A client begins with what newer servers know. The log has room for what it is refused then.
func TestTheHabitsOfANewerClientAreNotLoggedAndItsHintIs(t *testing.T) {
	e, lines := logged(t)
	for range 3 {
		s, _ := connect(e)
		send(e, s, "CLIENT", "SETINFO", "LIB-NAME", "jedis")
		send(e, s, "CLIENT", "SETINFO", "LIB-VER", "6.0.0")
		send(e, s, "client", "maint_notifications", "on", "moving-endpoint-type", "none")
		send(e, s, "CLIENT", "CAPA", "redirect")
		send(e, s, "CLIENT", "NO-TOUCH", "ON")
		send(e, s, "SENTINEL", "masters")
	}
	got := lines()
	if len(got) != 1 || !strings.Contains(got[0], "library=jedis") || !strings.Contains(got[0], "useSingleServer") {
		t.Errorf("%q", got)
	}
	s, _ := connect(e)
	send(e, s, "CLIENT", "SETINFO", "LIB-NAME", "lettuce")
	send(e, s, "SENTINEL", "masters")
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], "library=lettuce") {
		t.Errorf("another library: %q", got)
	}
}

func TestClientsCannotFillTheMemoryOfWhatIsLogged(t *testing.T) {
	e, lines := logged(t)
	s, _ := connect(e)
	for i := range 10_000 {
		send(e, s, fmt.Sprintf("%d%s", i, strings.Repeat("x", 100)))
	}
	if n := len(lines()); n < 100 || n > 1000 {
		t.Errorf("%d lines for one connection", n)
	}
	s, _ = connect(e)
	send(e, s, "SENTINEL", "masters")
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], "hint") {
		t.Errorf("the hint is missing: %q", got)
	}
}

func TestPOSTAndHostCloseTheConnection(t *testing.T) {
	e, _ := newClocked(t)
	for _, name := range []string{"POST", "Host:"} {
		s, _ := connect(e)
		expectReply(t, send(e, s, name, "/"), "")
		if s.State() != command.Gone {
			t.Errorf("%s: the session is in state %d", name, s.State())
		}
	}
}

func TestAnUnknownSubcommandIsNamedWithItsContainer(t *testing.T) {
	e, _ := newClocked(t)
	s, _ := connect(e)
	expectReply(t, send(e, s, "config", "x"), "-ERR unknown subcommand 'x'. Try CONFIG HELP.\r\n")
}

func TestACommandSetsTheTimeOfTheSessionsLastCommand(t *testing.T) {
	e, clock := newClocked(t)
	s, _ := connect(e)
	clock.Advance(5 * time.Second)
	send(e, s, "PING")
	if want := epoch.UnixMilli() + 5000; s.LastActive != want {
		t.Errorf("last active at %d, want %d", s.LastActive, want)
	}
}
