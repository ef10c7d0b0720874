package hash

import (
	"github.com/lockredis/lockredis/internal/command"
)

// ValkeyCommands returns the rows of the hash commands that Valkey 9.1 has and Redis 7.0 has not.
func ValkeyCommands() []*command.Command {
	const writes, reads = command.Write | command.Fast, command.ReadOnly | command.Fast
	return []*command.Command{
		{Name: "hexpire", Arity: -6, Flags: writes, Keys: command.Key(command.RW|command.Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a time to live in seconds.", Told: command.ToldByParts, Run: hexpire},
		{Name: "hexpireat", Arity: -6, Flags: writes, Keys: command.Key(command.RW|command.Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a deadline in Unix seconds.", Told: command.ToldByParts, Run: hexpireat},
		{Name: "hexpiretime", Arity: -5, Flags: reads, Keys: command.Key(command.RO|command.Access, 1), Since: "9.0.0", Summary: "Returns the deadlines of fields in Unix seconds.", Run: hexpiretime},
		{Name: "hgetdel", Arity: -5, Flags: writes, Keys: command.Key(command.RW|command.Access|command.Delete, 1), Since: "9.1.0", Summary: "Returns fields of a hash and deletes them.", Run: hgetdel},
		{Name: "hgetex", Arity: -5, Flags: writes, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "9.0.0", Summary: "Returns fields of a hash and changes their deadlines.", Told: command.ToldByParts, Run: hgetex},
		{Name: "hpersist", Arity: -5, Flags: writes, Keys: command.Key(command.RW|command.Update, 1), Since: "9.0.0", Summary: "Removes the deadlines of fields.", Run: hpersist},
		{Name: "hpexpire", Arity: -6, Flags: writes, Keys: command.Key(command.RW|command.Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a time to live in milliseconds.", Told: command.ToldByParts, Run: hpexpire},
		{Name: "hpexpireat", Arity: -6, Flags: writes, Keys: command.Key(command.RW|command.Update, 1), Since: "9.0.0", Summary: "Gives fields of a hash a deadline in Unix milliseconds.", Told: command.ToldByParts, Run: hpexpireat},
		{Name: "hpexpiretime", Arity: -5, Flags: reads, Keys: command.Key(command.RO|command.Access, 1), Since: "9.0.0", Summary: "Returns the deadlines of fields in Unix milliseconds.", Run: hpexpiretime},
		{Name: "hpttl", Arity: -5, Flags: reads, Keys: command.Key(command.RO|command.Access, 1), Since: "9.0.0", Summary: "Returns the times to live of fields in milliseconds.", Run: hpttl},
		{Name: "hsetex", Arity: -6, Flags: writes | command.DenyOOM, Keys: command.Key(command.RW|command.Insert, 1), Since: "9.0.0", Summary: "Stores fields of a hash with a deadline.", Told: command.ToldByParts, Run: hsetex},
		{Name: "httl", Arity: -5, Flags: reads, Keys: command.Key(command.RO|command.Access, 1), Since: "9.0.0", Summary: "Returns the times to live of fields in seconds.", Run: httl},
	}
}
