// Package journal is the one place that sees everything inside the engine: the bounds of each unit,
// each command with its reply, and each change of a key with its cause, expiry included.
//
// By default a Journal has no readers. Then the engine asks it nothing. A reader names the kinds of
// entries that it wants, and costs nothing for the others.
//
//	journal.go  Journal: entries, their causes, the readers
//	telling.go  Telling: a reader that tells of changes in command lines, for replication
//
// The package never imports the engine, and needs nothing of it: the engine says what happens.
package journal
