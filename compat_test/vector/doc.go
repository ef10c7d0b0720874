// Package vector runs the vector files of compat_test/testdata against a server.
//
// A vector file is a datadriven file. Its directives send commands, and its expected
// results are the rendered replies; testdata/README.md describes the language. A Runner
// runs one file against one server.
//
// The package does not judge replies. The calling test compares them with the file, or
// rewrites the file.
package vector
