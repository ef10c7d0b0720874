package command

// setCommands returns the rows of the set commands.
func setCommands() []*Command {
	return []*Command{
		{Name: "sadd", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "1.0.0", Summary: "Adds members to a set.", Run: sadd},
		{Name: "scard", Arity: 2, Flags: ReadOnly | Fast, Keys: key(RO, 1), Since: "1.0.0", Summary: "Counts the members of a set.", Run: scard},
		{Name: "sdiff", Arity: -2, Flags: ReadOnly, Keys: keys(RO|Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns the members of the first set that no other set has.", Run: sdiff},
		{Name: "sdiffstore", Arity: -3, Flags: Write | DenyOOM, Keys: concat(key(OW|Update, 1), keys(RO|Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the members of the first set that no other set has.", Run: sdiffstore},
		{Name: "sinter", Arity: -2, Flags: ReadOnly, Keys: keys(RO|Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns the members that all sets have.", Run: sinter},
		{Name: "sintercard", Arity: -3, Flags: ReadOnly | MovableKeys, Keys: numkeys(RO|Access, 1), Since: "7.0.0", Summary: "Counts the members that all sets have.", Run: sintercard},
		{Name: "sinterstore", Arity: -3, Flags: Write | DenyOOM, Keys: concat(key(RW|Update, 1), keys(RO|Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the members that all sets have.", Run: sinterstore},
		{Name: "sismember", Arity: 3, Flags: ReadOnly | Fast, Keys: key(RO, 1), Since: "1.0.0", Summary: "Reports whether a set has a member.", Run: sismember},
		{Name: "smembers", Arity: 2, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Lists the members of a set.", Run: smembers},
		{Name: "smismember", Arity: -3, Flags: ReadOnly | Fast, Keys: key(RO|Access, 1), Since: "6.2.0", Summary: "Reports for several members whether a set has them.", Run: smismember},
		{Name: "smove", Arity: 4, Flags: Write | Fast, Keys: concat(key(RW|Access|Delete, 1), key(RW|Insert, 2)), Since: "1.0.0", Summary: "Moves a member from one set to another.", Run: smove},
		{Name: "spop", Arity: -2, Flags: Write | Fast, Keys: key(RW|Access|Delete, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Removes random members from a set and returns them.", Told: toldSpop, Run: spop},
		{Name: "srandmember", Arity: -2, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: []string{"nondeterministic_output"}, Since: "1.0.0", Summary: "Returns random members of a set.", Run: srandmember},
		{Name: "srem", Arity: -3, Flags: Write | Fast, Keys: key(RW|Delete, 1), Since: "1.0.0", Summary: "Removes members of a set.", Run: srem},
		{Name: "sscan", Arity: -3, Flags: ReadOnly, Keys: key(RO|Access, 1), Tips: []string{"nondeterministic_output"}, Since: "2.8.0", Summary: "Iterates over the members of a set, a few per call.", Run: sscan},
		{Name: "sunion", Arity: -2, Flags: ReadOnly, Keys: keys(RO|Access, 1, -1, 1), Tips: []string{"nondeterministic_output_order"}, Since: "1.0.0", Summary: "Returns the members that any of the sets has.", Run: sunion},
		{Name: "sunionstore", Arity: -3, Flags: Write | DenyOOM, Keys: concat(key(OW|Update, 1), keys(RO|Access, 2, -1, 1)), Since: "1.0.0", Summary: "Stores the members that any of the sets has.", Run: sunionstore},
	}
}
