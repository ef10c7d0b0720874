// Package compat proves lockredis against the servers and clients that it replaces.
//
// It owns the vectors in testdata, which are recorded from redis-server and replayed
// against lockredis without any Redis, and the Go tests that start the Redisson suites.
// The product imports nothing from compat_test.
//
// The folder is compat_test, but the package is compat: in a package whose name ends in
// _test, go test would take a test file for an external test of another package.
package compat
