// Package arch tests rules of ARCHITECTURE.md: which package may import which other
// package, and that packages below the server get time, random numbers and the
// environment as arguments. It also tests what go.mod asks of programs that import
// rlock.
package arch
