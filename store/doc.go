// Package store holds the data: databases, keys, values and deadlines.
//
// A Space is the numbered databases of a server. A DB maps keys to Entries. An
// Entry has a Value (String, Hash, List, Set, ZSet, Stream), the time of its last access
// and an optional deadline. Values copy what they keep.
//
// A small hash, list or sorted set is one packed slice (Packed). A small set of
// integers is a sorted slice (Intset). Both have Redis's order and Redis's limits.
// They are converted when they grow, and never back. A lock is a hash of one field, with a
// key and a deadline. It takes 146 bytes of heap at 100,000 locks, and a test holds it under
// 152 bytes.
//
// A large hash, set or sorted set is a dict: a dense slice for random picks and a
// hashIndex for look-ups and for scans with Redis's guarantee. The table of keys is a
// hashIndex, which picks random keys itself. A Stream is packed chunks in a B+ tree
// (idTree), and so are the pending entries of its consumer groups.
//
// The store never reads the clock: the engine sets the Space's time once per unit
// (a command, a script or an EXEC). The store takes no lock: the caller holds the
// engine lock. The store knows no client and no reply; it uses resp only to read
// integers. It reports new, expired and evicted keys to the Space's Observer.
//
// To add a value type:
//   - Write a file with a type that implements Value. Its zero value is empty and
//     ready.
//   - Add its name to value.go, and to Limits if it has a small encoding.
//   - Test it beside a plain model in both encodings.
//   - Add its commands as a new package in internal/command. The type knows no keys:
//     the command tells of it after the change (command.Ctx.Change).
//
// The package is a part of the server. Its API may change with any version.
package store
