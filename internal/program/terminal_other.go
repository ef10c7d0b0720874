//go:build unix && !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package program

// inForeground returns false: this system is not asked.
func inForeground() bool { return false }
