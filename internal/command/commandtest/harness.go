package commandtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/command/commands"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// Harness runs handlers without an engine or a socket. Commands go through the command
// table and its arity check. The harness records the events.
type Harness struct {
	Ctx command.Ctx // of the commands

	t      testing.TB
	events []string // "event key", also the store's reports ("new", "expired")
}

// noRates is a server that does nothing.
type noRates struct{}

func (noRates) PerSecond() (commands, in, out int64) { return 0, 0, 0 }
func (noRates) Reset()                               {}

// noParking is a server on which no client waits.
type noParking struct{}

func (noParking) Park(*command.Parked)                               {}
func (noParking) Unpark(*command.Session, resp.Reply) bool           { return false }
func (noParking) Unblock(*command.Ctx, *command.Session, resp.Reply) {}
func (noParking) Signal(int, string)                                 {}
func (noParking) Waiting() int                                       { return 0 }

// alone is a server that no other one follows.
type alone struct{ command.Replication }

func (alone) Status() command.ReplicationStatus { return command.ReplicationStatus{} }
func (alone) Follows() bool                     { return false }

// New returns a harness with two empty databases, at 1,000,000 ms Unix time.
func New(t testing.TB) *Harness {
	h := &Harness{t: t}
	space := store.NewSpace(2, h)
	space.SetNow(1_000_000)
	h.Ctx = command.Ctx{
		Env: &command.Env{
			Table: commands.NewTable(), Space: space, Config: config.New(), Events: h, Changes: h,
			Parking: noParking{}, Tracking: noTracking{}, Rates: noRates{}, Server: Server{}, Replicas: alone{},
			Rand: rand.New(rand.NewPCG(1, 2)),
		},
		Session: &command.Session{Proto: 2},
		DB:      space.DB(0),
		Proto:   2,
	}
	return h
}

// Args splits a command line at spaces. Two single quotes are an empty argument.
func Args(line string) resp.Args {
	var args resp.Args
	for word := range strings.FieldsSeq(line) {
		args = append(args, []byte(strings.ReplaceAll(word, "''", "")))
	}
	return args
}

// Run runs a command line.
func (h *Harness) Run(line string) resp.Reply {
	h.t.Helper()
	args := Args(line)
	cmd := h.Ctx.Table.Find(args)
	if cmd == nil {
		h.t.Fatalf("unknown command: %s", line)
	}
	if !cmd.ArityOK(len(args)) {
		return resp.ErrArity(cmd.Name)
	}
	h.Ctx.Cmd = cmd
	return cmd.Run(&h.Ctx, args)
}

// Check runs each line of a script and compares its reply, and its events where the line
// has them. A line is "command => reply" or "command => reply => events". The reply is
// what the client reads, with spaces in place of \r\n. The events are separated by commas;
// "no events" stands for none. A reply that depends on a random pick is written "any".
func (h *Harness) Check(script string) {
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
		reply := string(resp.Append(nil, h.Run(columns[0]), h.Ctx.Proto))
		got := strings.TrimSpace(strings.ReplaceAll(reply, "\r\n", " "))
		if want := columns[1]; want != "any" && got != want {
			h.t.Errorf("%s\n got %s\nwant %s", columns[0], got, want)
		}
		if len(columns) == 3 && h.heard() != columns[2] {
			h.t.Errorf("%s\n got events %s\nwant events %s", columns[0], h.heard(), columns[2])
		}
	}
}

// heard returns the events of the last command in the notation of Check.
func (h *Harness) heard() string {
	if len(h.events) == 0 {
		return "no events"
	}
	return strings.Join(h.events, ", ")
}

// Notify makes Harness an Events.
func (h *Harness) Notify(_ command.Class, event string, db int, key string) {
	h.events = append(h.events, fmt.Sprintf("%s %s", event, key))
}

// Changed makes Harness a Changes.
func (h *Harness) Changed(ch *command.Change) {
	h.Ctx.Dirty += ch.Count
	if !ch.Silent() {
		h.Ctx.Events.Notify(ch.Class, ch.Event, ch.DB, ch.Key)
	}
	if ch.ToEvent != "" {
		h.Ctx.Events.Notify(ch.Class, ch.ToEvent, ch.ToDB, ch.To.Key())
	}
}

// Expired and the methods below make Harness a store.Observer.
func (h *Harness) Expired(db int, key string) { h.Notify(command.ExpiredClass, "expired", db, key) }
func (h *Harness) Evicted(db int, key string) { h.Notify(command.EvictedClass, "evicted", db, key) }

func (h *Harness) Added(db int, key string) { h.Notify(command.NewKey, "new", db, key) }

func (h *Harness) Renewed(db int, key string) { h.Added(db, key) }

func (h *Harness) Emptying(*store.DB)     {}
func (h *Harness) Swapped(_, _ *store.DB) {}

func (h *Harness) Lost(int, string) {}

func (h *Harness) Sooner() {}

func (h *Harness) FieldsExpired(db int, key string, _ []string, gone bool) {
	h.Notify(command.HashClass, "hexpired", db, key)
	if gone {
		h.Notify(command.Generic, "del", db, key)
	}
}

func (h *Harness) Missed(db int, key []byte) { h.Notify(command.KeyMiss, "keymiss", db, string(key)) }

// noTracking is a Tracking without clients.
type noTracking struct{}

func (noTracking) Enable(*command.Session, command.TrackingMode, int64, []string) {}
func (noTracking) Disable(*command.Session)                                       {}
func (noTracking) Flushed()                                                       {}
func (noTracking) Counts() command.TrackingCounts                                 { return command.TrackingCounts{} }

// Server has fixed facts about the process.
type Server struct{ command.Server }

func (Server) Identity() command.Identity {
	return command.Identity{RunID: "0123456789", ProcessID: 42, Port: 6380, StartMillis: 400_000}
}

func (Server) Traffic() (none command.Traffic) { return none }

func (Server) Usage() command.Usage {
	return command.Usage{Memory: command.ProcessMemory{Heap: 3 << 20, Process: 5 << 30}}
}
