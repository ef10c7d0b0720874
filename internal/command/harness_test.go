package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// harness runs handlers without engine or socket: commands go through the
// table and its arity check, and events are noted.
type harness struct {
	t      testing.TB
	ctx    Ctx
	events []string // "event key", those of the observer included
}

// newHarness returns an empty server at the Unix time of 1,000,000 ms.
func newHarness(t testing.TB) *harness {
	h := &harness{t: t}
	space := store.NewSpace(2, h)
	space.SetNow(1_000_000)
	cfg := new(config.Config)
	cfg.ProtoMaxBulkLen.Store(512 << 20)
	h.ctx = Ctx{
		Env: &Env{
			Table: NewTable(), Space: space, Config: cfg, Events: h,
			Rand: rand.New(rand.NewPCG(1, 2)),
		},
		Session: &Session{Proto: 2},
		DB:      space.DB(0),
		Proto:   2,
	}
	return h
}

// run runs a command line of words parted by spaces; two single quotes are an
// empty word.
func (h *harness) run(line string) resp.Reply {
	var args []string
	for _, word := range strings.Fields(line) {
		args = append(args, strings.ReplaceAll(word, "''", ""))
	}
	return h.do(args...)
}

// do runs a command of the given arguments.
func (h *harness) do(words ...string) resp.Reply {
	args := make(resp.Args, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	cmd := h.ctx.Table.Find(args)
	if cmd == nil {
		h.t.Fatalf("there is no command %s", words[0])
	}
	if !cmd.ArityOK(len(args)) {
		return resp.ErrArity(cmd.Name)
	}
	h.ctx.Cmd = cmd
	return cmd.Run(&h.ctx, args)
}

// check runs lines of "command => reply", the reply as the text that
// redis-cli would read from the wire with \r\n written as spaces.
func (h *harness) check(script string) {
	h.t.Helper()
	for line := range strings.Lines(script) {
		command, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		got := strings.TrimSpace(strings.ReplaceAll(string(resp.Append(nil, h.run(command), h.ctx.Proto)), "\r\n", " "))
		if got != want {
			h.t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
}

// happened returns the events since the last call, parted by commas.
func (h *harness) happened() string {
	events := strings.Join(h.events, ", ")
	h.events = nil
	return events
}

// Notify makes harness an Events.
func (h *harness) Notify(_ Class, event string, db int, key string) {
	h.events = append(h.events, fmt.Sprintf("%s %s", event, key))
}

// Renewed makes harness an Events.
func (h *harness) Renewed(db *store.DB, e *store.Entry) { h.Added(db.ID(), e.Key(), e.Value().Type()) }

// Touched and the methods below make harness a store.Observer.
func (h *harness) Touched(int, string) {}

func (h *harness) Expired(db int, key string) { h.Notify(ExpiredClass, "expired", db, key) }

func (h *harness) Added(db int, key string, _ store.Type) { h.Notify(NewKey, "new", db, key) }

func (h *harness) Emptying(*store.DB)     {}
func (h *harness) Swapped(_, _ *store.DB) {}

func (h *harness) Missed(db int, key []byte) { h.Notify(KeyMiss, "keymiss", db, string(key)) }
