package list

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the list commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "blmove", Arity: 6, Flags: command.Write | command.DenyOOM | command.NoScript | command.Blocking, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.RW|command.Insert, 2)), Since: "6.2.0", Summary: "Moves an element between lists; waits while the source is empty.", Told: toldBlmove, Run: blmove},
		{Name: "blmpop", Arity: -5, Flags: command.Write | command.Blocking | command.MovableKeys, Keys: command.Numkeys(command.RW|command.Access|command.Delete, 2), Since: "7.0.0", Summary: "Removes elements from the first list that has any; waits while all are empty.", Told: command.ToldBlmpop, Run: blmpop},
		{Name: "blpop", Arity: -3, Flags: command.Write | command.NoScript | command.Blocking, Keys: command.Keys(command.RW|command.Access|command.Delete, 1, -2, 1), Since: "2.0.0", Summary: "Removes the first element of the first list that has any; waits while all are empty.", Told: toldBlpop, Run: blpop},
		{Name: "brpop", Arity: -3, Flags: command.Write | command.NoScript | command.Blocking, Keys: command.Keys(command.RW|command.Access|command.Delete, 1, -2, 1), Since: "2.0.0", Summary: "Removes the last element of the first list that has any; waits while all are empty.", Told: toldBrpop, Run: brpop},
		{Name: "brpoplpush", Arity: 4, Flags: command.Write | command.DenyOOM | command.NoScript | command.Blocking, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.RW|command.Insert, 2)), Since: "2.2.0", Summary: "Moves the last element of a list to the head of another; waits while the source is empty.", Told: toldBrpoplpush, Run: brpoplpush},
		{Name: "lindex", Arity: 3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "1.0.0", Summary: "Returns the element at an index.", Run: lindex},
		{Name: "linsert", Arity: 5, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Insert, 1), Since: "2.2.0", Summary: "Inserts an element before or after another.", Run: linsert},
		{Name: "llen", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "1.0.0", Summary: "Returns the length of a list.", Run: llen},
		{Name: "lmove", Arity: 5, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.RW|command.Insert, 2)), Since: "6.2.0", Summary: "Moves an element from one end of a list to an end of another.", Run: lmove},
		{Name: "lmpop", Arity: -4, Flags: command.Write | command.MovableKeys, Keys: command.Numkeys(command.RW|command.Access|command.Delete, 1), Since: "7.0.0", Summary: "Removes elements from the first list that has any.", Told: command.ToldLmpop, Run: lmpop},
		{Name: "lpop", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Since: "1.0.0", Summary: "Removes elements from the head of a list.", Run: lpop},
		{Name: "lpos", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "6.0.6", Summary: "Returns the index of an element.", Run: lpos},
		{Name: "lpush", Arity: -3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "1.0.0", Summary: "Adds elements at the head of a list; creates the list if it is missing.", Run: lpush},
		{Name: "lpushx", Arity: -3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "2.2.0", Summary: "Adds elements at the head of an existing list.", Run: lpushx},
		{Name: "lrange", Arity: 4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "1.0.0", Summary: "Returns the elements between two indexes.", Run: lrange},
		{Name: "lrem", Arity: 4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 1), Since: "1.0.0", Summary: "Removes elements that equal a value.", Run: lrem},
		{Name: "lset", Arity: 4, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Update, 1), Since: "1.0.0", Summary: "Replaces the element at an index.", Run: lset},
		{Name: "ltrim", Arity: 4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 1), Since: "1.0.0", Summary: "Keeps only the elements between two indexes.", Run: ltrim},
		{Name: "rpop", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Since: "1.0.0", Summary: "Removes elements from the tail of a list.", Run: rpop},
		{Name: "rpoplpush", Arity: 3, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.RW|command.Access|command.Delete, 1), command.Key(command.RW|command.Insert, 2)), Since: "1.2.0", Summary: "Moves the last element of a list to the head of another.", Run: rpoplpush},
		{Name: "rpush", Arity: -3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "1.0.0", Summary: "Adds elements at the tail of a list; creates the list if it is missing.", Run: rpush},
		{Name: "rpushx", Arity: -3, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "2.2.0", Summary: "Adds elements at the tail of an existing list.", Run: rpushx},
	}
}
