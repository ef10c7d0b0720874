// Package arch holds, as tests, the rules of which package may import which, and
// of what must come as an argument. See ARCHITECTURE.md for the reasons.
package arch
