package zset

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the sorted set commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "bzmpop", Arity: -5, Flags: command.Write | command.Blocking | command.MovableKeys, Keys: command.Numkeys(command.RW|command.Access|command.Delete, 2), Since: "7.0.0", Summary: "Removes members from the first sorted set that has any; waits while all are empty.", Told: command.ToldBlmpop, Run: bzmpop},
		{Name: "bzpopmax", Arity: -3, Flags: command.Write | command.NoScript | command.Blocking | command.Fast, Keys: command.Keys(command.RW|command.Access|command.Delete, 1, -2, 1), Since: "5.0.0", Summary: "Removes the member with the highest score from the first sorted set that has any; waits while all are empty.", Told: toldBzpopmax, Run: bzpopmax},
		{Name: "bzpopmin", Arity: -3, Flags: command.Write | command.NoScript | command.Blocking | command.Fast, Keys: command.Keys(command.RW|command.Access|command.Delete, 1, -2, 1), Since: "5.0.0", Summary: "Removes the member with the lowest score from the first sorted set that has any; waits while all are empty.", Told: toldBzpopmin, Run: bzpopmin},
		{Name: "zadd", Arity: -4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Update, 1), Since: "1.2.0", Summary: "Adds members with their scores, or changes the scores of members.", Run: zadd},
		{Name: "zcard", Arity: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO, 1), Since: "1.2.0", Summary: "Returns the number of members of a sorted set.", Run: zcard},
		{Name: "zcount", Arity: 4, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.0.0", Summary: "Counts the members within a range of scores.", Run: zcount},
		{Name: "zdiff", Arity: -3, Flags: command.ReadOnly | command.MovableKeys, Keys: command.Numkeys(command.RO|command.Access, 1), Since: "6.2.0", Summary: "Returns the members of the first set that no other set has.", Run: zdiff},
		{Name: "zdiffstore", Arity: -4, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Numkeys(command.RO|command.Access, 2)), Since: "6.2.0", Summary: "Stores the members of the first set that no other set has.", Run: zdiffstore},
		{Name: "zincrby", Arity: 4, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "1.2.0", Summary: "Adds a number to the score of a member.", Run: zincrby},
		{Name: "zinter", Arity: -3, Flags: command.ReadOnly | command.MovableKeys, Keys: command.Numkeys(command.RO|command.Access, 1), Since: "6.2.0", Summary: "Returns the members that all sets have.", Run: zinter},
		{Name: "zintercard", Arity: -3, Flags: command.ReadOnly | command.MovableKeys, Keys: command.Numkeys(command.RO|command.Access, 1), Since: "7.0.0", Summary: "Counts the members that all sets have.", Run: zintercard},
		{Name: "zinterstore", Arity: -4, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Numkeys(command.RO|command.Access, 2)), Since: "2.0.0", Summary: "Stores the members that all sets have.", Run: zinterstore},
		{Name: "zlexcount", Arity: 4, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.8.9", Summary: "Counts the members within a lexicographic range.", Run: zlexcount},
		{Name: "zmpop", Arity: -4, Flags: command.Write | command.MovableKeys, Keys: command.Numkeys(command.RW|command.Access|command.Delete, 1), Since: "7.0.0", Summary: "Removes members from the first sorted set that has any.", Told: command.ToldLmpop, Run: zmpop},
		{Name: "zmscore", Arity: -3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "6.2.0", Summary: "Returns the scores of several members.", Run: zmscore},
		{Name: "zpopmax", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Since: "5.0.0", Summary: "Removes the members with the highest scores and returns them.", Run: zpopmax},
		{Name: "zpopmin", Arity: -2, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Since: "5.0.0", Summary: "Removes the members with the lowest scores and returns them.", Run: zpopmin},
		{Name: "zrandmember", Arity: -2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "6.2.0", Summary: "Returns random members of a sorted set.", Run: zrandmember},
		{Name: "zrange", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "1.2.0", Summary: "Returns the members within a range of ranks, scores or names.", Run: zrange},
		{Name: "zrangebylex", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "2.8.9", Summary: "Returns the members within a lexicographic range.", Run: zrangebylex},
		{Name: "zrangebyscore", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "1.0.5", Summary: "Returns the members within a range of scores.", Run: zrangebyscore},
		{Name: "zrangestore", Arity: -5, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Key(command.RO|command.Access, 2)), Since: "6.2.0", Summary: "Stores the members within a range.", Run: zrangestore},
		{Name: "zrank", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.0.0", Summary: "Returns the rank of a member, counted from the lowest score.", Run: zrank},
		{Name: "zrem", Arity: -3, Flags: command.Write | command.Fast, Keys: command.Key(command.RW|command.Delete, 1), Since: "1.2.0", Summary: "Removes members from a sorted set.", Run: zrem},
		{Name: "zremrangebylex", Arity: 4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 1), Since: "2.8.9", Summary: "Removes the members within a lexicographic range.", Run: zremrangebylex},
		{Name: "zremrangebyrank", Arity: 4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 1), Since: "2.0.0", Summary: "Removes the members within a range of ranks.", Run: zremrangebyrank},
		{Name: "zremrangebyscore", Arity: 4, Flags: command.Write, Keys: command.Key(command.RW|command.Delete, 1), Since: "1.2.0", Summary: "Removes the members within a range of scores.", Run: zremrangebyscore},
		{Name: "zrevrange", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "1.2.0", Summary: "Returns the members within a range of ranks, highest score first.", Run: zrevrange},
		{Name: "zrevrangebylex", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "2.8.9", Summary: "Returns the members within a lexicographic range, in reverse order.", Run: zrevrangebylex},
		{Name: "zrevrangebyscore", Arity: -4, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "2.2.0", Summary: "Returns the members within a range of scores, highest score first.", Run: zrevrangebyscore},
		{Name: "zrevrank", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.0.0", Summary: "Returns the rank of a member, counted from the highest score.", Run: zrevrank},
		{Name: "zscan", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.8.0", Summary: "Iterates over the members of a sorted set, a few per call.", Run: zscan},
		{Name: "zscore", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "1.2.0", Summary: "Returns the score of a member.", Run: zscore},
		{Name: "zunion", Arity: -3, Flags: command.ReadOnly | command.MovableKeys, Keys: command.Numkeys(command.RO|command.Access, 1), Since: "6.2.0", Summary: "Returns the members that any of the sets has.", Run: zunion},
		{Name: "zunionstore", Arity: -4, Flags: command.Write | command.DenyOOM | command.MovableKeys, Keys: command.Concat(command.Key(command.OW|command.Update, 1), command.Numkeys(command.RO|command.Access, 2)), Since: "2.0.0", Summary: "Stores the members that any of the sets has.", Run: zunionstore},
	}
}
