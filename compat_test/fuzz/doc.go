// Package fuzz holds the fuzz targets that need more than one package: command lines,
// transactions and scripts against a whole engine; and byte streams, patterns, libraries
// and directives that redis-server 7.0.15 answers too. Targets of one package are in that
// package's fuzz_test.go.
//
// Every target checks properties: replies are well-formed, the engine's invariants hold
// (Engine.Check), a transaction does the same as its commands one by one, redis-server
// gives the same answer. Plain go test runs the corpora in testdata/fuzz. .ci/fuzz fuzzes
// each target of the module for a while.
//
// The package also tests inputs that are too long for a mutation to find: random programs
// (programs_test.go), and every library function with odd arguments (library_test.go).
//
// The engine has no sockets and no goroutines, and the input advances its clock, so that
// an input always does the same. Lines of input are commands as redis-cli takes them,
// with these additions:
//
//	#17 a b      the 17th row of the command table with these arguments
//	@GET k       a second client's command
//	+1500        1.5 seconds pass
//
// Targets that compare with redis-server start one. Without redis-server they skip.
package fuzz
