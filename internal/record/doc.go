// Package record remembers which keys scripts wrote, which strings were set on condition, who
// entered locks and queues when, and who asked for a lock and was refused. Package inspect needs it: by the shape of its fields alone, a
// test's own hash would pass for a lock.
//
// A Record hears of changes as WATCH and the caches of clients do, not by the journal. So a
// command that changes nothing costs it nothing. A lock that is acquired and released again and again
// allocates nothing here.
//
//	record.go    Record: the changes of keys, and the running script
//	entering.go  Record: who came into a lock, a queue or a permit semaphore
//	parts.go     what is known of each key, and the memory of keys that are gone
//	asks.go      Record: who asked for a lock and was refused
//	show.go      Record: what an inspector sees
//	check.go     the invariants, for tests
//
// The package never imports the engine, and needs nothing of it.
package record
