package command

import "github.com/lockredis/lockredis/resp"

// SlotKeys calls do for each argument that decides the slot of a command line, until do
// returns false: keys, and the channels of sharded pub/sub. They are the arguments that
// Redis looks at, in its order: it parses a number of keys as C's atoi does, and a
// destination comes after the keys that are counted. A line with a wrong number of keys
// has none. It allocates nothing for most commands.
func (cmd *Command) SlotKeys(args resp.Args, do func(key []byte) bool) {
	if cmd.Flags&MovableKeys != 0 && cmd.Keys[0].Refine != nil { // MIGRATE with KEYS
		found, _ := cmd.KeyPositions(args)
		for _, p := range found {
			if !do(args[p.At]) {
				return
			}
		}
		return
	}
	for i := range cmd.Keys {
		k := &cmd.Keys[i]
		if k.Find != Keynum {
			continue
		}
		first, n := k.counted(args)
		if n == 0 {
			return
		}
		for _, key := range args[first : first+n] {
			if !do(key) {
				return
			}
		}
	}
	for i := range cmd.Keys {
		if k := &cmd.Keys[i]; k.Find != Keynum && !k.slotKeys(args, do) {
			return
		}
	}
}

// slotKeys calls do for the keys of a spec without a number of keys. It reports whether do
// always returned true.
func (k *KeySpec) slotKeys(args resp.Args, do func(key []byte) bool) bool {
	if k.Find == Unknown && k.Refine != nil {
		for _, p := range k.Refine(args, nil) {
			if !do(args[p.At]) {
				return false
			}
		}
		return true
	}
	if k.Begin == Keyword && k.Keyword == KeywordStreams {
		for _, key := range streamKeys(args) {
			if !do(key) {
				return false
			}
		}
		return true
	}
	begin, ok := k.begin(args)
	if !ok {
		return true
	}
	first, last, ok := k.bounds(args, begin)
	for i := first; ok && i <= last; i += k.Step {
		if !do(args[i]) {
			return false
		}
	}
	return true
}

// counted returns the position of the first key of a Keynum spec, and the number of keys.
// It parses that number as C's atoi does ("2x" is 2). n is 0 when it does not fit the line.
func (k *KeySpec) counted(args resp.Args) (first, n int) {
	begin, ok := k.begin(args)
	if !ok {
		return 0, 0
	}
	first, n = begin+k.FirstKey, Atoi(args[begin+k.CountAt])
	if n < 1 || n > len(args)-first {
		return 0, 0
	}
	return first, n
}

// KeywordStreams is the argument of XREAD and XREADGROUP before their keys.
const KeywordStreams = "STREAMS"

// streamKeys returns the keys of XREAD and XREADGROUP.
// It is stricter than the spec: a line with an unknown option has no keys, nor has one
// without an id for each key.
func streamKeys(args resp.Args) [][]byte {
	for i := 1; i < len(args); i++ {
		switch {
		case IsWord(args[i], "block"), IsWord(args[i], "count"):
			i++
		case IsWord(args[i], "group"):
			i += 2
		case IsWord(args[i], "noack"):
		case IsWord(args[i], "streams") && (len(args)-i)%2 == 1:
			return args[i+1 : i+1+(len(args)-i)/2]
		default:
			return nil
		}
	}
	return nil
}

// Sharded reports whether the command is about shard channels. They have slots, but are no
// keys.
func (cmd *Command) Sharded() bool { return len(cmd.Keys) > 0 && cmd.Keys[0].Flags&NotKey != 0 }
