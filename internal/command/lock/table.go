package lock

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of lockredis's own commands. Redis does not have them, so
// their Since is a version of lockredis.
func Commands() []*command.Command {
	const flags = command.Own | command.Protected | command.Admin | command.NoScript | command.Loading | command.Stale
	tips := []string{"nondeterministic_output"}
	return []*command.Command{
		{Name: "lock.leaks", Arity: -1, Flags: flags, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns what a test would leave behind: held locks and permits, waiters and subscriptions.", Run: lockLeaks},
		{Name: "lock.list", Arity: -1, Flags: flags, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns the locks that are held or waited for, with their holders and queues.", Run: lockList},
	}
}
