package growth

import (
	"slices"
	"testing"

	"github.com/lockredis/lockredis/internal/command/commands"
)

func TestEveryCaseRunsInProcess(t *testing.T) {
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			n := min(g.small, 100)
			p := newInProcess(t)
			defer p.close()
			fill(p, g, n)
			for _, c := range g.cases {
				if _, calls := p.time(c.commands(), c.cycles(n, 0, 3)); calls < 3 {
					t.Errorf("%s: %d calls are timed", c.name, calls)
				}
			}
		})
	}
}

func TestEveryDataCommandHasACase(t *testing.T) {
	var measured []string
	for _, g := range groups() {
		for _, c := range g.cases {
			measured = append(measured, c.commands()...)
		}
	}
	for _, cmd := range commands.NewTable().All() {
		switch cmd.Group {
		case "string", "hash", "list", "set", "sorted-set", "generic", "bitmap", "hyperloglog", "geo",
			"stream":
		default:
			continue
		}
		names := []string{cmd.Name}
		if cmd.Container() {
			names = nil
			for _, sub := range cmd.Subs {
				names = append(names, sub.Name)
			}
		}
		for _, name := range names {
			if !slices.Contains(without, name) && !slices.Contains(measured, name) {
				t.Errorf("%s has no case", name)
			}
		}
	}
}

// without are commands whose cost does not depend on data, and two whose work is DUMP's:
// RESTORE, whose payload a line cannot hold, and MIGRATE, which needs a second server.
var without = []string{"wait", "object|freq", "object|help", "pfselftest", "restore",
	"restore-asking", "migrate", "xgroup|help", "xinfo|help"}
