package lockredistest_test

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockredis/lockredis"
	"github.com/lockredis/lockredis/lockredistest"
)

// options has a row for each option.
var options = map[string]lockredistest.Option{
	"AllowLeaks":      lockredistest.AllowLeaks(),
	"LockKeys":        lockredistest.LockKeys("lock:*"),
	"DataKeys":        lockredistest.DataKeys("data:*"),
	"ManualClock":     lockredistest.ManualClock(),
	"Listen":          lockredistest.Listen("127.0.0.1:0"),
	"TLS":             lockredistest.TLS(),
	"Password":        lockredistest.Password("secret"),
	"Directive":       lockredistest.Directive("maxclients", "100"),
	"Cluster":         lockredistest.Cluster(),
	"ClusterOf":       lockredistest.ClusterOf(1),
	"ClusterReplicas": lockredistest.ClusterReplicas(0), // more need ClusterOf
	"Primaries":       lockredistest.Primaries(2),
	"Replicas":        lockredistest.Replicas(2),
	"Proxy":           lockredistest.Proxy(2),
	"Logger":          lockredistest.Logger(slog.New(slog.DiscardHandler)),
	"Sentinel":        lockredistest.Sentinel(nil),
}

func TestEachOptionWorksWithATestAndWithout(t *testing.T) {
	for name, option := range options {
		use := func(t *testing.T, srv *lockredistest.Server) {
			rdb := srv.Client()
			if err := rdb.Set(t.Context(), "key", "value", 0).Err(); err != nil {
				t.Fatal(err)
			}
			srv.CheckGet(t, "key", "value")
			if name == "Sentinel" {
				if err := srv.FailoverClient().Ping(t.Context()).Err(); err != nil {
					t.Error(err)
				}
			}
			if addr := srv.Addr(); !strings.HasPrefix(addr, "127.0.0.1:") {
				t.Errorf("Addr is %q", addr)
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Run("RunT", func(t *testing.T) { use(t, lockredistest.RunT(t, option)) })
			t.Run("Run", func(t *testing.T) {
				srv, err := lockredistest.Run(option)
				if err != nil {
					t.Fatal(err)
				}
				use(t, srv)
				if err := srv.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestRunReturnsTheErrorOfAnOption(t *testing.T) {
	few := lockredistest.Sentinel(func(c *lockredis.SentinelConfig) { c.Addrs = []string{} })
	for name, option := range map[string]lockredistest.Option{
		"directive": lockredistest.Directive("nonsense", "1"),
		"address":   lockredistest.Listen("nonsense"),
		"Sentinels": few,
	} {
		if srv, err := lockredistest.Run(option); err == nil || srv != nil {
			t.Errorf("%s: %v, %v", name, srv, err)
		}
	}
}

// endings are calls that end a test, with a part of the text.
var endings = map[string]struct {
	options []lockredistest.Option
	call    func(*lockredistest.Server)
	text    string
}{
	"Advance without ManualClock": {nil,
		func(s *lockredistest.Server) { s.Advance(time.Second) }, "Advance needs"},
	"Advance backwards": {[]lockredistest.Option{lockredistest.ManualClock()},
		func(s *lockredistest.Server) { s.Advance(-1) }, "does not run backwards"},
	"AdvanceAll without ManualClock": {[]lockredistest.Option{lockredistest.Primaries(2)},
		func(s *lockredistest.Server) { s.AdvanceAll(time.Second) }, "AdvanceAll needs"},
	"AdvanceAll backwards": {[]lockredistest.Option{lockredistest.Primaries(2), lockredistest.ManualClock()},
		func(s *lockredistest.Server) { s.AdvanceAll(-1) }, "AdvanceAll(-1ns): the clock does not run backwards"},
	"SetTimeAll without ManualClock": {nil,
		func(s *lockredistest.Server) { s.SetTimeAll(time.Now()) }, "SetTimeAll needs"},
	"SetTime without ManualClock": {nil,
		func(s *lockredistest.Server) { s.SetTime(time.Now()) }, "SetTime needs"},
	"SetTime before 1970": {[]lockredistest.Option{lockredistest.ManualClock()},
		func(s *lockredistest.Server) { s.SetTime(time.Time{}) }, "begins in 1970"},
	"SetTime after 2261": {[]lockredistest.Option{lockredistest.ManualClock()},
		func(s *lockredistest.Server) { s.SetTime(time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)) },
		"ends with the year 2261"},
	"Advance past 2261": {[]lockredistest.Option{lockredistest.ManualClock()},
		func(s *lockredistest.Server) { s.Advance(math.MaxInt64) }, "ends with the year 2261"},
	"FailoverClient without Sentinel": {nil,
		func(s *lockredistest.Server) { s.FailoverClient() }, "needs the option Sentinel"},
	"a database above the last one": {nil,
		func(s *lockredistest.Server) { s.DB(16).Set("k", "v") },
		"DB(16): the server has the databases 0 to 15"},
	"a negative database": {nil, func(s *lockredistest.Server) { s.DB(-1) }, "DB(-1)"},
	"a database that the directive does not give": {
		[]lockredistest.Option{lockredistest.Directive("databases", "2")},
		func(s *lockredistest.Server) { s.DB(2) }, "databases 0 to 1"},
	"a database of a cluster": {[]lockredistest.Option{lockredistest.Cluster()},
		func(s *lockredistest.Server) { s.DB(1) }, "the server has only database 0"},
	"Select of a missing database": {nil, func(s *lockredistest.Server) { s.Select(99) }, "Select(99)"},
	"Select in a cluster": {[]lockredistest.Option{lockredistest.Cluster()},
		func(s *lockredistest.Server) { s.Select(1) }, "Select(1): the server has only database 0"},
}

func TestAWrongCallEndsTheTest(t *testing.T) {
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{TB: t}
			srv := lockredistest.RunT(rec, c.options...)
			rec.stops(t, func() { c.call(srv) })
			if text := rec.end(); !strings.Contains(text, c.text) {
				t.Errorf("%q, want %q", text, c.text)
			}
		})
	}
}

func TestAWrongCallWithoutATestPanics(t *testing.T) {
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			srv, err := lockredistest.Run(c.options...)
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, c.text) {
					t.Errorf("panic %q, want %q", text, c.text)
				}
			}()
			c.call(srv)
		})
	}
}

func TestTheLastDatabaseExists(t *testing.T) {
	srv := lockredistest.RunT(t)
	srv.DB(15).Set("k", "v")
	srv.DB(15).CheckGet(t, "k", "v")
	if keys := srv.DB(14).Keys(); !slices.Equal(keys, nil) {
		t.Error(keys)
	}
}
