// Package compat proves lockredis against the servers and clients it stands in for.
//
// It owns the vectors in testdata (recorded from redis-server, replayed against
// lockredis without any Redis), the Go tests that start the Redisson suites, and
// the small RESP client in wire that every comparison speaks through. It holds no
// code that the product runs: nothing outside compat_test imports it.
//
// The package clause says compat although the folder is compat_test, because a
// test file of a package whose name ends in _test would be taken for an external
// test of another package.
package compat
