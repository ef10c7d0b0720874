// Package faults checks rlock on a faulty network and on servers that fail. It has tests
// only. The tests see rlock through the types of adapter_test.go.
//
// # Tests of single faults
//
// The files items_*_test.go have a test for each fault of rlock 0.1. Each test makes the
// situation in which rlock 0.1 failed.
//
// # Campaigns
//
// A campaign runs one kind of lock on one topology. Six processes with five workers each
// acquire a few locks: with and without a wait time, with contexts that are cancelled,
// with renewed and with fixed leases. A process is an rlock.Client with a go-redis client
// and a network of its own (package tcpproxy). The faults are drawn from a seed:
//
//   - Workers: two changes of one lease are sent at the same time, and may overtake each other.
//     Two goroutines acquire a further lock with the context of one hold. The hold may be
//     released before theirs.
//   - Network: requests and replies are delivered after go-redis's timeout, or replies are
//     lost. Connections are reset, or drop all bytes without an end. New connections are
//     refused or half open.
//   - Processes: a process is shut down while it acquires, dies, or is cut off for longer
//     than the lease. Afterwards its requests arrive.
//   - Servers: a server stops (SIGSTOP), or dies and starts empty. With Sentinel and Cluster
//     the master hands over, dies or stops, or a replica stops. One of a quorum's three
//     servers is stopped or dead. The short form makes no faults of servers.
//
// TestNoRequestTakesALockWithoutAnOwner has faults of the network only and a lease of 20 s.
// A lock that was granted without an owner, or a lost wake-up, causes a long wait there.
//
// # The checker
//
// A worker records from when until when its owner trusted a hold, by the monotonic clock of
// this process. A hold ends when its release begins, or when the owner is told that it is
// lost. The rules are:
//
//   - overlap: two owners never trust a lock at the same time, except two readers. After a
//     server lost its data, an owner is told within a third of the lease and 0.5 s.
//   - permits: owners never hold more permits than exist, and all are free at the end.
//   - free: a lock is not free with a waiter for more than the lease and 0.5 s. The time in
//     which the waiter's process is cut off, or a server does not answer, is left out. For
//     a fair lock FairWait is added for each waiter of a crashed process.
//   - order: waiters get a fair lock in the order of arrival. The rule leaves out waiters
//     that met a fault, also of a server, or waited for FairWait.
//   - token: fencing tokens increase.
//   - error: an acquisition without a time limit returns no error of a connection.
//   - call: every call returns soon after its context ends.
//   - loss: the release of a lost hold is an error.
//   - remains: at the end no key exists, except latches that expire.
//
// An orderly failover by Sentinel counts as a loss of data. Until Sentinel demotes the old
// master, it grants locks and the other replica confirms them. These locks are lost.
//
// # How to run it
//
// Plain go test runs a short form on lockredis. LOCKREDIS_FAULTS=10000 runs as many
// acquisitions of each kind on each topology that LOCKREDIS_RLOCK names, and prints a table.
// LOCKREDIS_FAULTS_SEED and LOCKREDIS_FAULTS_KINDS choose a seed and kinds. The seed repeats
// the faults and steps, not the scheduler's choices.
package faults
