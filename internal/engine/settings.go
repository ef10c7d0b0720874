package engine

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/internal/config"
	"github.com/lockredis/lockredis/store"
)

// followSettings copies the store's directives to the store, now and after each CONFIG
// SET of one of them.
func (e *Engine) followSettings(cfg *config.Config) {
	apply := func() error {
		s := e.env.Space
		s.Limits = store.Limits{
			HashEntries: cfg.HashEntries, HashValue: cfg.HashValue,
			ZSetEntries: cfg.ZSetEntries, ZSetValue: cfg.ZSetValue,
			SetIntEntries: cfg.SetIntEntries,
			ListSize:      cfg.ListSize, ListDepth: cfg.ListDepth,

			StreamNodeBytes: cfg.StreamNodeBytes, StreamNodeEntries: cfg.StreamNodeEntries,
		}
		s.Lazyfree = store.Lazyfree{
			Eviction: cfg.Lazyfree.Eviction, Expire: cfg.Lazyfree.Expire,
			ServerDel: cfg.Lazyfree.ServerDel,
		}
		e.memory.Choose(cfg.Eviction)
		e.reportMisses()
		return nil
	}
	cfg.OnChange(config.StoreChange, apply)
	cfg.OnChange(config.MemoryChange, func() error { e.memory.Follow(); return nil })
	const attended = config.MemoryChange | config.RefusalChange | config.StoreChange // the classes of events
	cfg.OnChange(attended, func() error { e.attend(); return nil })
	cfg.OnChange(config.SlowlogChange|config.LatencyChange, func() error { e.measures.Follow(); return nil })
	cfg.OnChange(config.BacklogChange, func() error { e.replicas.Resize(); return nil })
	cfg.OnChange(config.SaveChange, func() error { e.timer.look(); return nil })
	apply()
	e.measures.Follow()
	if cfg.MaxMemory > 0 {
		e.memory.Follow()
	}
}

// reportMisses has the store report misses while keyspace events or the record need them.
func (e *Engine) reportMisses() {
	e.env.Space.ReportMisses = e.env.Config.NotifyEvents&command.KeyMiss != 0 || e.record != nil
}

// Rename applies rename-command directives. Each gives a command another name, or none.
// It is called before Start. The error names the directive that failed.
func (e *Engine) Rename(renames []config.Rename) error {
	for _, r := range renames {
		if !e.env.Table.Knows(r.From) {
			return r.Errorf("No such command in rename-command")
		}
		if !e.env.Table.Rename(r.From, r.To) {
			return r.Errorf("Target command name already exists")
		}
	}
	return nil
}
