package command

// transactionCommands is the table of transactions.
func transactionCommands() []*Command {
	return []*Command{
		{Name: "discard", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti | EndsMulti | NeedsConnection, Since: "2.0.0", Summary: "Throws the queued commands away.", Run: discard},
		{Name: "exec", Arity: 1, Flags: NoScript | Loading | Stale | SkipSlowlog | InMulti | EndsMulti | RunsQueue | NeedsConnection, Since: "1.2.0", Summary: "Runs the queued commands as one unit.", Told: toldByParts, Run: exec},
		{Name: "multi", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti | NeedsConnection, Since: "1.2.0", Summary: "Starts queueing commands.", Run: multi},
		{Name: "unwatch", Arity: 1, Flags: NoScript | Loading | Stale | Fast | AllowBusy | NeedsConnection, Since: "2.2.0", Summary: "Forgets the watched keys.", Run: unwatch},
		{Name: "watch", Arity: -2, Flags: NoScript | Loading | Stale | Fast | AllowBusy | InMulti | NeedsConnection, Keys: keys(RO, 1, -1, 1), Since: "2.2.0", Summary: "Makes EXEC depend on keys staying unchanged.", Run: watch},
	}
}
