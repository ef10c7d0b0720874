// Package growth measures how the cost of each command grows with the size of
// what it works on, beside redis-server. It has only tests and benchmarks:
//
//	go test ./bench/growth -bench . -run '^$'            (our engine, in process)
//	LOCKREDIS_GROWTH=1 go test ./bench/growth -run Growth -v -timeout 60m
//
// The second one runs the same cases on redis-server, fails where ours grows
// clearly faster, and with -update writes docs/growth.md.
//
// A case is a few command lines that leave the data as they found it
// (cases_test.go), of which those of one command are timed: around the engine
// in process, by INFO commandstats in redis-server. So neither sockets nor
// parsing count, nor what puts the data back. What is timed in process is the
// whole unit, with clock, checks and the encoding of the reply; redis-server
// times the handler.
package growth
