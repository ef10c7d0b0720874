// Package testcert makes certificates for tests: an authority, and what it signs
// for servers and clients of this machine. They are made when they are asked
// for and kept nowhere. lockredistest and tests call it; a server never does.
package testcert
