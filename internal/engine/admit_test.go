package engine

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/config"
)

func TestAClientsFirstUnknownCommandIsOneLogLine(t *testing.T) {
	var log bytes.Buffer
	e := New(Options{
		Config: config.New(), Clock: expiry.NewManual(epoch), Rand: rand.New(rand.NewPCG(1, 2)),
		Log: slog.New(slog.NewTextHandler(&log, nil)), Server: noHost{},
	})
	t.Cleanup(e.Close)
	lines := func() []string {
		defer log.Reset()
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
	s, _ := join(e)
	do(e, s, "CLIENT", "SETNAME", "orders")
	do(e, s, "XADD", "k", "*", "f", "v")
	do(e, s, "XADD", "k", "*", "f", "v")
	do(e, s, "NOPE")
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], `msg="unknown command" command=XADD`) ||
		!strings.Contains(got[0], "name=orders") || strings.Contains(got[0], "hint") {
		t.Errorf("%q", got)
	}
	for _, command := range []string{"SENTINEL", "cluster"} {
		s, _ := join(e)
		do(e, s, command, "masters")
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "useSingleServer") {
			t.Errorf("%s: %q", command, got)
		}
	}
	if got := do(e, s, "NOPE"); !strings.HasPrefix(got, "-ERR unknown command 'NOPE'") {
		t.Errorf("%q", got)
	}
}
