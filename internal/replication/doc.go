// Package replication is the server's place among primaries and replicas, as Redis's protocol of
// replication has it.
//
// A primary tells its replicas each change as a command line. All lines together are one stream of
// bytes. Its offset counts from the beginning of the stream, which has an id. A replica that lost its
// connection asks for the stream behind its last byte (PSYNC). The primary continues it if the backlog
// still has that byte. Else the replica gets a file of all data, and then the stream.
//
//	replication.go  Replication: the stream, its ids and offsets; one beat a second
//	backlog.go      the end of the stream
//	following.go    the server that this one follows: Follow, Lead, when to connect
//	link.go         a connection to it: the handshake
//	file.go         the file of all data that it sends
//	stream.go       its stream, applied
//	failover.go     FAILOVER, and CLUSTER FAILOVER: a replica leads, and this server follows it
//	replicas.go     the connections that follow this server: their file, their acknowledgements
//	waits.go        the clients of WAIT
//	lag.go          what a test does to links: writes that are held back, links that end
//
// Without replicas and without a backlog nothing is told, and a command does no work for it.
//
// The time of replication is the machine's, counted in beats, and not the server's clock: a test that
// turns the clock by an hour cuts no connection.
//
// The package never imports the engine: Engine is what it needs of it. The lines are made by
// internal/journal, the file by internal/persist.
package replication
