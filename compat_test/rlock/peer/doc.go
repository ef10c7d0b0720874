// Package peer starts JVMs with unmodified Redisson and leads them line by line,
// so that a test has Java owners of locks beside its Go ones.
//
// It owns the build of the Maven project in compat_test/rlock/java, the process,
// and the words that go to it. It knows no server and no Go lock. The tests in
// compat_test/rlock call it, if LOCKREDIS_RLOCK has the word java.
package peer
