package hash

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the hash commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "hdel", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Delete, 1), Since: "2.0.0", Summary: "Deletes fields of a hash.", Run: hdel},
		{Name: "hexists", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "2.0.0", Summary: "Reports whether a hash has a field.", Run: hexists},
		{Name: "hget", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.0.0", Summary: "Reads a field of a hash.", Run: hget},
		{Name: "hgetall", Arity: 2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output_order"}, Since: "2.0.0", Summary: "Reads all fields of a hash with their values.", Run: hgetall},
		{Name: "hincrby", Arity: 4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "2.0.0", Summary: "Adds a number to an integer in a hash.", Told: toldHincrby, Run: hincrby},
		{Name: "hincrbyfloat", Arity: 4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "2.6.0", Summary: "Adds a fractional number to a number in a hash.", Told: toldHincrbyfloat, Run: hincrbyfloat},
		{Name: "hkeys", Arity: 2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output_order"}, Since: "2.0.0", Summary: "Lists the fields of a hash.", Run: hkeys},
		{Name: "hlen", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "2.0.0", Summary: "Counts the fields of a hash.", Run: hlen},
		{Name: "hmget", Arity: -3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.0.0", Summary: "Reads several fields of a hash.", Run: hmget},
		{Name: "hmset", Arity: -4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "2.0.0", Summary: "Stores fields of a hash; the old form of HSET.", Run: hmset},
		{Name: "hrandfield", Arity: -2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "6.2.0", Summary: "Returns random fields of a hash.", Run: hrandfield},
		{Name: "hscan", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.8.0", Summary: "Iterates over the fields of a hash, a few per call.", Run: hscan},
		{Name: "hset", Arity: -4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "2.0.0", Summary: "Stores fields of a hash.", Run: hset},
		{Name: "hsetnx", Arity: 4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "2.0.0", Summary: "Stores a field of a hash if the field does not exist.", Run: hsetnx},
		{Name: "hstrlen", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "3.2.0", Summary: "Returns the length of a value in a hash.", Run: hstrlen},
		{Name: "hvals", Arity: 2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output_order"}, Since: "2.0.0", Summary: "Lists the values of a hash.", Run: hvals},
	}
}
