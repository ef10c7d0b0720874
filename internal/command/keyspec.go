package command

import (
	"strings"

	"github.com/lockredis/lockredis/resp"
)

// KeyFlags say what a command does with the keys of a KeySpec, as in COMMAND
// INFO of Redis 7.0.
type KeyFlags uint16

// RO, RW, OW and RM exclude each other; Access, Update, Insert and Delete say
// what happens to the value.
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
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "incomplete", "variable_flags",
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

// SearchKind says how a KeySpec finds the first key, or the keys from there.
type SearchKind uint8

// The ways to begin (Index, Keyword) and to go on (Range, Keynum).
const (
	Unknown SearchKind = iota
	Index
	Keyword
	Range
	Keynum
)

// KeySpec says where a command's keys stand.
type KeySpec struct {
	Notes string
	Flags KeyFlags

	Begin   SearchKind // Index, Keyword or Unknown
	Index   int        // Index: the position
	Keyword string     // Keyword: the word before the first key
	From    int        // Keyword: where to look from; negative: from the end

	Find     SearchKind // Range, Keynum or Unknown
	Last     int        // Range: the last key, from the first; negative: from the end
	Step     int
	Limit    int // Range with Last -1: take a 1/Limit part of the rest
	CountAt  int // Keynum: where the number of keys is, from the begin
	FirstKey int // Keynum: where the first key is, from the begin
}

// key is the spec of one key at position i.
func key(flags KeyFlags, i int) []KeySpec { return keys(flags, i, 0, 1) }

// keys is the spec of keys from position first to last (counted from first;
// -1: the last argument).
func keys(flags KeyFlags, first, last, step int) []KeySpec {
	return []KeySpec{{Flags: flags, Begin: Index, Index: first, Find: Range, Last: last, Step: step}}
}

// numkeys is the spec of a count at position i with the keys behind it.
func numkeys(flags KeyFlags, i int) []KeySpec {
	return []KeySpec{{Flags: flags, Begin: Index, Index: i, Find: Keynum, FirstKey: 1, Step: 1}}
}

// noted adds Redis's note to the first spec.
func noted(specs []KeySpec, note string) []KeySpec {
	specs[0].Notes = note
	return specs
}

func concat(specs ...[]KeySpec) []KeySpec {
	var all []KeySpec
	for _, s := range specs {
		all = append(all, s...)
	}
	return all
}

// KeyPos is one key of a command line.
type KeyPos struct {
	At    int // index in the arguments
	Flags KeyFlags
}

// Positions returns where the spec's keys stand in args. ok is false when the
// arguments do not fit the spec (a count that is no number or too large).
func (k *KeySpec) Positions(args resp.Args) (found []KeyPos, ok bool) {
	begin, ok := k.begin(args)
	if !ok {
		return nil, k.Begin == Keyword
	}
	first, last, step := begin, begin, k.Step
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
			return nil, false
		}
		n, isInt := resp.ParseInt(args[begin+k.CountAt])
		if !isInt || n < 0 || n > int64(len(args)) {
			return nil, false
		}
		first = begin + k.FirstKey
		last = first + (int(n)-1)*step
	default:
		return nil, false
	}
	if last >= len(args) || last < first {
		return nil, false
	}
	for i := first; i <= last; i += step {
		found = append(found, KeyPos{i, k.Flags})
	}
	return found, true
}

func (k *KeySpec) begin(args resp.Args) (int, bool) {
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

// TakesKeys reports whether any argument can be a key; shard channels are none.
func (cmd *Command) TakesKeys() bool {
	for i := range cmd.Keys {
		if cmd.Keys[i].Flags&NotKey == 0 {
			return true
		}
	}
	return false
}

// KeyPositions returns the keys of a command line by the command's specs.
func (cmd *Command) KeyPositions(args resp.Args) (found []KeyPos, ok bool) {
	for i := range cmd.Keys {
		if cmd.Keys[i].Flags&NotKey != 0 {
			continue // a shard channel: it has a slot, but is no key
		}
		at, fits := cmd.Keys[i].Positions(args)
		if !fits && cmd.Keys[i].Begin != Unknown {
			return nil, false
		}
		found = append(found, at...)
	}
	return found, true
}
