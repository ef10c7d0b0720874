// Package replication has redis-servers follow lockredis, and compares the two. Without redis-server
// the tests skip. compat_test/differential does the same with generated commands.
package replication
