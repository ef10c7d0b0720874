package engine

import (
	"bytes"
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

func TestAClientsFirstUnknownCommandIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	e := New(Options{
		Config: config.New(), Clock: expiry.NewManual(epoch), Rand: rand.New(rand.NewPCG(1, 2)),
		Log: slog.New(slog.NewTextHandler(&log, nil)), Server: nohost.Host{},
	})
	t.Cleanup(e.Close)
	lines := func() []string {
		defer log.Reset()
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
	s, _ := connect(e)
	send(e, s, "CLIENT", "SETNAME", "orders")
	send(e, s, "PSYNC", "k", "*", "f", "v")
	send(e, s, "PSYNC", "k", "*", "f", "v")
	send(e, s, "NOPE")
	const want = `msg="unknown command" command=PSYNC`
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], want) ||
		!strings.Contains(got[0], "name=orders") || strings.Contains(got[0], "hint") {
		t.Errorf("%q", got)
	}
	s, _ = connect(e)
	send(e, s, "SENTINEL", "masters")
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], "useSingleServer") {
		t.Errorf("SENTINEL: %q", got)
	}
	if got := send(e, s, "NOPE"); !strings.HasPrefix(got, "-ERR unknown command 'NOPE'") {
		t.Errorf("%q", got)
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
