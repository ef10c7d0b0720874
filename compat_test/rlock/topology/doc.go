// Package topology starts the servers that a lock client meets in the field: a
// single redis-server, a Sentinel set, a Redis Cluster, Valkey, and lockredis
// itself in the test's process.
//
// It owns the processes, their ports and folders, and the faults that can be
// done to them: a master is killed, frozen, cut off from its peers, or made to
// hand over. Everything a test starts here has ended when the test has. It knows
// nothing of locks. The tests in compat_test/rlock and the benches call it.
//
// Lockredis needs nothing and always runs; the others are asked for by the
// variable LOCKREDIS_RLOCK, a list of their names or "all".
package topology
