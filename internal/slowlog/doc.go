// Package slowlog keeps the commands that took long: the entries of SLOWLOG.
//
// An entry has a bounded size, because long command lines are cut. The package reads no clock
// and no configuration. It is a part of the server, and a Log is guarded by the engine's lock.
package slowlog
