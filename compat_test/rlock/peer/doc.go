// Package peer starts JVMs with unmodified Redisson and controls them with text lines. So
// a test has Java owners of locks beside its Go owners.
//
// It owns the build of the Maven project in compat_test/rlock/java, the process, and
// the protocol. It does not know servers or Go locks. The tests in compat_test/rlock
// use it if LOCKREDIS_RLOCK contains java.
package peer
