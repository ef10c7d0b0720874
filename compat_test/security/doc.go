// Package security holds what protects a server: TLS, passwords, protected-mode,
// the files that it may write, and what a script can reach.
//
// Most tests run the same body on lockredis and on redis-server 7.0.15, where
// that is installed, so that they say what Redis does as well. Plain go test runs
// the lockredis part everywhere.
package security
