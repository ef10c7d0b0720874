package lock

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of lockredis's own commands. Redis does not have them, so
// their Since is a version of lockredis.
func Commands() []*command.Command {
	const help = command.Own | command.Protected | command.Loading | command.Stale
	const flags = command.Own | command.Protected | command.Admin | command.NoScript | command.Loading | command.Stale
	const turns = command.Own | command.Protected | command.Admin | command.NoScript | command.NoMulti | command.NeedsConnection
	tips := []string{"nondeterministic_output"}
	return []*command.Command{
		{Name: "clock", Arity: -2, Flags: command.Own | command.Protected, Since: "lockredis 0.3.0", Summary: "Groups the commands about the server's clock.", Subs: []*command.Command{
			{Name: "clock|help", Arity: 2, Flags: help, Since: "lockredis 0.3.0", Summary: "Lists the commands.", Run: helpOf("CLOCK")},
		}},
		{Name: "clock.advance", Arity: -2, Flags: turns, Since: "lockredis 0.3.0", Summary: "Turns the server's clock forward, from deadline to deadline.", Run: clockAdvance},
		{Name: "clock.now", Arity: 1, Flags: flags | command.Fast, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns the time of the server's clock in Unix milliseconds.", Run: clockNow},
		{Name: "clock.reset", Arity: -1, Flags: turns, Since: "lockredis 0.3.0", Summary: "Turns the server's clock to the machine's time.", Run: clockReset},
		{Name: "clock.set", Arity: -2, Flags: turns, Since: "lockredis 0.3.0", Summary: "Turns the server's clock to a time, also back.", Run: clockSet},
		{Name: "lock", Arity: -2, Flags: command.Own | command.Protected, Since: "lockredis 0.3.0", Summary: "Groups the commands about locks.", Subs: []*command.Command{
			{Name: "lock|help", Arity: 2, Flags: help, Since: "lockredis 0.3.0", Summary: "Lists the commands.", Run: helpOf("LOCK")},
		}},
		{Name: "lock.await", Arity: -3, Flags: command.Own | command.Protected | command.Admin | command.NoScript | command.Blocking, Keys: command.Key(command.RO|command.Access, 1), Since: "lockredis 0.3.0", Summary: "Waits until a lock is held, free or waited for.", Run: lockAwait},
		{Name: "lock.end", Arity: -2, Flags: command.Own | command.Protected | command.Admin | command.NoScript | command.Write, Keys: command.Key(command.RW|command.Delete, 1), Told: command.ToldByParts, Since: "lockredis 0.3.0", Summary: "Ends the lease of a lock's holder now.", Run: lockEnd},
		{Name: "lock.leaks", Arity: -1, Flags: flags, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns what a test would leave behind: held locks and permits, waiters and subscriptions.", Run: lockLeaks},
		{Name: "lock.list", Arity: -1, Flags: flags, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns the locks that are held or waited for, with their holders and queues.", Run: lockList},
		{Name: "lock.waiters", Arity: -2, Flags: command.Own | command.Protected | command.Admin | command.NoScript | command.Blocking, Keys: command.Key(command.RO|command.Access, 1), Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns the owners that wait for a lock, with their threads.", Run: lockWaiters},
	}
}
