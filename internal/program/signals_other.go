//go:build !unix

package program

// ignoreSignals does nothing: this system has neither SIGPIPE nor SIGHUP.
func ignoreSignals() {}

// stopSelf does nothing: this system has no upstart.
func stopSelf() {}
