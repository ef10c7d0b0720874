//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreSignals has the server live on, as Redis does, when a launcher closes
// the standard output that a log line goes to (SIGPIPE; the write then fails)
// and when the terminal is closed (SIGHUP).
func ignoreSignals() { signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP) }
