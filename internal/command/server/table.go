package server

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands about the server itself.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "bgrewriteaof", Arity: 1, Flags: command.Admin | command.NoScript | command.NoAsyncLoading, Since: "1.0.0", Summary: "Replies as Redis does, but rewrites nothing: lockredis has no append-only file.", Run: bgrewriteaof},
		{Name: "bgsave", Arity: -1, Flags: command.Admin | command.NoScript | command.NoAsyncLoading, Since: "1.0.0", Summary: "Writes the RDB file in the background.", Run: bgsave},
		{Name: "command", Arity: -1, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"}, Since: "2.8.13", Summary: "Returns a description of every command.", Run: commandCmd, Subs: []*command.Command{
			{Name: "command|count", Arity: 2, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Since: "2.8.13", Summary: "Returns the number of commands.", Run: commandCount},
			{Name: "command|docs", Arity: -2, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"}, Since: "7.0.0", Summary: "Returns the documentation of commands.", Run: commandDocs},
			{Name: "command|getkeys", Arity: -4, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Since: "2.8.13", Summary: "Returns the keys in a command line.", Run: commandGetkeys},
			{Name: "command|getkeysandflags", Arity: -4, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Since: "7.0.0", Summary: "Returns the keys in a command line and how the command uses them.", Run: commandGetkeysandflags},
			{Name: "command|help", Arity: 2, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "command|info", Arity: -2, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"}, Since: "2.8.13", Summary: "Returns a description of the named commands.", Run: commandInfo},
			{Name: "command|list", Arity: -2, Flags: command.Loading | command.Stale, Categories: []string{"connection"}, Tips: []string{"nondeterministic_output_order"}, Since: "7.0.0", Summary: "Returns the names of commands.", Run: commandList},
		}},
		{Name: "config", Arity: -2, Since: "2.0.0", Summary: "Groups the commands about configuration.", Subs: []*command.Command{
			{Name: "config|get", Arity: -3, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "2.0.0", Summary: "Returns directives and their values.", Run: configGet},
			{Name: "config|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "config|resetstat", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "2.0.0", Summary: "Resets the counters of INFO to zero.", Run: configResetstat},
			{Name: "config|rewrite", Arity: 2, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Since: "2.8.0", Summary: "Writes the current values into the configuration file.", Run: configRewrite},
			{Name: "config|set", Arity: -4, Flags: command.Admin | command.NoScript | command.Loading | command.Stale, Tips: []string{"request_policy:all_nodes", "response_policy:all_succeeded"}, Since: "2.0.0", Summary: "Changes directives: all of them or, after an error, none.", Run: configSet},
		}},
		{Name: "dbsize", Arity: 1, Flags: command.ReadOnly | command.Fast, Categories: []string{"keyspace"}, Tips: []string{"request_policy:all_shards", "response_policy:agg_sum"}, Since: "1.0.0", Summary: "Returns the number of keys in the database.", Run: dbsize},
		{Name: "failover", Arity: -1, Flags: command.Admin | command.NoScript | command.Stale, Since: "6.2.0", Summary: "Hands the role of the master over to a replica.", Run: failover},
		{Name: "flushall", Arity: -1, Flags: command.Write | command.AlwaysTold, Categories: []string{"keyspace", "dangerous"}, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "1.0.0", Summary: "Deletes all keys of all databases.", Run: flushall},
		{Name: "flushdb", Arity: -1, Flags: command.Write | command.AlwaysTold, Categories: []string{"keyspace", "dangerous"}, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "1.0.0", Summary: "Deletes all keys of the database.", Run: flushdb},
		{Name: "info", Arity: -1, Flags: command.Loading | command.Stale, Categories: []string{"dangerous"}, Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"}, Since: "1.0.0", Summary: "Returns information about the server and its counters.", Run: info},
		{Name: "lastsave", Arity: 1, Flags: command.Loading | command.Stale | command.Fast, Categories: []string{"admin", "dangerous"}, Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Returns the time of the last save, or of the server's start.", Run: lastsave},
		{Name: "lolwut", Arity: -1, Flags: command.ReadOnly | command.Fast, Since: "5.0.0", Summary: "Draws a padlock.", Run: lolwut},
		{Name: "memory", Arity: -2, Since: "4.0.0", Summary: "Groups the commands about memory.", Subs: []*command.Command{
			{Name: "memory|doctor", Arity: 2, Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"}, Since: "4.0.0", Summary: "Reports problems with the memory of the server.", Run: memoryDoctor},
			{Name: "memory|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "4.0.0", Summary: "Lists the subcommands.", Run: memoryHelp},
			{Name: "memory|malloc-stats", Arity: 2, Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"}, Since: "4.0.0", Summary: "Returns statistics of the memory allocator.", Run: memoryMallocStats},
			{Name: "memory|purge", Arity: 2, Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Since: "4.0.0", Summary: "Returns unused memory to the operating system.", Run: memoryPurge},
			{Name: "memory|stats", Arity: 2, Tips: []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"}, Since: "4.0.0", Summary: "Returns statistics of memory use.", Run: memoryStats},
			{Name: "memory|usage", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO, 2), Since: "4.0.0", Summary: "Estimates how many bytes a key takes.", Run: memoryUsage},
		}},
		{Name: "module", Arity: -2, Since: "4.0.0", Summary: "Groups the commands about modules.", Subs: []*command.Command{
			{Name: "module|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "5.0.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "module|list", Arity: 2, Flags: command.Admin | command.NoScript, Tips: []string{"nondeterministic_output_order"}, Since: "4.0.0", Summary: "Lists the modules: none.", Run: moduleList},
			{Name: "module|load", Arity: -3, Flags: command.Protected | command.Admin | command.NoScript | command.NoAsyncLoading, Since: "4.0.0", Summary: "Refuses every file.", Run: moduleLoad},
			{Name: "module|loadex", Arity: -3, Flags: command.Protected | command.Admin | command.NoScript | command.NoAsyncLoading, Since: "7.0.0", Summary: "Refuses every file.", Run: moduleLoad},
			{Name: "module|unload", Arity: 3, Flags: command.Protected | command.Admin | command.NoScript | command.NoAsyncLoading, Since: "4.0.0", Summary: "Replies that there is no such module.", Run: moduleUnload},
		}},
		{Name: "psync", Arity: -3, Flags: command.Admin | command.NoScript | command.NoMulti | command.NoAsyncLoading | command.NeedsConnection, Since: "2.8.0", Summary: "Makes the connection a replica that wants the stream of changes from an offset on.", Run: psync},
		{Name: "replconf", Arity: -1, Flags: command.Admin | command.NoScript | command.Loading | command.Stale | command.AllowBusy | command.NeedsConnection, Since: "3.0.0", Summary: "Says what a replica is, and what it has of the stream.", Run: replconf},
		{Name: "replicaof", Arity: 3, Flags: command.Admin | command.NoScript | command.Stale | command.NoAsyncLoading, Since: "5.0.0", Summary: "Makes the server a replica of another one, or with NO ONE a master.", Run: replicaof},
		{Name: "role", Arity: 1, Flags: command.NoScript | command.Loading | command.Stale | command.Fast, Categories: []string{"admin", "dangerous"}, Since: "2.8.12", Summary: "Returns the replication role of the server.", Run: role},
		{Name: "save", Arity: 1, Flags: command.Admin | command.NoScript | command.NoAsyncLoading | command.NoMulti, Since: "1.0.0", Summary: "Writes the RDB file and replies when it is written.", Run: save},
		{Name: "shutdown", Arity: -1, Flags: command.Admin | command.NoScript | command.Loading | command.Stale | command.NoMulti | command.AllowBusy, Since: "1.0.0", Summary: "Stops the server.", Run: shutdown},
		{Name: "sync", Arity: 1, Flags: command.Admin | command.NoScript | command.NoMulti | command.NoAsyncLoading | command.NeedsConnection, Since: "1.0.0", Summary: "Makes the connection a replica that wants all data.", Run: syncAll},
		{Name: "slaveof", Arity: 3, Flags: command.Admin | command.NoScript | command.Stale | command.NoAsyncLoading, Since: "1.0.0", Summary: "Makes the server a replica of another one, or with NO ONE a master.", Run: replicaof},
		{Name: "swapdb", Arity: 3, Flags: command.Write | command.Fast, Categories: []string{"keyspace", "dangerous"}, Since: "4.0.0", Summary: "Exchanges the contents of two databases.", Run: swapdb},
		{Name: "time", Arity: 1, Flags: command.Loading | command.Stale | command.Fast, Tips: []string{"nondeterministic_output"}, Since: "2.6.0", Summary: "Returns the time of the server.", Run: timeCmd},
	}
}
