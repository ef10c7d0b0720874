// Package security tests the parts that protect a server: TLS, passwords, protected mode,
// the files that it writes, and what a script can reach.
//
// Most tests run the same body on lockredis and on redis-server 7.0.15, so that they also
// record what Redis does. Without redis-server they run on lockredis only.
package security
