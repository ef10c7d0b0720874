package command

import (
	"encoding/binary"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// tableSlots is a power of two, several times the number of commands.
const tableSlots = 1024

type slot struct {
	head uint64 // the first eight bytes of name, see headOf
	name string // lower case; "" in a free slot
	cmd  *Command
}

// Lookup returns the command of that name, nil when there is none. Case is ignored. It
// does not allocate.
func (t *Table) Lookup(name []byte) *Command {
	if len(name) > t.longest {
		return nil
	}
	head := headOf(name)
	for i := slotOf(head, len(name)); t.slots[i].cmd != nil; i = (i + 1) % tableSlots {
		s := &t.slots[i]
		if s.head == head && len(s.name) == len(name) && (len(name) <= 8 || s.endsWith(name[8:])) {
			return s.cmd
		}
	}
	return nil
}

// endsWith reports whether rest is what follows the head in the slot's name. Case is ignored.
func (s *slot) endsWith(rest []byte) bool {
	for i, c := range rest {
		if lower(c) != s.name[8+i] {
			return false
		}
	}
	return true
}

// Find returns the row that a command line runs: the subcommand's row if the command is
// a container with a second argument, else the command's own. It is nil when the command
// or the subcommand is unknown.
func (t *Table) Find(args resp.Args) *Command {
	cmd := t.Lookup(args[0])
	if cmd == nil || len(cmd.Subs) == 0 || len(args) == 1 {
		return cmd
	}
	return cmd.Sub(args[1])
}

// FindHidden is Find for a test kit. It also finds the commands that a directive has renamed or
// removed, by their first names, and the rows of Hide.
func (t *Table) FindHidden(args resp.Args) *Command {
	cmd := t.hidden[strings.ToLower(string(args[0]))]
	switch {
	case cmd == nil:
		return t.Find(args)
	case len(cmd.Subs) == 0 || len(args) == 1:
		return cmd
	}
	return cmd.Sub(args[1])
}

// fillSlots fills slots from byName.
func (s *commandSet) fillSlots() {
	clear(s.slots[:])
	for name, cmd := range s.byName {
		head := headOf([]byte(name))
		i := slotOf(head, len(name))
		for s.slots[i].cmd != nil {
			i = (i + 1) % tableSlots
		}
		s.slots[i] = slot{head, name, cmd}
		s.longest = max(s.longest, len(name))
	}
}

// slotOf returns the slot where the search for a name begins: the upper bits of a product with
// the golden ratio.
func slotOf(head uint64, length int) uint64 {
	const golden = 0x9e3779b97f4a7c15
	return (head + uint64(length)) * golden >> 32 % tableSlots
}

// headOf returns the first eight bytes of a name in lower case. Bytes that are missing are 0.
func headOf(name []byte) uint64 {
	var b uint64
	switch n := len(name); {
	case n >= 8:
		b = binary.LittleEndian.Uint64(name)
	case n >= 4: // the bytes in the middle are read twice
		first, last := binary.LittleEndian.Uint32(name), binary.LittleEndian.Uint32(name[n-4:])
		b = uint64(first) | uint64(last)<<(8*(n-4))
	case n > 0:
		b = uint64(name[0]) | uint64(name[n/2])<<(8*(n/2)) | uint64(name[n-1])<<(8*(n-1))
	}
	// The same as lower, for eight bytes.
	const each, top = 0x0101010101010101, 0x8080808080808080
	low := b &^ top
	fromA, aboveZ := low+(0x80-'A')*each, low+(0x7f-'Z')*each // in the top bit of each byte
	upper := (fromA &^ aboveZ) & top &^ b
	return b | upper>>2
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
