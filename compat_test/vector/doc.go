// Package vector runs the vector files of compat_test/testdata against a server.
//
// A vector file is a datadriven file whose directives send commands and whose expected
// results are the rendered replies; testdata/README.md describes the language. A Runner
// plays one file against one server, and Redis starts the redis-server that vectors are
// recorded from.
//
// It decides nothing about right or wrong: comparing with what the file expects, and
// rewriting the file, is the work of the test that calls it.
package vector
