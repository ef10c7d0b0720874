// Package redistest starts servers for tests and benches: redis-server, its Sentinel
// and Cluster nodes, Valkey, and lockredis as a program.
//
// A server runs in a temporary directory, on a free port of the loopback or on a Unix
// socket. It is killed when its test ends, and also when the test process dies. Start
// is what most tests need. A bench has no testing.TB and uses Command. Poll waits for a state
// that a server reaches without an event.
//
// A plain go test starts no foreign program, so that it needs only Go and takes the same
// time everywhere. LOCKREDIS_CHECK=1 lets tests start them, see Asked; make check sets it.
// The package has one rule for a program that is not installed: the test skips. With
// CI=true or LOCKREDIS_CI=true the test fails. LOCKREDIS_REDIS_SERVER names the
// redis-server to use. A redis-server of another version than Version fails the tests
// that compare replies.
//
// Only tests and benches import this package.
package redistest
