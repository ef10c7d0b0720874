package command

import "github.com/lockredis/lockredis/resp"

// bitmapCommands returns the rows of the bitmap commands.
func bitmapCommands() []*Command {
	return []*Command{
		{Name: "bitcount", Arity: -2, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "2.6.0", Summary: "Counts the bits of a string that are 1.", Run: bitcount},
		{Name: "bitfield", Arity: -2, Flags: Write | DenyOOM, Keys: refined(noted(key(RW|Access|Update|VariableFlags, 1), "This command allows both access and modification of the key"), bitfieldKeyFlags), Since: "3.2.0", Summary: "Reads, writes and increments integers of any width in a string.", Run: bitfield},
		{Name: "bitfield_ro", Arity: -2, Flags: ReadOnly | Fast, Keys: key(RO|Access, 1), Since: "6.0.0", Summary: "Reads integers of any width in a string.", Run: bitfieldRO},
		{Name: "bitop", Arity: -4, Flags: Write | DenyOOM, Keys: concat(key(OW|Update, 2), keys(RO|Access, 3, -1, 1)), Since: "2.6.0", Summary: "Combines the bits of strings and stores the result.", Run: bitop},
		{Name: "bitpos", Arity: -3, Flags: ReadOnly, Keys: key(RO|Access, 1), Since: "2.8.7", Summary: "Finds the first bit of a string that is 0 or 1.", Run: bitpos},
		{Name: "getbit", Arity: 3, Flags: ReadOnly | Fast, Keys: key(RO|Access, 1), Since: "2.2.0", Summary: "Reads a bit of a string.", Run: getbit},
		{Name: "setbit", Arity: 4, Flags: Write | DenyOOM, Keys: key(RW|Access|Update, 1), Since: "2.2.0", Summary: "Writes a bit of a string and returns the old one.", Run: setbit},
	}
}

// bitfieldKeyFlags corrects the flags of BITFIELD's key in a command line: a line that only
// reads does not update the key.
func bitfieldKeyFlags(line resp.Args, found []KeyPos) []KeyPos {
	found[0].Flags = RW | Access | Update
	for i := 2; i < len(line); i++ {
		left := len(line) - i - 1
		switch {
		case isWord(line[i], "get") && left >= 2:
			i += 2
		case isWord(line[i], "overflow") && left >= 1:
			i++
		default:
			return found
		}
	}
	found[0].Flags = RO | Access
	return found
}
