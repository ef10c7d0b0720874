// Package topology starts servers for a lock client. The kinds are a single redis-server,
// a Sentinel set, a Redis Cluster, Valkey, and lockredis in the test's process.
//
// It owns the processes, their ports and directories, and the faults: it kills or freezes
// a master, cuts it off from its peers, or makes it hand over. All servers end with the
// test that starts them. The package does not know locks. The tests in compat_test/rlock
// and the benches use it.
//
// Lockredis needs no foreign program and always runs. The variable LOCKREDIS_RLOCK, a
// list of names or "all", enables the other kinds.
package topology
