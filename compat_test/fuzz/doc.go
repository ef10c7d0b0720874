// Package fuzz holds the fuzz targets that need more than one package: command
// lines, transactions and scripts against a whole engine, and byte streams,
// patterns, libraries and directives that redis-server 7.0.15 is asked about too.
// Targets of one package stand beside it, in its fuzz_test.go.
//
// Every target checks properties: replies are well-formed, the engine agrees
// with itself (Engine.Check), a transaction does what its commands do one by
// one, redis-server answers the same. The corpora in testdata/fuzz are run by
// plain go test; .ci/fuzz fuzzes each target of the module for a while.
//
// Beside the targets stand tests of what is too long for a mutation to find:
// random programs (programs_test.go), every library function with odd arguments
// (library_test.go).
//
// The engine has no sockets and no goroutines, and its clock is turned by the
// input, so that an input always does the same. Lines of input are commands as
// redis-cli takes them, with these additions:
//
//	#17 a b      the 17th row of the command table with these arguments
//	@GET k       a second client's command
//	+1500        1.5 seconds pass
//
// Targets that compare with redis-server start one, and skip where there is none.
package fuzz
