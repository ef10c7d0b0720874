package engine

import (
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/journal"
	"github.com/lockredis/lockredis/internal/nohost"
)

// Each row begins and ends what a bit is about. It ends nothing if that lasts.
func TestCommandsPayAttentionToEachRoomWhileItNeedsIt(t *testing.T) {
	set := func(pairs ...string) func(*testing.T, *Engine, *command.Session) {
		return func(t *testing.T, e *Engine, s *command.Session) {
			expectReply(t, send(e, s, append([]string{"CONFIG", "SET"}, pairs...)...), "+OK\r\n")
		}
	}
	run := func(words ...string) func(*testing.T, *Engine, *command.Session) {
		return func(t *testing.T, e *Engine, s *command.Session) { expectReply(t, send(e, s, words...), "+OK\r\n") }
	}
	inside := func(do func(e *Engine)) func(*testing.T, *Engine, *command.Session) {
		return func(_ *testing.T, e *Engine, _ *command.Session) { e.Outside(func() { do(e) }) }
	}
	save := func(t *testing.T, e *Engine, file string) {
		running := true
		e.Outside(func() {
			e.env.Config.RDB.File, e.env.Config.RDB.Program = file, true
			running = e.files.Begin()
		})
		for running {
			e.Outside(func() { running = e.files.Stats().Running })
		}
	}
	saved := func(t *testing.T, e *Engine, _ *command.Session) { save(t, e, filepath.Join(t.TempDir(), "dump.rdb")) }
	failed := func(t *testing.T, e *Engine, s *command.Session) {
		set("save", "3600 1")(t, e, s)
		save(t, e, t.TempDir()) // a directory cannot be written
	}
	leave := func(_ *testing.T, e *Engine, s *command.Session) { e.Do(&Caller{}, func() { e.Leave(s) }) }
	var seen attention
	for _, row := range []struct {
		name       string
		bit        attention
		begin, end func(*testing.T, *Engine, *command.Session)
	}{
		{"MONITOR", byMonitors, run("MONITOR"), leave},
		{"tracking", byTracking, run("CLIENT", "TRACKING", "ON"), leave},
		{"the journal", byJournal,
			inside(func(e *Engine) { e.ReadJournal(func(*journal.Entry) {}) }), nil},
		{"the record of locks", byRecord, inside((*Engine).RecordScriptKeys), nil},
		{"WATCH", byWatches, run("WATCH", "a", "b", "a"), run("UNWATCH")},
		{"events", byEvents, set("notify-keyspace-events", "KEA"),
			set("notify-keyspace-events", "")},
		{"a client that waits", byParked, func(_ *testing.T, e *Engine, s *command.Session) {
			send(e, s, "BLPOP", "a", "b", "0")
		}, leave},
		{"a client that looks", byAwaiting, func(_ *testing.T, e *Engine, s *command.Session) {
			e.Outside(func() {
				e.parking.Park(&command.Parked{Session: s, Looks: true, Keys: []string{"a", "b", "a"}})
			})
		}, leave},
		{"SLOWLOG, which has no bit", 0, set("slowlog-log-slower-than", "999"),
			set("slowlog-log-slower-than", "1000")},
		{"LATENCY, which has no bit", 0, set("latency-monitor-threshold", "1"),
			set("latency-monitor-threshold", "0")},
		{"faults", forFaults, func(_ *testing.T, e *Engine, _ *command.Session) { e.Faults() }, nil},
		{"maxmemory", forMemory, set("maxmemory", "1gb"), set("maxmemory", "0")},
		{"replicas", forPlace, set("min-replicas-to-write", "1"),
			set("min-replicas-max-lag", "0")},
		{"a save that failed", forSave, failed, saved},
		{"stop-writes-on-bgsave-error", forSave, failed, set("stop-writes-on-bgsave-error", "no")},
		{"save", forSave, failed, set("save", "")},
		{"MIGRATE", forMigrate, func(_ *testing.T, e *Engine, _ *command.Session) {
			e.Outside(func() { e.migrates.hold(0, words("a", "a")) })
		}, func(_ *testing.T, e *Engine, _ *command.Session) {
			e.Outside(func() { e.migrates.free(0, words("a", "a")) })
		}},
		{"a pause", forPause, run("CLIENT", "PAUSE", "10000", "WRITE"), run("CLIENT", "UNPAUSE")},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, _ := newClocked(t)
			s, _ := connect(e)
			other, _ := connect(e)
			expect := func(want attention) {
				t.Helper()
				e.Outside(func() {
					if e.attention != want {
						t.Errorf("the bits are %b, want %b", e.attention, want)
					}
					if err := e.Check(); err != nil {
						t.Error(err)
					}
				})
			}
			expect(0)
			row.begin(t, e, s)
			expect(row.bit)
			send(e, other, "PING")
			if row.end != nil {
				row.end(t, e, s)
				expect(0)
			}
		})
		seen |= row.bit
	}
	seen |= forCluster // see the test below
	if all := attention(2*forMigrate - 1); seen != all {
		t.Errorf("the rows are about %b of %b", seen, all)
	}
}

func TestCommandsPayAttentionToTheCluster(t *testing.T) {
	cfg := config.New()
	cfg.Cluster.Enabled = true
	e := New(Options{
		Config: cfg, Clock: expiry.NewManual(epoch), Rand: rand.New(rand.NewPCG(1, 2)),
		Log: slog.New(slog.DiscardHandler), Server: nohost.Host{},
	})
	t.Cleanup(e.Close)
	if e.attention != forCluster {
		t.Errorf("the bits are %b, want %b", e.attention, forCluster)
	}
}

// A room that does not say that it has changed is found by Check.
func TestCheckFindsABitThatIsNotSet(t *testing.T) {
	e, _ := newClocked(t)
	e.Outside(func() {
		e.env.Config.MaxMemory = 1 << 30
		if e.Check() == nil {
			t.Error("the bits without maxmemory are right")
		}
		e.env.Config.MaxMemory = 0
	})
}
