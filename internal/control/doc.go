// Package control is how a test kit controls the server that it has started: a door beside the ports
// that the tests' clients use. A test can close every other way in, or change what it leads to, with
// requirepass, ACL rules, maxclients, CLIENT PAUSE, rename-command or a script that never ends.
//
// The door listens on the loopback interface and serves whoever knows its secret. The program prints
// both on standard output, which the process that started it reads (directive control). The door is
// invisible for clients: no statistic of connections, CLIENT LIST or MONITOR shows it.
//
// A connection speaks RESP2. Its first command is AUTH with the secret, and any other one ends it.
// Then it may send what engine.RunDirect runs: all commands that need no connection, by Redis's names
// and on database 0, and LOCK.LIST, FAULT.ADD and the like whether or not clients have them. No fault
// hits the door. It also has
//
//	CONTROL REMEMBER   remembers settings, users and libraries; the door does so when it is opened
//	CONTROL RESET      puts them back, and the clock, and ends the running script, CLIENT PAUSE
//	                   and faults. Closes connections that faults have muted
//	CONTROL FLUSH      deletes all data; the reply is that of LOCK.LEAKS ALL just before. Ends the
//	                   running script. Slots of a cluster's node that move stop moving, and it owns the
//	                   slots again that it had at its start
//	CONTROL LOAD file  replaces all data by that of an RDB file, given by its bytes; else as FLUSH.
//	                   Adds the file's libraries. An error leaves the data as it was
//	CONTROL ENDSCRIPT  ends the running script or function, even one that has written
//	CONTROL STOP       begins an outage, as if the process had been killed: connections break, and new
//	                   ones are closed at once. The door stays open. Of a cluster's node the others
//	                   learn that it has failed
//	CONTROL START      ends it. The server is empty, and settings are as CONTROL RESET leaves them. It
//	                   works without a STOP, too: a restart
//	CONTROL TURN BY ms, TO unix-time-ms or REAL
//	                   does what CLOCK.ADVANCE, CLOCK.SET or CLOCK.RESET does, at all servers of the
//	                   process together: in the order of all deadlines, see inspect.TurnTogether.
//	                   Clocks that have to go back are set back first. The reply is that of
//	                   CLOCK.ADVANCE, with the first server's time. One turn follows the other
//	CONTROL COUNTS     how many requests of each command clients have sent since the last
//	                   CONTROL REMEMBER, refused ones too: a map from the name in lower case, a
//	                   subcommand's is "client|list". Commands of scripts and those that EXEC runs
//	                   are no requests, nor are the door's. Counting costs each request a little
//	CONTROL CUT [CLIENT name] [SUBSCRIBED]
//	                   closes the connections of clients, and replies how many
//	CONTROL SILENCE [CLIENT name] [SUBSCRIBED]
//	                   sends nothing more to clients, and replies how many
//
// With several servers in the process each has a door of its own.
//
// The commands of one connection run one after the other. Those of others do not wait for them, nor
// for a command that waits, such as LOCK.AWAIT.
package control
