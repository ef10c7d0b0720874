package str

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the string commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "append", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "2.0.0", Summary: "Appends bytes to a string.", Run: appendCmd},
		{Name: "decr", Arity: 2, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.0.0", Summary: "Subtracts one from an integer.", Run: decr},
		{Name: "decrby", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.0.0", Summary: "Subtracts a number from an integer.", Run: decrby},
		{Name: "get", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "1.0.0", Summary: "Reads a string.", Run: get},
		{Name: "getdel", Arity: 2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Since: "6.2.0", Summary: "Reads a string and deletes its key.", Told: toldGetdel, Run: getdel},
		{Name: "getex", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Noted(command.Key(command.RW|command.Access|command.Update, 1), "RW and UPDATE because it changes the TTL"), Since: "6.2.0", Summary: "Reads a string and sets or removes its time to live.", Told: toldGetex, Run: getex},
		{Name: "getrange", Arity: 4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "2.4.0", Summary: "Reads a part of a string.", Run: getrange},
		{Name: "getset", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.0.0", Summary: "Stores a string and returns the old one.", Told: toldGetset, Run: getset},
		{Name: "incr", Arity: 2, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.0.0", Summary: "Adds one to an integer.", Run: incr},
		{Name: "incrby", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.0.0", Summary: "Adds a number to an integer.", Run: incrby},
		{Name: "incrbyfloat", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "2.6.0", Summary: "Adds a fractional number to a number.", Told: toldIncrbyfloat, Run: incrbyfloat},
		{Name: "lcs", Arity: -3, Flags: command.ReadOnly, Keys: command.Keys(command.RO|command.Access, 1, 1, 1), Since: "7.0.0", Summary: "Finds the longest common subsequence of two strings.", Run: lcs},
		{Name: "mget", Arity: -2, Flags: command.ReadOnly | command.Fast, Keys: command.Keys(command.RO|command.Access, 1, -1, 1), Tips: []string{"request_policy:multi_shard"}, Since: "1.0.0", Summary: "Reads several strings.", Run: mget},
		{Name: "mset", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Keys(command.OW|command.Update, 1, -1, 2), Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"}, Since: "1.0.1", Summary: "Stores several strings.", Run: mset},
		{Name: "msetnx", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Keys(command.OW|command.Insert, 1, -1, 2), Tips: []string{"request_policy:multi_shard", "response_policy:agg_min"}, Since: "1.0.1", Summary: "Stores several strings if none of the keys exists.", Run: msetnx},
		{Name: "psetex", Arity: 4, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.OW|command.Update, 1), Since: "2.6.0", Summary: "Stores a string with a time to live in milliseconds.", Told: toldPsetex, Run: psetex},
		{Name: "set", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Refined(command.Noted(command.Key(command.RW|command.Access|command.Update|command.VariableFlags, 1), "RW and ACCESS due to the optional `GET` argument"), setKeyFlags), Since: "1.0.0", Summary: "Stores a string, optionally with a condition or a time to live.", Told: toldSet, Run: set},
		{Name: "setex", Arity: 4, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.OW|command.Update, 1), Since: "2.0.0", Summary: "Stores a string with a time to live in seconds.", Told: toldSetex, Run: setex},
		{Name: "setnx", Arity: 3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.OW|command.Insert, 1), Since: "1.0.0", Summary: "Stores a string if the key does not exist.", Run: setnx},
		{Name: "setrange", Arity: 4, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Update, 1), Since: "2.2.0", Summary: "Overwrites a part of a string.", Run: setrange},
		{Name: "strlen", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "2.2.0", Summary: "Returns the length of a string in bytes.", Run: strlen},
		{Name: "substr", Arity: 4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "1.0.0", Summary: "Reads a part of a string; the old name of GETRANGE.", Run: substr},
	}
}

// ValkeyCommands returns the rows of the string commands that Valkey 9.1 has and Redis 7.0 has not.
func ValkeyCommands() []*command.Command {
	return []*command.Command{
		{Name: "delifeq", Arity: 3, Flags: command.Write | command.Fast, Keys: command.Key(command.RM|command.Delete, 1), Since: "9.0.0", Summary: "Deletes a string that has the given value.", Told: toldDelifeq, Run: delifeq},
		{Name: "msetex", Arity: -4, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: []command.KeySpec{{Flags: command.OW | command.Update, Begin: command.Index, Index: 1, Find: command.Keynum, FirstKey: 1, Step: 2}}, Tips: []string{"request_policy:multi_shard", "response_policy:all_succeeded"}, Since: "9.1.0", Summary: "Stores several strings with one deadline.", Told: toldMsetex, Run: msetex},
	}
}
