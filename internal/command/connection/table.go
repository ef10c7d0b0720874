package connection

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands for connections.
func Commands() []*command.Command {
	rows := []*command.Command{
		{Name: "auth", Arity: -2, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.NoAuth | command.AllowBusy | command.NeedsConnection, Since: "1.0.0", Summary: "Authenticates the connection.", Run: auth},
		{Name: "client", Arity: -2, Since: "2.4.0", Summary: "Groups the commands about client connections.", Subs: []*command.Command{
			{Name: "client|caching", Arity: 3, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "6.0.0", Summary: "Says whether the keys of the next command are tracked.", Run: clientCaching},
			{Name: "client|getname", Arity: 2, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "2.6.9", Summary: "Returns the connection's name.", Run: clientGetname},
			{Name: "client|getredir", Arity: 2, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "6.0.0", Summary: "Returns the id of the client that gets the invalidations.", Run: clientGetredir},
			{Name: "client|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "client|id", Arity: 2, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "5.0.0", Summary: "Returns the connection's id.", Run: clientID},
			{Name: "client|info", Arity: 2, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Tips: []string{"nondeterministic_output"}, Since: "6.2.0", Summary: "Describes the connection that asks.", Run: clientInfo},
			{Name: "client|kill", Arity: -3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "2.4.0", Summary: "Closes connections by address, id, type or user.", Run: clientKill},
			{Name: "client|list", Arity: -2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Tips: []string{"nondeterministic_output"}, Since: "2.4.0", Summary: "Describes the open connections.", Run: clientList},
			{Name: "client|no-evict", Arity: 3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "7.0.0", Summary: "Sets the flag e of the connection; lockredis evicts no clients.", Run: clientNoEvict},
			{Name: "client|pause", Arity: -3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "2.9.50", Summary: "Postpones commands for a time.", Run: clientPause},
			{Name: "client|reply", Arity: 3, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "3.2.0", Summary: "Silences replies, or stops silencing them.", Run: clientReply},
			{Name: "client|setname", Arity: 3, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "2.6.9", Summary: "Names the connection.", Run: clientSetname},
			{Name: "client|tracking", Arity: -3, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "6.0.0", Summary: "Turns tracking of the keys that the client reads on and off.", Run: clientTracking},
			{Name: "client|trackinginfo", Arity: 2, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "6.2.0", Summary: "Describes how the client's keys are tracked.", Run: clientTrackinginfo},
			{Name: "client|unblock", Arity: -3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "5.0.0", Summary: "Ends the wait of a blocked connection.", Run: clientUnblock},
			{Name: "client|unpause", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "6.2.0", Summary: "Ends CLIENT PAUSE.", Run: clientUnpause},
		}},
		{Name: "echo", Arity: 2, Flags: command.Loading | command.Stale | command.Fast, Since: "1.0.0", Summary: "Returns its argument.", Run: echo},
		{Name: "hello", Arity: -1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.NoAuth | command.AllowBusy | command.NeedsConnection, Since: "6.0.0", Summary: "Chooses the protocol version, and can authenticate and name the connection.", Run: hello},
		{Name: "ping", Arity: -1, Flags: command.Fast | command.WhileSubscribed | command.TellsHealth, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "1.0.0", Summary: "Answers PONG, or its argument.", Run: ping},
		{Name: "quit", Arity: -1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.NoAuth | command.AllowBusy | command.InMulti | command.EndsMulti | command.WhileSubscribed | command.NeedsConnection, Since: "1.0.0", Summary: "Closes the connection.", Run: quit},
		{Name: "reset", Arity: 1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast | command.NoAuth | command.AllowBusy | command.InMulti | command.EndsMulti | command.WhileSubscribed | command.NeedsConnection, Since: "6.2.0", Summary: "Brings the connection back to its first state.", Run: reset},
		{Name: "select", Arity: 2, Flags: command.Loading | command.Stale | command.Fast, Since: "1.0.0", Summary: "Chooses the database.", Run: selectCmd},
	}
	for _, row := range rows {
		if row.Name == "client" {
			keepCaching(row.Subs)
		}
	}
	return rows
}

// keepCaching sets KeepsCaching of the subcommands of CLIENT.
func keepCaching(subs []*command.Command) {
	for _, sub := range subs {
		sub.KeepsCaching = true
	}
}

// ValkeySubs returns the rows of the subcommands of CLIENT that Valkey 9.1 has and Redis 7.0 has not.
func ValkeySubs() []*command.Command {
	rows := []*command.Command{
		{Name: "client|capa", Arity: -3, Flags: command.NoScript | command.Loading | command.Stale | command.AllowBusy | command.NeedsConnection, Since: "8.0.0", Summary: "Names capabilities of the client.", Run: clientCapa},
		{Name: "client|import-source", Arity: 3, Flags: command.NoScript | command.Loading | command.Stale | command.NeedsConnection, Since: "8.1.0", Summary: "Marks the connection as the source of an import.", Run: clientImportSource},
		{Name: "client|no-touch", Arity: 3, Flags: command.NoScript | command.Loading | command.Stale | command.AllowBusy | command.NeedsConnection, Since: "7.2.0", Summary: "Chooses whether the connection's commands count as accesses of keys.", Run: clientNoTouch},
		{Name: "client|setinfo", Arity: 4, Flags: command.NoScript | command.Loading | command.Stale | command.AllowBusy | command.NeedsConnection, Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Since: "7.2.0", Summary: "Stores the name or the version of the client library.", Run: clientSetinfo},
	}
	keepCaching(rows)
	return rows
}
