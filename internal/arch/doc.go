// Package arch holds the rules of who may import whom, as a test. See
// ARCHITECTURE.md for the reasons.
package arch
