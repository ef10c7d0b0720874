// Package tracking is client-side caching (CLIENT TRACKING).
//
// A client caches the keys that it has read. The table remembers the readers of each key.
// When a key changes, its readers get an invalidation, and the table forgets the key. A
// client in BCAST mode is not in the table. It gets the names of all changed keys under
// its prefixes, once in a unit of a caller.
//
// An invalidation for the client of the running command waits for the command's reply.
// So it is never inside a reply, such as EXEC's array.
//
//	tracker.go     Tracker: who tracks, and which reads the table remembers
//	invalidate.go  Tracker: the invalidations, and when each is sent
//	table.go       Table: the keys that clients have read. It knows clients by their ids
//	prefixes.go    Prefixes: what clients in BCAST mode asked for, and what has changed
//	check.go       the invariants, for tests
//
// The package never imports the engine: Engine is what it needs of it.
package tracking
