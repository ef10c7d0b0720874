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
			ListSize:      cfg.ListSize,

			StreamNodeBytes: cfg.StreamNodeBytes, StreamNodeEntries: cfg.StreamNodeEntries,
		}
		s.ReportMisses = cfg.NotifyEvents&command.KeyMiss != 0
		return nil
	}
	cfg.OnChange(config.StoreChange, apply)
	apply()
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
