// Package rlocksuite is the behaviour that package rlock has on every server: a
// suite of tests that is told how to reach one.
//
// It owns what rlock promises of its locks, permits, latches and rates, and what
// they leave in Redis for Redisson to read. It starts no server, does no faults
// and looks into nothing but the server's keys and channels, so it holds for a
// single server, a Sentinel set and a Cluster alike. The tests of rlock run it
// on lockredis in their process, those of compat_test/rlock on foreign servers.
//
// It is test code in ordinary files, because two packages' tests call it;
// nothing else does.
package rlocksuite
