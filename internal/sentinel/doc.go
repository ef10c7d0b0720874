// Package sentinel makes a node of this module a Sentinel: it monitors primaries, finds the
// other Sentinels of each primary, and tells clients where the primary is.
//
// A Sentinel is a server.Server with another command table. So TLS, passwords, subscribers,
// CLIENT commands, limits and the log are the server's. Its whole state is guarded by the
// engine's lock: a command, a reply from a monitored server and a tick of the timer are each a
// unit. An event is published in the unit that decides it. A unit never waits for the network.
// Everything that goes out is queued in a conn. The timer ticks ten to twenty times a second by
// the server's clock, as redis-sentinel's does.
//
//	sentinel.go   the Sentinel, its timer, tilt mode
//	instance.go   what is known about a primary (master) and about another Sentinel (peer)
//	replica.go    what is known about a replica
//	address.go    where an instance is
//	number.go     numbers of configuration files and replies, read as C does
//	link.go       the connections to an instance, and the times of its last pings
//	conn.go       one outgoing connection and its two goroutines
//	monitor.go    PING, INFO and PUBLISH in their periods
//	info.go       what the replies to INFO mean
//	hello.go      the messages by which Sentinels find each other
//	down.go       +sdown and +odown
//	failover.go   epochs, votes and the start of a failover
//	promote.go    the steps of a failover from the choice of a replica; replicas that go astray
//	hurry.go      faster ticks while a caller of this process waits; a failover that it asks for
//	crash.go      SIMULATE-FAILURE
//	event.go      messages to subscribers and to the log
//	commands.go   the commands, with set.go, show.go and table.go
//	conf.go       the sentinel lines of a configuration file, read and written
//	script.go     why scripts are refused
//
// A failover is a state of its master that each tick advances. What a replica has become is
// read from its INFO. Nothing waits for a reply.
//
// The package's times are Unix milliseconds, and 0 means never.
package sentinel
