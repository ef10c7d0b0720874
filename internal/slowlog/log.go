package slowlog

import "fmt"

// An entry keeps at most maxArgs arguments, and maxBytes bytes of each.
const (
	maxArgs  = 32
	maxBytes = 128
)

// Entry is one command that took long.
type Entry struct {
	ID     int64
	Unix   int64 // when it ended, in Unix seconds
	Micros int64
	Args   []string // cut, see Cut
	Addr   string   // of its client
	Name   string   // of its client
}

// Log holds entries. The zero value is an empty log.
type Log struct {
	entries []Entry // oldest first
	next    int64   // the ID of the next entry
}

// Add gives e an ID and adds it. At most limit entries stay.
func (l *Log) Add(e Entry, limit int64) {
	e.ID = l.next
	l.next++
	l.entries = append(l.entries, e)
	l.Shrink(limit)
}

// Shrink drops the oldest entries, so that at most limit stay.
func (l *Log) Shrink(limit int64) {
	more := int64(len(l.entries)) - limit
	if more <= 0 {
		return
	}
	clear(l.entries[:more])
	l.entries = l.entries[more:]
}

// Len returns the number of entries.
func (l *Log) Len() int { return len(l.entries) }

// Reset drops all entries. The IDs continue.
func (l *Log) Reset() { l.entries = nil }

// Newest returns the n newest entries, oldest first. The slice is valid until the log changes.
func (l *Log) Newest(n int) []Entry { return l.entries[len(l.entries)-min(n, len(l.entries)):] }

// Cut copies a command line for an entry, as Redis shows it: the first arguments, the
// beginning of each, and how much is missing.
func Cut(args [][]byte) []string {
	kept, missing := args, 0
	if len(args) > maxArgs {
		kept, missing = args[:maxArgs-1], len(args)-maxArgs+1
	}
	line := make([]string, 0, min(len(args), maxArgs))
	for _, a := range kept {
		if more := len(a) - maxBytes; more > 0 {
			line = append(line, fmt.Sprintf("%s... (%d more bytes)", a[:maxBytes], more))
		} else {
			line = append(line, string(a))
		}
	}
	if missing > 0 {
		line = append(line, fmt.Sprintf("... (%d more arguments)", missing))
	}
	return line
}
