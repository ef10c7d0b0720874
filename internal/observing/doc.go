// Package observing is what a server tells of the commands that it runs: how long they take, how many
// there are in a second, and each of them to MONITOR. It changes no key and no reply.
//
//	stopwatch.go  Stopwatch: the time of units and of commands
//	measures.go   Measures: the durations of commands, for INFO, SLOWLOG and LATENCY
//	rates.go      Rates: commands and bytes in a second      command.Rates
//	monitors.go   Monitors: the clients of MONITOR           command.Monitors
//
// SLOWLOG's entries are in package slowlog, LATENCY's events in package latency, the durations of each
// command in the command table. All of it is guarded by the engine's lock.
//
// The package never imports the engine. Engine is what Monitors need of it; the others need nothing.
package observing
