package command

// debugCommands returns the row of DEBUG.
func debugCommands() []*Command {
	return []*Command{
		{Name: "debug", Arity: -2, Flags: Protected | Admin | NoScript | Loading | Stale, Since: "1.0.0", Summary: "Groups the commands for tests and diagnosis.", Run: debugCmd},
	}
}
