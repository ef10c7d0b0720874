package debug

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the row of DEBUG.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "debug", Arity: -2, Flags: command.Protected | command.Admin | command.NoScript | command.Loading | command.Stale, Since: "1.0.0", Summary: "Groups the commands for tests and diagnosis.", Run: debugCmd},
	}
}
