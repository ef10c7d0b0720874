package command

// lockCommands returns the rows of lockredis's own commands. Redis does not have them, so
// their Since is a version of lockredis.
func lockCommands() []*Command {
	const flags = Own | Protected | Admin | NoScript | Loading | Stale
	tips := []string{"nondeterministic_output"}
	return []*Command{
		{Name: "lock.leaks", Arity: -1, Flags: flags, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns what a test would leave behind: held locks and permits, waiters and subscriptions.", Run: lockLeaks},
		{Name: "lock.list", Arity: -1, Flags: flags, Tips: tips, Since: "lockredis 0.3.0", Summary: "Returns the locks that are held or waited for, with their holders and queues.", Run: lockList},
	}
}
