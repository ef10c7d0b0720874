package set

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the set commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "sadd", Arity: -3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "1.0.0", Summary: "Adds members to a set.", Run: sadd},
		{Name: "scard", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "1.0.0", Summary: "Counts the members of a set.", Run: scard},
		{Name: "sdiff", Arity: -2, Flags: command.ReadOnly, Keys: command.Keys(command.RO|command.Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns the members of the first set that no other set has.", Run: sdiff},
		{Name: "sdiffstore", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Keys(command.RO|command.Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the members of the first set that no other set has.", Run: sdiffstore},
		{Name: "sinter", Arity: -2, Flags: command.ReadOnly, Keys: command.Keys(command.RO|command.Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns the members that all sets have.", Run: sinter},
		{Name: "sintercard", Arity: -3, Flags: command.ReadOnly | command.MovableKeys, Keys: command.Numkeys(command.RO|command.Access, 1), Since: "7.0.0", Summary: "Counts the members that all sets have.", Run: sintercard},
		{Name: "sinterstore", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.RW|command.Update, 1), command.Keys(command.RO|command.Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the members that all sets have.", Run: sinterstore},
		{Name: "sismember", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "1.0.0", Summary: "Reports whether a set has a member.", Run: sismember},
		{Name: "smembers", Arity: 2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Lists the members of a set.", Run: smembers},
		{Name: "smismember", Arity: -3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "6.2.0", Summary: "Reports for several members whether a set has them.", Run: smismember},
		{Name: "smove", Arity: 4, Flags: command.Write | command.Fast, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.RW|command.Insert, 2)), Since: "1.0.0", Summary: "Moves a member from one set to another.", Run: smove},
		{Name: "spop", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Removes random members from a set and returns them.", Told: toldSpop, Run: spop},
		{Name: "srandmember", Arity: -2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Returns random members of a set.", Run: srandmember},
		{Name: "srem", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Delete, 1), Since: "1.0.0", Summary: "Removes members of a set.", Run: srem},
		{Name: "sscan", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.8.0", Summary: "Iterates over the members of a set, a few per call.", Run: sscan},
		{Name: "sunion", Arity: -2, Flags: command.ReadOnly, Keys: command.Keys(command.RO|command.Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns the members that any of the sets has.", Run: sunion},
		{Name: "sunionstore", Arity: -3, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Keys(command.RO|command.Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the members that any of the sets has.", Run: sunionstore},
	}
}
