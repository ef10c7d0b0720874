// Package soak runs cmd/lockredis, built with the race detector, as a process
// for as long as LOCKREDIS_SOAK says ("30m"), under rlock, Redisson and go-redis
// clients that check every reply, beside clients that attack it. In the end every
// counter is exact, no client was told what Redis would not have told it, no race
// was reported, and memory, threads, files and goroutines have not grown.
//
// It owns the process and the load. It never looks inside the server: attacks in
// the test's own process are compat_test/abuse's business. Only go test runs it;
// without LOCKREDIS_SOAK it is skipped. Redisson takes part where Java and Maven
// are installed.
package soak
