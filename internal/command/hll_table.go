package command

// hllCommands returns the rows of the HyperLogLog commands.
func hllCommands() []*Command {
	return []*Command{
		{Name: "pfadd", Arity: -2, Flags: Write | DenyOOM | Fast, Keys: key(RW|Insert, 1), Since: "2.8.9", Summary: "Adds elements to a HyperLogLog.", Run: pfadd},
		{Name: "pfcount", Arity: -2, Flags: ReadOnly | MayReplicate, Keys: noted(keys(RW|Access, 1, -1, 1), "RW because it may change the internal representation of the key, and propagate to replicas"), Since: "2.8.9", Summary: "Estimates how many distinct elements HyperLogLogs have together.", Run: pfcount},
		{Name: "pfdebug", Arity: 3, Flags: Write | DenyOOM | Admin, Keys: key(RW|Access, 2), Since: "2.8.9", Summary: "Shows the registers or the encoding of a HyperLogLog, or makes it dense.", Run: pfdebug},
		{Name: "pfmerge", Arity: -2, Flags: Write | DenyOOM, Keys: concat(key(RW|Access|Insert, 1), keys(RO|Access, 2, -1, 1)), Since: "2.8.9", Summary: "Merges HyperLogLogs into one.", Run: pfmerge},
		{Name: "pfselftest", Arity: 1, Flags: Admin, Since: "2.8.9", Summary: "Tests the HyperLogLog's arithmetic.", Run: pfselftest},
	}
}
