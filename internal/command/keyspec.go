package command

import (
	"slices"
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// KeyFlags say how a command uses the keys of a KeySpec, as in COMMAND INFO of Redis 7.0.
type KeyFlags uint16

// RO, RW, OW and RM exclude each other. Access, Update, Insert and Delete say how the
// command uses the value.
const (
	RO KeyFlags = 1 << iota
	RW
	OW
	RM
	Access
	Update
	Insert
	Delete
	NotKey
	Incomplete
	VariableFlags
)

var keyFlagNames = []string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete",
	"not_key", "incomplete", "variable_flags",
}

// Names returns the flags' names in Redis's order.
func (f KeyFlags) Names() []string {
	var names []string
	for i, name := range keyFlagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// SearchKind is a way to find keys among the arguments of a command.
type SearchKind uint8

// Index and Keyword find the position where the keys begin (KeySpec.Begin). Range and
// Keynum find the keys from there on (KeySpec.Find).
const (
	Unknown SearchKind = iota
	Index
	Keyword
	Range
	Keynum
)

// KeySpec says where a command's keys are among its arguments. The fields are COMMAND
// INFO's.
type KeySpec struct {
	Notes string
	Flags KeyFlags

	Begin   SearchKind // Index, Keyword or Unknown
	Index   int        // Index: the position
	Keyword string     // Keyword: the argument before the first key
	From    int        // Keyword: where the search starts; negative: backwards from the end

	Find     SearchKind // Range, Keynum or Unknown
	Last     int        // Range: the last key, counted from the first; negative: from the end
	Step     int        // distance from a key to the next
	Limit    int        // Range with Last -1: only 1/Limit of the remaining arguments are keys
	CountAt  int        // Keynum: the number of keys, counted from the begin
	FirstKey int        // Keynum: the first key, counted from the begin

	// Refine corrects the keys that the spec found in a command line, for keys and flags
	// that depend on options. nil: no correction.
	Refine func(line resp.Args, found []KeyPos) []KeyPos
}

// Key returns the spec of one key at position i.
func Key(flags KeyFlags, i int) []KeySpec { return Keys(flags, i, 0, 1) }

// Keys returns the spec of the keys from position first to last. last is counted from
// first; -1 is the last argument.
func Keys(flags KeyFlags, first, last, step int) []KeySpec {
	return []KeySpec{{Flags: flags, Begin: Index, Index: first, Find: Range, Last: last, Step: step}}
}

// Numkeys returns the spec of a number of keys at position i, with the keys behind it.
func Numkeys(flags KeyFlags, i int) []KeySpec {
	return []KeySpec{{Flags: flags, Begin: Index, Index: i, Find: Keynum, FirstKey: 1, Step: 1}}
}

// Noted sets the note of the first spec, which is a text of Redis.
func Noted(specs []KeySpec, note string) []KeySpec {
	specs[0].Notes = note
	return specs
}

// Refined sets Refine of the first spec.
func Refined(specs []KeySpec, refine func(resp.Args, []KeyPos) []KeyPos) []KeySpec {
	specs[0].Refine = refine
	return specs
}

// Concat returns all specs of a command.
func Concat(specs ...[]KeySpec) []KeySpec { return slices.Concat(specs...) }

// KeyPos is the position of a key in a command line.
type KeyPos struct {
	At    int // index in the arguments
	Flags KeyFlags
}

// Positions returns the spec's keys in args. ok is false when args do not fit the spec, for
// example when the number of keys is not an integer or is too large.
func (k *KeySpec) Positions(args resp.Args) (found []KeyPos, ok bool) {
	begin, ok := k.begin(args)
	if !ok {
		return nil, k.Begin == Keyword
	}
	first, last, ok := k.bounds(args, begin)
	if !ok {
		return nil, false
	}
	for i := first; i <= last; i += k.Step {
		found = append(found, KeyPos{i, k.Flags})
	}
	return found, true
}

// bounds returns the positions of the first and the last key, when the keys begin at
// begin.
func (k *KeySpec) bounds(args resp.Args, begin int) (first, last int, ok bool) {
	first, last = begin, begin
	switch k.Find {
	case Range:
		switch {
		case k.Last >= 0:
			last = begin + k.Last
		case k.Limit == 0:
			last = len(args) + k.Last
		default:
			last = begin + (len(args)-begin)/k.Limit + k.Last
		}
	case Keynum:
		if begin+k.CountAt >= len(args) {
			return 0, 0, false
		}
		count, isInt := resp.ParseInt(args[begin+k.CountAt])
		n := int32(count) // Redis takes the lower 32 bits
		if !isInt || n < 0 || int(n) > len(args) {
			return 0, 0, false
		}
		first = begin + k.FirstKey
		last = first + (int(n)-1)*k.Step
	default:
		return 0, 0, false
	}
	return first, last, last < len(args) && last >= first
}

// begin returns the position where the keys begin. ok is false if args has none.
func (k *KeySpec) begin(args resp.Args) (at int, ok bool) {
	switch k.Begin {
	case Index:
		return k.Index, k.Index < len(args)
	case Keyword:
		from, step := k.From, 1
		if from < 0 {
			from, step = len(args)+from, -1
		}
		for i := from; i > 0 && i < len(args)-1; i += step {
			if strings.EqualFold(string(args[i]), k.Keyword) {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// TakesKeys reports whether any argument of the command can be a key. Shard channels are
// not keys.
func (cmd *Command) TakesKeys() bool {
	for i := range cmd.Keys {
		if cmd.Keys[i].Flags&NotKey == 0 {
			return true
		}
	}
	return false
}

// KeyPositions returns the keys of a command line according to the command's specs. ok is
// false when the line does not fit them.
func (cmd *Command) KeyPositions(args resp.Args) (found []KeyPos, ok bool) {
	for i := range cmd.Keys {
		if cmd.Keys[i].Flags&NotKey != 0 {
			continue // a shard channel: it has a slot, but is not a key
		}
		at, fits := cmd.Keys[i].Positions(args)
		if !fits && cmd.Keys[i].Begin != Unknown {
			return nil, false
		}
		if refine := cmd.Keys[i].Refine; refine != nil {
			at = refine(args, at)
		}
		found = append(found, at...)
	}
	return found, true
}

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
