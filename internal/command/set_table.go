package command

func setCommands() []*Command {
	return []*Command{
		{Name: "sadd", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "1.0.0", Summary: "Adds members to a set.", Run: sadd},
		{Name: "scard", Arity: 2, Flags: ReadOnly | Fast, Keys: key(RO, 1), Since: "1.0.0", Summary: "Counts the members of a set.", Run: scard},
		{Name: "sdiff", Arity: -2, Flags: ReadOnly, Keys: keys(RO|Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Answers what the first set has and the others have not.", Run: sdiff},
		{Name: "sdiffstore", Arity: -3, Flags: Write | DenyOOM, Keys: concat(key(OW|Update, 1), keys(RO|Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the difference of sets.", Run: sdiffstore},
		{Name: "sinter", Arity: -2, Flags: ReadOnly, Keys: keys(RO|Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Answers what several sets have in common.", Run: sinter},
		{Name: "sintercard", Arity: -3, Flags: ReadOnly | MovableKeys, Keys: numkeys(RO|Access, 1), Since: "7.0.0", Summary: "Counts what several sets have in common.", Run: sintercard},
		{Name: "sinterstore", Arity: -3, Flags: Write | DenyOOM, Keys: concat(key(RW|Update, 1), keys(RO|Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores what several sets have in common.", Run: sinterstore},
		{Name: "sismember", Arity: 3, Flags: ReadOnly | Fast, Keys: key(RO, 1), Since: "1.0.0", Summary: "Tells whether a set has a member.", Run: sismember},
		{Name: "smembers", Arity: 2, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Lists the members of a set.", Run: smembers},
		{Name: "smismember", Arity: -3, Flags: ReadOnly | Fast, Keys: key(RO|Access, 1), Since: "6.2.0", Summary: "Tells for several members whether a set has them.", Run: smismember},
		{Name: "smove", Arity: 4, Flags: Write | Fast, Keys: concat(key(RW|Access|Delete, 1), key(RW|Insert, 2)), Since: "1.0.0", Summary: "Moves a member from one set to another.", Run: smove},
		{Name: "spop", Arity: -2, Flags: Write | Fast, Keys: key(RW|Access|Delete, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Takes random members out of a set.", Run: spop},
		{Name: "srandmember", Arity: -2, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Picks random members of a set.", Run: srandmember},
		{Name: "srem", Arity: -3, Flags: Write | Fast, Keys: key(RW|Delete, 1), Since: "1.0.0", Summary: "Removes members of a set.", Run: srem},
		{Name: "sscan", Arity: -3, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.8.0", Summary: "Walks through the members of a set in steps.", Run: sscan},
		{Name: "sunion", Arity: -2, Flags: ReadOnly, Keys: keys(RO|Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Answers the members of all of several sets.", Run: sunion},
		{Name: "sunionstore", Arity: -3, Flags: Write | DenyOOM, Keys: concat(key(OW|Update, 1), keys(RO|Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the union of sets.", Run: sunionstore},
	}
}
