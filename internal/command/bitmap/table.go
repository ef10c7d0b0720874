package bitmap

import (
	"github.com/lockredis/lockredis/internal/command"
	"github.com/lockredis/lockredis/resp"
)

// Commands returns the rows of the bitmap commands.
func Commands() []*command.Command {
	return []*command.Command{
		{Name: "bitcount", Arity: -2, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "2.6.0", Summary: "Counts the bits of a string that are 1.", Run: bitcount},
		{Name: "bitfield", Arity: -2, Flags: command.Write | command.DenyOOM, Keys: command.Refined(command.Noted(command.Key(command.RW|command.Access|command.Update|command.VariableFlags, 1), "This command allows both access and modification of the key"), bitfieldKeyFlags), Since: "3.2.0", Summary: "Reads, writes and increments integers of any width in a string.", Run: bitfield},
		{Name: "bitfield_ro", Arity: -2, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "6.0.0", Summary: "Reads integers of any width in a string.", Run: bitfieldRO},
		{Name: "bitop", Arity: -4, Flags: command.Write | command.DenyOOM, Keys: command.Concat(command.Key(command.OW|command.Update, 2), command.Keys(command.RO|command.Access, 3, -1, 1)), Since: "2.6.0", Summary: "Combines the bits of strings and stores the result.", Run: bitop},
		{Name: "bitpos", Arity: -3, Flags: command.ReadOnly, Keys: command.Key(command.RO|command.Access, 1), Since: "2.8.7", Summary: "Finds the first bit of a string that is 0 or 1.", Run: bitpos},
		{Name: "getbit", Arity: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Key(command.RO|command.Access, 1), Since: "2.2.0", Summary: "Reads a bit of a string.", Run: getbit},
		{Name: "setbit", Arity: 4, Flags: command.Write | command.DenyOOM, Keys: command.Key(command.RW|command.Access|command.Update, 1), Since: "2.2.0", Summary: "Writes a bit of a string and returns the old one.", Run: setbit},
	}
}

// bitfieldKeyFlags corrects the flags of BITFIELD's key in a command line: a line that only
// reads does not update the key.
func bitfieldKeyFlags(line resp.Args, found []command.KeyPos) []command.KeyPos {
	found[0].Flags = command.RW | command.Access | command.Update
	for i := 2; i < len(line); i++ {
		left := len(line) - i - 1
		switch {
		case command.IsWord(line[i], "get") && left >= 2:
			i += 2
		case command.IsWord(line[i], "overflow") && left >= 1:
			i++
		default:
			return found
		}
	}
	found[0].Flags = command.RO | command.Access
	return found
}
