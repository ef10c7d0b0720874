// Package sentinel compares lockredis's Sentinel with redis-sentinel 7.0.15.
//
// A file of testdata is a scenario: a Sentinel monitors fake primaries and meets fake
// Sentinels, which the scenario makes silent, busy or wrong. The file holds the replies and
// events of redis-sentinel. go test plays the scenarios with lockredis's Sentinel in virtual
// time, without sockets. With LOCKREDIS_VECTORS=recheck it plays them with redis-sentinel in
// real time, with LOCKREDIS_VECTORS=record and -rewrite it records them.
//
// The tests in mixed_test.go run both kinds of Sentinel together on real servers, if
// redis-server is installed. failovers_test.go kills primaries: LOCKREDIS_FAILOVERS=50 says how often.
//
// testdata/README.md describes the language of the scenarios.
package sentinel
