package keyevent

import "strings"

// Class is a set of classes of keyspace events. A bit has the position of its
// letter in letters.
type Class uint16

// The classes of Redis 7.0. Keyspace and Keyevent are no classes of events:
// they select the channels that an event is published on.
const (
	Keyspace Class = 1 << iota // K: __keyspace@<db>__:<key>
	Keyevent                   // E: __keyevent@<db>__:<event>
	Generic                    // g: commands for keys of any type
	String                     // $
	List                       // l
	Set                        // s
	Hash                       // h
	ZSet                       // z
	Expired                    // x
	Evicted                    // e
	Stream                     // t
	Miss                       // m: a read found no key
	Module                     // d
	New                        // n: a key that was not there before

	// All is what the letter A selects. It lacks Miss and New, as in Redis.
	All = Generic | String | List | Set | Hash | ZSet | Expired | Evicted | Stream | Module
)

const (
	letters    = "KEg$lshzxetmdn" // letter i is bit i
	shown      = "g$lshzxetdnKEm" // the order in which Redis shows letters
	shownAfter = "KEmn"           // the same after an A
)

// Parse reads the letters of notify-keyspace-events. ok is false when one of
// them is unknown.
func Parse(text string) (c Class, ok bool) {
	for _, letter := range text {
		if letter == 'A' {
			c |= All
			continue
		}
		bit := strings.IndexRune(letters, letter)
		if bit < 0 {
			return 0, false
		}
		c |= 1 << bit
	}
	return c, true
}

// String returns the letters in Redis's order, with A for All. Parse reads them
// back as the same set.
func (c Class) String() string {
	text, order := "", shown
	if c&All == All {
		text, order = "A", shownAfter
	}
	for _, letter := range order {
		if c&(1<<strings.IndexRune(letters, letter)) != 0 {
			text += string(letter)
		}
	}
	return text
}
