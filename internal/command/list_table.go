package command

// listCommands returns the rows of the list commands.
func listCommands() []*Command {
	return []*Command{
		{Name: "blmove", Arity: 6, Flags: Write | DenyOOM | NoScript | Blocking, Keys: concat(key(RW|Access|Delete, 1), key(RW|Insert, 2)), Since: "6.2.0", Summary: "Moves an element between lists; waits while the source is empty.", Told: toldBlmove, Run: blmove},
		{Name: "blmpop", Arity: -5, Flags: Write | Blocking | MovableKeys, Keys: numkeys(RW|Access|Delete, 2), Since: "7.0.0", Summary: "Removes elements from the first list that has any; waits while all are empty.", Told: toldBlmpop, Run: blmpop},
		{Name: "blpop", Arity: -3, Flags: Write | NoScript | Blocking, Keys: keys(RW|Access|Delete, 1, -2, 1), Since: "2.0.0", Summary: "Removes the first element of the first list that has any; waits while all are empty.", Told: toldBlpop, Run: blpop},
		{Name: "brpop", Arity: -3, Flags: Write | NoScript | Blocking, Keys: keys(RW|Access|Delete, 1, -2, 1), Since: "2.0.0", Summary: "Removes the last element of the first list that has any; waits while all are empty.", Told: toldBrpop, Run: brpop},
		{Name: "brpoplpush", Arity: 4, Flags: Write | DenyOOM | NoScript | Blocking, Keys: concat(key(RW|Access|Delete, 1), key(RW|Insert, 2)), Since: "2.2.0", Summary: "Moves the last element of a list to the head of another; waits while the source is empty.", Told: toldBrpoplpush, Run: brpoplpush},
		{Name: "lindex", Arity: 3, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "1.0.0", Summary: "Returns the element at an index.", Run: lindex},
		{Name: "linsert", Arity: 5, Flags: Write | DenyOOM, Keys: key(RW|Insert, 1), Since: "2.2.0", Summary: "Inserts an element before or after another.", Run: linsert},
		{Name: "llen", Arity: 2, Flags: ReadOnly | Fast, Keys: key(RO, 1), Since: "1.0.0", Summary: "Returns the length of a list.", Run: llen},
		{Name: "lmove", Arity: 5, Flags: Write | DenyOOM, Keys: concat(key(RW|Access|Delete, 1), key(RW|Insert, 2)), Since: "6.2.0", Summary: "Moves an element from one end of a list to an end of another.", Run: lmove},
		{Name: "lmpop", Arity: -4, Flags: Write | MovableKeys, Keys: numkeys(RW|Access|Delete, 1), Since: "7.0.0", Summary: "Removes elements from the first list that has any.", Told: toldLmpop, Run: lmpop},
		{Name: "lpop", Arity: -2, Flags: Write | Fast, Keys: key(RW|Access|Delete, 1), Since: "1.0.0", Summary: "Removes elements from the head of a list.", Run: lpop},
		{Name: "lpos", Arity: -3, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "6.0.6", Summary: "Returns the index of an element.", Run: lpos},
		{Name: "lpush", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "1.0.0", Summary: "Adds elements at the head of a list; creates the list if it is missing.", Run: lpush},
		{Name: "lpushx", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "2.2.0", Summary: "Adds elements at the head of an existing list.", Run: lpushx},
		{Name: "lrange", Arity: 4, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "1.0.0", Summary: "Returns the elements between two indexes.", Run: lrange},
		{Name: "lrem", Arity: 4, Flags: Write, Keys: key(RW|Delete, 1), Since: "1.0.0", Summary: "Removes elements that equal a value.", Run: lrem},
		{Name: "lset", Arity: 4, Flags: Write | DenyOOM, Keys: key(RW|Update, 1), Since: "1.0.0", Summary: "Replaces the element at an index.", Run: lset},
		{Name: "ltrim", Arity: 4, Flags: Write, Keys: key(RW|Delete, 1), Since: "1.0.0", Summary: "Keeps only the elements between two indexes.", Run: ltrim},
		{Name: "rpop", Arity: -2, Flags: Write | Fast, Keys: key(RW|Access|Delete, 1), Since: "1.0.0", Summary: "Removes elements from the tail of a list.", Run: rpop},
		{Name: "rpoplpush", Arity: 3, Flags: Write | DenyOOM, Keys: concat(key(RW|Access|Delete, 1), key(RW|Insert, 2)), Since: "1.2.0", Summary: "Moves the last element of a list to the head of another.", Run: rpoplpush},
		{Name: "rpush", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "1.0.0", Summary: "Adds elements at the tail of a list; creates the list if it is missing.", Run: rpush},
		{Name: "rpushx", Arity: -3, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "2.2.0", Summary: "Adds elements at the tail of an existing list.", Run: rpushx},
	}
}
