// Package growth measures how the cost of each command grows with the size of its data,
// beside redis-server. It has only tests and benchmarks:
//
//	go test ./bench/growth -bench . -run '^$'            (the engine, in process)
//	LOCKREDIS_GROWTH=1 go test ./bench/growth -run Growth -v -timeout 60m
//
// The second command runs the same cases on redis-server and fails where lockredis grows
// clearly faster. With -update it writes docs/growth.md.
//
// A case is a few command lines that leave the data as they found it (cases_test.go). The
// commands of one name are timed: around the engine in process, by INFO commandstats in
// redis-server. So sockets, parsing, and the commands that restore the data do not count.
// In process the time covers the whole unit, with clock, checks and the encoding of the
// reply. redis-server times the handler alone.
package growth
