package persist

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lockredis/lockredis/expiry"
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/internal/nohost"
	"github.com/lockredis/lockredis/luaexec"
	"github.com/lockredis/lockredis/resp"
	"github.com/lockredis/lockredis/store"
)

// host is an engine with nothing but its lock, and with the rooms that Files uses.
type host struct {
	command.Parking
	command.Pausing
	command.Memory
	store.Observer

	mu     sync.Mutex
	ending bool
	paused bool
	wrote  string // to the clients that were parked
	clock  *expiry.Manual
	env    command.Env
	files  *Files
	done   sync.WaitGroup
	lines  []string // that were replayed
}

// newHost returns a host whose file is in a folder of its own.
func newHost(t testing.TB) *host {
	h := &host{clock: expiry.NewManual(time.UnixMilli(1_700_000_000_000))}
	cfg := config.New()
	cfg.RDB.File, cfg.RDB.Program = filepath.Join(t.TempDir(), "dump.rdb"), true
	h.env = command.Env{
		Space: store.NewSpace(cfg.Databases, h), Config: cfg, Clock: h.clock, Server: nohost.Host{},
		Scripts: luaexec.New(luaexec.Options{Version: config.RedisVersion}),
		Parking: h, Pausing: h, Memory: h,
	}
	h.env.Space.SetNow(h.clock.Now().UnixMilli())
	h.files = New(Options{
		Engine: h, Env: &h.env, Log: slog.New(slog.DiscardHandler), Quiet: h, Goroutines: &h.done,
	})
	t.Cleanup(h.done.Wait)
	return h
}

func (h *host) Attend()            {}
func (h *host) Loaded(int, string) {}
func (h *host) Outside(unit func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	unit()
}

func (h *host) Ending() bool { return h.ending }
func (h *host) Reading(bool) {}
func (h *host) SafePoint()   {}

func (h *host) Replay(db int, line resp.Args) bool {
	h.lines = append(h.lines, fmt.Sprintf("%d %s", db, line))
	return true
}

func (h *host) Park(p *command.Parked) { p.Session.Parked = p }

func (h *host) Unpark(s *command.Session, r resp.Reply) bool {
	s.Parked = nil
	h.wrote += string(resp.Append(nil, r, 2))
	return true
}

func (h *host) Pause(int64, bool)    { h.paused = true }
func (h *host) Used() int64          { return 1 << 20 }
func (h *host) Policy() store.Policy { return 0 }
func (h *host) Touched(int, string)  {}
func (h *host) Added(int, string)    {}
func (h *host) Renewed(int, string)  {}
func (h *host) Lost(int, string)     {}
func (h *host) Emptying(*store.DB)   {}

// set sets a key, as a command does.
func (h *host) set(key, value string) {
	h.Outside(func() {
		h.env.Space.DB(0).Set([]byte(key), store.ParseString([]byte(value)))
		h.env.Dirty++
	})
}
