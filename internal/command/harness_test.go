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

// harness runs handlers without an engine or a socket. Commands go through the command
// table and its arity check. The harness records the events.
type harness struct {
	t      testing.TB
	ctx    Ctx
	events []string // "event key", also those that the store reports ("new", "expired")
}

// noRates is a server that does nothing.
type noRates struct{}

func (noRates) PerSecond() (commands, in, out int64) { return 0, 0, 0 }
func (noRates) Reset()                               {}

// noParking is a server on which no client waits.
type noParking struct{}

func (noParking) Park(*Parked)                       {}
func (noParking) Unpark(*Session, resp.Reply) bool   { return false }
func (noParking) Unblock(*Ctx, *Session, resp.Reply) {}
func (noParking) Signal(int, string)                 {}
func (noParking) Waiting() int                       { return 0 }

// newHarness returns a harness with two empty databases, at 1,000,000 ms Unix time.
func newHarness(t testing.TB) *harness {
	h := &harness{t: t}
	space := store.NewSpace(2, h)
	space.SetNow(1_000_000)
	h.ctx = Ctx{
		Env: &Env{
			Table: NewTable(), Space: space, Config: config.New(), Events: h, Changes: h,
			Parking: noParking{}, Tracking: noTracking{}, Rates: noRates{}, Server: fakeServer{},
			Rand: rand.New(rand.NewPCG(1, 2)),
		},
		Session: &Session{Proto: 2},
		DB:      space.DB(0),
		Proto:   2,
	}
	return h
}

// arguments splits a command line at spaces. Two single quotes are an empty argument.
func arguments(line string) resp.Args {
	var args resp.Args
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(strings.ReplaceAll(word, "''", "")))
	}
	return args
}

// run runs a command line.
func (h *harness) run(line string) resp.Reply {
	h.t.Helper()
	args := arguments(line)
	cmd := h.ctx.Table.Find(args)
	if cmd == nil {
		h.t.Fatalf("unknown command: %s", line)
	}
	if !cmd.ArityOK(len(args)) {
		return resp.ErrArity(cmd.Name)
	}
	h.ctx.Cmd = cmd
	return cmd.Run(&h.ctx, args)
}

// check runs each line of a script and compares its reply, and its events where the line
// has them. A line is "command => reply" or "command => reply => events". The reply is
// what the client reads, with spaces in place of \r\n. The events are separated by commas;
// "no events" stands for none. A reply that depends on a random pick is written "any".
func (h *harness) check(script string) {
	h.t.Helper()
	for line := range strings.Lines(script) {
		columns := strings.Split(strings.TrimSpace(line), " => ")
		switch {
		case columns[0] == "":
			continue
		case len(columns) < 2 || len(columns) > 3:
			h.t.Fatalf("%q has %d columns, want 2 or 3", columns[0], len(columns))
		}
		h.events = nil
		reply := string(resp.Append(nil, h.run(columns[0]), h.ctx.Proto))
		got := strings.TrimSpace(strings.ReplaceAll(reply, "\r\n", " "))
		if want := columns[1]; want != "any" && got != want {
			h.t.Errorf("%s\n got %s\nwant %s", columns[0], got, want)
		}
		if len(columns) == 3 && h.heard() != columns[2] {
			h.t.Errorf("%s\n got events %s\nwant events %s", columns[0], h.heard(), columns[2])
		}
	}
}

// heard returns the events of the last command in the notation of check.
func (h *harness) heard() string {
	if len(h.events) == 0 {
		return "no events"
	}
	return strings.Join(h.events, ", ")
}

// Notify makes harness an Events.
func (h *harness) Notify(_ Class, event string, db int, key string) {
	h.events = append(h.events, fmt.Sprintf("%s %s", event, key))
}

// Changed makes harness a Changes.
func (h *harness) Changed(ch *Change) {
	h.ctx.Dirty += ch.Count
	if !ch.Silent() {
		h.ctx.Events.Notify(ch.Class, ch.Event, ch.DB, ch.Key)
	}
	if ch.ToEvent != "" {
		h.ctx.Events.Notify(ch.Class, ch.ToEvent, ch.ToDB, ch.ToKey)
	}
}

// Expired and the methods below make harness a store.Observer.
func (h *harness) Expired(db int, key string) { h.Notify(ExpiredClass, "expired", db, key) }
func (h *harness) Evicted(db int, key string) { h.Notify(EvictedClass, "evicted", db, key) }

func (h *harness) Added(db int, key string) { h.Notify(NewKey, "new", db, key) }

func (h *harness) Emptying(*store.DB)     {}
func (h *harness) Swapped(_, _ *store.DB) {}

func (h *harness) Lost(int, string) {}

func (h *harness) FieldsExpired(db int, key string, gone bool) {
	h.Notify(HashClass, "hexpired", db, key)
	if gone {
		h.Notify(Generic, "del", db, key)
	}
}

func (h *harness) Missed(db int, key []byte) { h.Notify(KeyMiss, "keymiss", db, string(key)) }

// noTracking is a Tracking without clients.
type noTracking struct{}

func (noTracking) Enable(*Session, TrackingMode, int64, []string) {}
func (noTracking) Disable(*Session)                               {}
func (noTracking) Flushed()                                       {}
func (noTracking) Counts() TrackingCounts                         { return TrackingCounts{} }

// fakeServer has fixed facts about the process.
type fakeServer struct{ Server }

func (fakeServer) Identity() Identity {
	return Identity{RunID: "0123456789", ProcessID: 42, Port: 6380, StartMillis: 400_000}
}

func (fakeServer) Traffic() (none Traffic) { return none }

func (fakeServer) Usage() Usage {
	return Usage{Memory: ProcessMemory{Heap: 3 << 20, Process: 5 << 30}}
}
