package acl

import "slices"

const (
	// mergeAmong is how many of the newest entries a new one can be merged with.
	mergeAmong = 10
	// mergeWithin is how old such an entry may be, in ms.
	mergeWithin = 60_000
)

// Context is where a command was refused.
type Context string

// The contexts of ACL LOG.
const (
	TopLevel Context = "toplevel"
	InMulti  Context = "multi"
	InLua    Context = "lua"
)

// Entry is an entry of ACL LOG.
type Entry struct {
	Count   int
	Reason  Reason
	Context Context
	Object  string // the command, key or channel; for BadAuth the command that logs in
	User    string
	Client  string // its line of CLIENT LIST
	At      int64  // Unix ms
}

// Log is ACL LOG. The zero value is an empty log.
type Log struct{ entries []*Entry } // the newest first

// Add adds an entry, or counts it in a recent entry that is like it. Such an entry becomes
// the newest. The log keeps max entries.
func (l *Log) Add(e Entry, max int) {
	e.Count = 1
	recent := l.entries[:min(len(l.entries), mergeAmong)]
	if i := slices.IndexFunc(recent, e.like); i >= 0 {
		e.Count += l.entries[i].Count
		l.entries = slices.Delete(l.entries, i, i+1)
	}
	l.entries = slices.Insert(l.entries, 0, &e)
	if e.Count == 1 && len(l.entries) > max {
		clear(l.entries[max:])
		l.entries = l.entries[:max]
	}
}

// like reports whether e can be counted in an older entry.
func (e *Entry) like(old *Entry) bool {
	age := max(e.At-old.At, old.At-e.At)
	return age <= mergeWithin && e.Reason == old.Reason && e.Context == old.Context &&
		e.Object == old.Object && e.User == old.User
}

// Entries returns the newest n entries, the newest first.
func (l *Log) Entries(n int64) []*Entry {
	n = min(max(n, 0), int64(len(l.entries)))
	return l.entries[:n]
}

// Reset empties the log.
func (l *Log) Reset() { l.entries = nil }
