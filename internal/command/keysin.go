package command

import (
	"github.com/lockredis/lockredis/resp"
)

// RememberedKeys returns the positions of the keys that client-side caching remembers when
// the command line has run, nil if there are none.
func (cmd *Command) RememberedKeys(line resp.Args) []KeyPos {
	if !cmd.TakesKeys() {
		return nil
	}
	if cmd.ReadKeys != nil {
		return cmd.ReadKeys(line)
	}
	found, _ := cmd.KeysIn(line)
	return found
}

// KeysIn returns the keys of a command line that can have keys.
func (cmd *Command) KeysIn(line resp.Args) (found []KeyPos, ok bool) {
	if found, ok = cmd.KeyPositions(line); ok {
		return found, true
	}
	return cmd.keysByAtoi(line)
}

// keysByAtoi is Redis's second attempt at a line that does not fit the key specs. It parses
// the number of keys as C's atoi does ("2x" is 2). The keys of other specs (a destination)
// come last, and no key has flags.
func (cmd *Command) keysByAtoi(line resp.Args) (found []KeyPos, ok bool) {
	var others []KeyPos
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if k.Find != Keynum {
			positions, _ := k.Positions(line)
			for _, p := range positions {
				others = append(others, KeyPos{At: p.At})
			}
			continue
		}
		first, n := k.counted(line)
		if n == 0 {
			return nil, false
		}
		for at := first; at < first+n; at++ {
			found = append(found, KeyPos{At: at})
		}
	}
	return append(found, others...), len(found) > 0
}
