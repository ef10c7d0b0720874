package transaction

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands for transactions.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "discard", Arity: 1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.AllowBusy | command.InMulti | command.EndsMulti | command.NeedsConnection, Since: "2.0.0", Summary: "Throws the queued commands away.", Run: discard},
		{Name: "exec", Arity: 1, Flags: command.NoScript | command.Loading | command.Stale | command.SkipSlowlog | command.InMulti | command.EndsMulti | command.RunsQueue | command.NeedsConnection, Since: "1.2.0", Summary: "Runs the queued commands as one unit.", Told: command.ToldByParts, Run: exec},
		{Name: "multi", Arity: 1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.AllowBusy | command.InMulti | command.NeedsConnection, Since: "1.2.0", Summary: "Starts queueing commands.", Run: multi},
		{Name: "unwatch", Arity: 1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.AllowBusy | command.NeedsConnection, Since: "2.2.0", Summary: "Forgets the watched keys.", Run: unwatch},
		{Name: "watch", Arity: -2, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.AllowBusy | command.InMulti | command.NeedsConnection, Keys: command.Keys(command.RO, 1, -1, 1), Since: "2.2.0", Summary: "Makes EXEC depend on keys staying unchanged.", Run: watch},
	}
}
