// Package testcert makes certificates for tests: an authority, and certificates
// that it signs for servers and clients on this machine. It makes them in memory
// and writes no file. lockredistest and tests use it; a server never does.
package testcert
