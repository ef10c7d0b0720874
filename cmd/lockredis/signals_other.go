//go:build !unix

package main

// ignoreSignals does nothing: this system has neither SIGPIPE nor SIGHUP.
func ignoreSignals() {}
