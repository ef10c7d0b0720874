// Package rlocksuite is a suite of tests for the behaviour that package rlock has on
// every server. The caller passes a function that connects to a server.
//
// The suite tests the guarantees of rlock's locks, permits, latches and rates, and
// the keys that they leave in Redis for Redisson. It starts no server, makes no
// faults, and looks only at the server's keys and channels. So it passes on a single
// server, a Sentinel set and a Cluster. The tests of rlock run it on lockredis in
// their process, the tests of compat_test/rlock on other servers.
//
// It is test code in ordinary files, because the tests of two packages call it.
package rlocksuite
