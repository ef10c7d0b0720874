package generic

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the commands for keys of any type.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "copy", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.RO|command.Access, 1), command.Key(command.OW|command.Update, 2)), Since: "6.2.0", Summary: "Copies a value with its deadline to another key, in any database.", Run: copyCmd},
		{Name: "del", Arity: -2, Flags: command.Write, Keys: command.Keys(command.RM|command.Delete, 1, -1, 1), Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Since: "1.0.0", Summary: "Deletes keys.", Run: del},
		{Name: "dump", Arity: 2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.6.0", Summary: "Returns a value in the form that RESTORE takes.", Run: dump},
		{Name: "exists", Arity: -2, Flags: command.ReadOnly | command.Fast, Keys: command.Keys(command.RO, 1, -1, 1), Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Since: "1.0.0", Summary: "Counts how many of the keys exist.", Run: exists},
		{Name: "expire", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "1.0.0", Summary: "Sets the time to live of a key, in seconds.", Told: toldExpire, Run: expire},
		{Name: "expireat", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "1.2.0", Summary: "Sets the deadline of a key, as a Unix time in seconds.", Told: toldExpireat, Run: expireat},
		{Name: "expiretime", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "7.0.0", Summary: "Returns the deadline of a key, as a Unix time in seconds.", Run: expiretime},
		{Name: "keys", Arity: 2, Flags: command.ReadOnly | command.ToldApart, Categories: []string{"keyspace", "dangerous"}, Tips: []string{"request_policy:all_shards", "nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns all keys that match a pattern.", Run: keysCmd},
		{Name: "migrate", Arity: -6, Flags: command.Write | command.MovableKeys, Keys: command.Concat(command.Refined(command.Key(command.RW|command.Access|command.Delete, 3), migrateKeys), command.Refined([]command.KeySpec{{Flags: command.RW | command.Access | command.Delete | command.Incomplete, Begin: command.Keyword, Keyword: "KEYS", From: -2, Find: command.Range, Last: -1, Step: 1}}, noKeys)), Categories: []string{"keyspace", "dangerous"}, Tips: []string{"nondeterministic_output"}, Since: "2.6.0", Summary: "Moves or copies keys to another server.", Told: command.ToldByParts, Run: migrate},
		{Name: "move", Arity: 3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.0.0", Summary: "Moves a key to another database.", Run: move},
		{Name: "object", Arity: -2, Since: "2.2.3", Summary: "Groups the commands that inspect a value.", Subs: []*command.Command{
			{Name: "object|encoding", Arity: 3, Flags: command.ReadOnly, Keys: command.Key(command.RO, 2), Tips: []string{"nondeterministic_output"}, Since: "2.2.3", Summary: "Returns the internal encoding of a value.", Run: objectEncoding},
			{Name: "object|freq", Arity: 3, Flags: command.ReadOnly, Keys: command.Key(command.RO, 2), Tips: []string{"nondeterministic_output"}, Since: "4.0.0", Summary: "Returns the access frequency of a key, which an LFU policy counts.", Run: objectFreq},
			{Name: "object|help", Arity: 2, Flags: command.Loading | command.Stale, Since: "6.2.0", Summary: "Lists the subcommands.", Run: command.Help},
			{Name: "object|idletime", Arity: 3, Flags: command.ReadOnly, Keys: command.Key(command.RO, 2), Tips: []string{"nondeterministic_output"}, Since: "2.2.3", Summary: "Returns the seconds since the last access to a key.", Run: objectIdletime},
			{Name: "object|refcount", Arity: 3, Flags: command.ReadOnly, Keys: command.Key(command.RO, 2), Tips: []string{"nondeterministic_output"}, Since: "2.2.3", Summary: "Returns the reference count of a value.", Run: objectRefcount},
		}},
		{Name: "persist", Arity: 2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "2.2.0", Summary: "Removes the deadline of a key.", Run: persist},
		{Name: "pexpire", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "2.6.0", Summary: "Sets the time to live of a key, in milliseconds.", Told: toldPexpire, Run: pexpire},
		{Name: "pexpireat", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "2.6.0", Summary: "Sets the deadline of a key, as a Unix time in milliseconds.", Told: toldPexpireat, Run: pexpireat},
		{Name: "pexpiretime", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "7.0.0", Summary: "Returns the deadline of a key, as a Unix time in milliseconds.", Run: pexpiretime},
		{Name: "pttl", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.6.0", Summary: "Returns the remaining time to live of a key, in milliseconds.", Run: pttl},
		{Name: "randomkey", Arity: 1, Flags: command.ReadOnly | command.ToldApart, Tips: []string{"request_policy:all_shards", "nondeterministic_output"}, Since: "1.0.0", Summary: "Returns a random key.", Run: randomkey},
		{Name: "rename", Arity: 3, Flags: command.Write, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.OW|command.Update, 2)), Since: "1.0.0", Summary: "Renames a key and overwrites the destination.", Run: rename},
		{Name: "renamenx", Arity: 3, Flags: command.Write | command.Fast, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.OW|command.Insert, 2)), Since: "1.0.0", Summary: "Renames a key if the new name is free.", Run: renamenx},
		{Name: "restore", Arity: -4, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.OW|command.Update, 1), Categories: []string{"keyspace", "dangerous"}, Since: "2.6.0", Summary: "Creates a key from a payload of DUMP.", Told: toldRestore, Run: restore},
		{Name: "restore-asking", Arity: -4, Flags: command.Write | command.DenyOOM | command.Asking, Keys: command.Key(command.OW|command.Update, 1), Categories: []string{"keyspace", "dangerous"}, Since: "3.0.0", Summary: "Is RESTORE, for MIGRATE between nodes of a cluster.", Told: toldRestore, Run: restore},
		{Name: "scan", Arity: -2, Flags: command.ReadOnly | command.ToldApart, Tips: []string{"nondeterministic_output", "request_policy:special"}, Since: "2.8.0", Summary: "Iterates over the keys, a few per call.", Run: scan},
		{Name: "sort", Arity: -2, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: command.Concat(command.Key(command.RO|command.Access, 1), command.Noted([]command.KeySpec{{Flags: command.RO | command.Access}}, "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the content of the key we sort"), command.Refined(command.Noted([]command.KeySpec{{Flags: command.OW | command.Update}}, "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear anywhere in the argument array"), sortStoreKey)), Categories: []string{"set", "sortedset", "list", "dangerous"}, Since: "1.0.0", Summary: "Sorts a list, set or sorted set, and can store the result.", Run: sortAndStore},
		{Name: "sort_ro", Arity: -2, Flags: command.ReadOnly | command.MovableKeys, Keys: command.Concat(command.Key(command.RO|command.Access, 1), command.Noted([]command.KeySpec{{Flags: command.RO | command.Access}}, "For the optional BY/GET keyword. It is marked 'unknown' because the key names derive from the content of the key we sort")), Categories: []string{"set", "sortedset", "list", "dangerous"}, Since: "7.0.0", Summary: "Sorts a list, set or sorted set; cannot store the result.", Run: sortRO},
		{Name: "touch", Arity: -2, Flags: command.ReadOnly | command.Fast, Keys: command.Keys(command.RO, 1, -1, 1), Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Since: "3.2.1", Summary: "Updates the access time of keys and returns how many exist.", Run: touch},
		{Name: "ttl", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Returns the remaining time to live of a key, in seconds.", Run: ttl},
		{Name: "type", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "1.0.0", Summary: "Returns the type of a value.", Run: typeCmd},
		{Name: "unlink", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Keys(command.RM|command.Delete, 1, -1, 1), Tips: []string{"request_policy:multi_shard", "response_policy:agg_sum"}, Since: "4.0.0", Summary: "Deletes keys.", Run: unlink},
		{Name: "wait", Arity: 3, Flags: command.NoScript, Categories: []string{"connection"}, Tips: []string{"request_policy:all_shards", "response_policy:agg_min"}, Since: "3.0.0", Summary: "Waits until replicas have acknowledged the writes of the client.", Run: wait},
	}
}

// ValkeyCommands returns the rows of the commands that Valkey 9.1 has and Redis 7.0 has not.
func ValkeyCommands() []*command.Command {
	return []*command.Command{
		{Name: "waitaof", Arity: 4, Flags: command.Blocking, Tips: []string{"request_policy:all_shards", "response_policy:agg_min"}, Since: "7.2.0", Summary: "Waits until replicas have written the connection's changes to disk.", Run: waitaof},
	}
}
