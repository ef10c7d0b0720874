// Package engine is the one place where commands run.
//
// A unit runs alone under the engine's lock. It is one client's command with all its
// effects, a transaction, a script, a parked command that is served, or a batch of the
// timer's work. The time stands still within a unit.
//
// A connection's goroutine calls Run. Run takes the lock, pulls commands from the
// connection's Source, and runs each of them. There is no mailbox: a unit costs 1.6 µs. Only
// TIME reads the clock within a unit, so that a script can measure what it does.
//
// Every command passes the same files. It is run by a client, EXEC, a script, the test kit,
// or a key that the command has waited for.
//
//	unit.go     the doors of clients, EXEC and the kit; handler, reply, monitors, tracking
//	outside.go  units of no client: a test kit, the inspector, a clock that a test moves
//	admit.go    the checks of each door, in Redis's order; says admitted, refused, enqueued or postponed
//	call.go     statistics, the journal, the handler, a panic
//	attention.go   which rooms look at commands, and which may refuse them
//	errorstats.go  failed and rejected calls
//
// The rooms own their state. Each one implements an interface of package command:
//
//	sessions.go  the open connections          command.Clients
//	parking.go   blocking commands             command.Parking
//	pausing.go   CLIENT PAUSE                  command.Pausing
//	watching.go  WATCH                         command.Watcher
//	script.go    the running script            command.ScriptRunner
//	replies.go   replies on their way out      command.Replies
//	events.go    keyspace notifications        command.Events
//	timer.go     deadlines of leases and waits command.Deadlines
//	effects.go   changes of keys               command.Changes, store.Observer
//
// Some rooms are packages that never import the engine. Each declares an interface of what
// it needs, and a door here implements it:
//
//	faultdoor.go     internal/fault: faults for tests
//	filedoor.go      internal/persist: saves, reading files    command.Saving
//	memorydoor.go    internal/memory: maxmemory, MEMORY PURGE  command.Memory, command.Purging
//	trackingdoor.go  internal/tracking: CLIENT TRACKING        command.Tracking
//	replicationdoor.go  internal/replication: primaries, replicas  command.Replication
//
// Three packages need no door of their own: internal/journal sees each unit, each command and each
// change of a key, and internal/record remembers who wrote which lock. effects.go tells them of changes.
// internal/observing measures commands and shows them to MONITOR; call.go and unit.go tell it of them.
//
// The engine never writes to a socket. It appends to output queues, which the
// callers flush after the lock is released. The lock is in gate.go, the callers
// are in caller.go.
package engine
