// Package store holds the data: databases, keys, values, deadlines.
//
// A Space is a server's numbered databases; a DB maps keys to Entries; an
// Entry has a Value (String, Hash, List, Set, ZSet), perhaps a deadline, and
// the time of its last access. Values copy what they keep. Small hashes, lists
// and sorted sets are one packed slice and small integer sets a sorted one, in
// Redis's order and up to Redis's limits. Large hashes, sets and sorted sets
// are a dict, which like the table of keys is a dense slice and a hashIndex: the
// one gives random picks, the other look-ups and scans with Redis's guarantee.
//
// The store never reads the clock (the engine sets the Space's time once per
// unit), never takes a lock (the engine's is held) and knows no client and no
// reply: of resp it takes only how an integer is read. What others must hear of
// — a changed key, an expired key, a list that came into being — goes out
// through the Space's Observer.
//
// To add a value type, write a file with a type that implements Value and has
// its zero value empty and ready, name it in value.go, give it Limits if it
// starts small, and a test that runs it beside a plain model in both encodings.
// The type says nothing of keys: what was changed is announced by the command,
// through DB.Touched. Its commands are a new group of internal/command.
//
// The package is a part of the server. Its API may change with any version.
package store
