// Package engine is the one place where commands run.
//
// It owns the lock that makes a command, a script or an EXEC one unit; the time
// that stands still within a unit; the checks between a command line and its
// handler; parked clients; watched keys; keyspace events; and the one timer that
// ends leases and waits at their millisecond.
//
// A connection's goroutine calls Do with its batch; under load one of them runs
// the batches of those who wait, too (gate.go). The engine never writes a socket:
// it appends to output queues, which Do flushes after the lock is released.
//
// While a script overruns busy-reply-threshold it keeps the lock, and the units
// of other connections run at its safe points (see script.go), where all but a
// few commands answer -BUSY. So there is never more than one goroutine inside.
//
// A test kit looks inside and turns the time through inspect.go; a server that
// nobody asks pays a comparison for it.
package engine
