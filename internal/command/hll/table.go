package hll

import (
	"github.com/lockredis/lockredis/internal/command"
)

// Commands returns the rows of the HyperLogLog commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "pfadd", Arity: -2, Flags: command.Write | command.DenyOOM | command.Fast, Keys: command.Key(command.RW|command.Insert, 1), Since: "2.8.9", Summary: "Adds elements to a HyperLogLog.", Run: pfadd},
		{Name: "pfcount", Arity: -2, Flags: command.ReadOnly | command.MayReplicate, Keys: command.Noted(command.Keys(command.RW|command.Access, 1, -1, 1), "RW because it may change the internal representation of the key, and propagate to replicas"), Since: "2.8.9", Summary: "Estimates how many distinct elements HyperLogLogs have together.", Run: pfcount},
		{Name: "pfdebug", Arity: 3, Flags: command.Write | command.DenyOOM | command.Admin, Keys: command.Key(command.RW|command.Access, 2), Since: "2.8.9", Summary: "Shows the registers or the encoding of a HyperLogLog, or makes it dense.", Run: pfdebug},
		{Name: "pfmerge", Arity: -2, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.RW|command.Access|command.Insert, 1), command.Keys(command.RO|command.Access, 2, -1, 1)), Since: "2.8.9", Summary: "Merges HyperLogLogs into one.", Run: pfmerge},
		{Name: "pfselftest", Arity: 1, Flags: command.Admin, Since: "2.8.9", Summary: "Tests the HyperLogLog's arithmetic.", Run: pfselftest},
	}
}
