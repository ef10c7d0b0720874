// Package soak runs cmd/lockredis, built with the race detector, as a process for as long
// as LOCKREDIS_SOAK says ("30m"). Clients with rlock, Redisson and go-redis check every
// reply, beside clients that attack the server. At the end every counter must be exact,
// every reply must be one that Redis could give, no race may be reported, and memory,
// threads, files and goroutines must not have grown.
//
// The package owns the process and the load. It never looks inside the server;
// compat_test/abuse attacks a server in the test's own process. Only go test runs it, and
// without LOCKREDIS_SOAK it is skipped. Redisson takes part where Java and Maven are
// installed.
package soak
