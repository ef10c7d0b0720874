// Package topology starts the servers that a lock client may use: a single
// redis-server, a Sentinel set, a Redis Cluster, Valkey, and lockredis in the test's
// process.
//
// It owns the processes, their ports and directories, and the faults: a master is
// killed, frozen, cut off from its peers, or made to hand over. Everything that a test
// starts here ends with the test. The package does not know locks. The tests in
// compat_test/rlock and the benches use it.
//
// Lockredis needs no foreign program and always runs. The variable LOCKREDIS_RLOCK, a
// list of names or "all", enables the others.
package topology
