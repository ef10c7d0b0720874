//go:build !unix

package program

// ignoreSignals does nothing: this system has neither SIGPIPE nor SIGHUP.
func ignoreSignals() {}
