// Package arch tests two rules of ARCHITECTURE.md: which package may import which
// other package, and that packages below the server get time, random numbers and
// the environment as arguments.
package arch
